// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding, checking and loading plugin libraries.
#pragma once

#include "frontend/api/Block.h"
#include "passes/api/Stages.h"
#include "plugins/api/Note.h"
#include "plugins/api/Plugin.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilewright {

/// A plugin that takes part in this process.
struct LoadedPlugin {
  std::string path; ///< of the file, links resolved
  PluginNote note;
  std::vector<std::string> dialects; ///< that it registered itself, sorted
  std::vector<std::string> passes;   ///< flags, in the order registered
  /// Adds the plugin's builders of golden cases; null when it has none. Only who runs such cases calls it.
  void (*registerGolden)(tw_golden_registry *registry) = nullptr;
  /// Adds the plugin's blocks; null when it has none. Only who writes models from blocks calls it.
  void (*registerBlocks)(tw_block_registry *registry) = nullptr;
};

/// Where plugins are looked for, and which.
struct PluginSearch {
  std::vector<std::string> explicitPlugins; ///< `--plugin` FILE or NAME, in order
  std::vector<std::string> folders;         ///< searched in order; the first file of a name wins
  std::vector<std::string> without;         ///< names that are not loaded although found in a folder

  /// Folders of TILEWRIGHT_PLUGIN_PATH (colon-separated, absolute; each searched), then the install's plugin folder
  /// `../lib/tilewright/plugins` as seen from `executable`; never the current directory. Names of
  /// TILEWRIGHT_WITHOUT_PLUGINS (comma-separated) are left out.
  static llvm::Expected<PluginSearch> fromEnvironment(llvm::StringRef executable);
};

/// Loads plugins once per process; a loaded library stays loaded until the process ends.
class PluginLoader {
public:
  PluginLoader(mlir::DialectRegistry &dialects, StageRegistry &stages) : dialects(dialects), stages(stages) {}

  /// Loads the explicit plugins and everything found in the folders, required plugins first. A fault of an explicit
  /// plugin, or of one that it requires, is returned; a fault of another file in a folder is kept in `skipped()`, and
  /// the plugins that require it are skipped too. A plugin that is refused, also for an exception that it threw, leaves
  /// nothing behind in the registries.
  llvm::Error load(const PluginSearch &search);

  /// In the order loaded.
  llvm::ArrayRef<LoadedPlugin> loaded() const { return plugins; }

  /// The blocks of all loaded plugins.
  BlockRegistry blocks() const;

  /// One message for each file in a folder that was found but not loaded, and each name to leave out that none has.
  llvm::ArrayRef<std::string> skipped() const { return skippedMessages; }

private:
  /// A file whose note was read and found right.
  struct Candidate {
    std::string path;
    PluginNote note;
    bool isExplicit = false;
  };
  /// Runs the plugin's entry and registrations. What they throw is an error of the plugin.
  llvm::Error runPlugin(const Candidate &candidate);

  mlir::DialectRegistry &dialects;
  StageRegistry &stages;
  std::vector<LoadedPlugin> plugins;
  std::vector<std::string> skippedMessages;
};

} // namespace tilewright

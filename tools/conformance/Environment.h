// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plugin under test, loaded in a child process.
#pragma once

#include "passes/api/Receipts.h"
#include "tools/conformance/Isolated.h"
#include "tools/conformance/Library.h"
#include "tools/conformance/Manual.h"
#include "tools/conformance/Samples.h"
#include "tools/host/Host.h"

#include <memory>
#include <optional>

namespace tilewright::conformance {

/// What the parent knows before any code of the plugin runs.
struct Target {
  std::string path; ///< of the plugin's file, links resolved
  std::vector<std::string> plugins;
  PluginNote note;
  Library library;
  Manual manual;
  std::vector<SampleText> samples;
};

/// Everything a check works with. Made once per child; never destroyed.
struct Environment {
  const Target &target;
  Host host;
  std::unique_ptr<mlir::MLIRContext> context;
  mutable ReceiptCollector receipts; ///< of what was compiled since they were last taken
  const LoadedPlugin *plugin = nullptr;
  std::vector<std::string> ops;            ///< of the plugin's dialects, sorted
  std::vector<const SampleText *> samples; ///< whose required plugins are loaded
  std::vector<Program> programs;           ///< functions of good samples
  bool isUsable = false;                   ///< the plugin is loaded, so its ops and passes can be checked

  explicit Environment(const Target &target) : target(target) {}

  /// Loads the plugin, its required ones and those installed: findings of the plugin as a whole.
  std::vector<Finding> load();

  /// The programs that contain an op, or a type ("!dialect.type").
  std::vector<const Program *> programsOf(llvm::StringRef op) const;

private:
  Finding checkConstructors();
  Finding loadPlugin();
  Finding readSamples();
  Finding checkProvisions() const;
  Finding checkPassOrder() const;
};

/// Threads of this process.
unsigned threadCount();

/// A job whose finding fails when it leaves a thread behind.
Finding watchThreads(const std::function<Finding()> &run);

// The checks of one op; those of kernels also of one type.
Finding checkSamples(const Environment &environment, llvm::StringRef op);
Finding checkRoundTrip(const Environment &environment, llvm::StringRef op);
Finding checkBadSamples(const Environment &environment, llvm::StringRef op);
Finding checkReference(const Environment &environment, llvm::StringRef op);

/// Which shapes of the lattice.
enum class Sizes { Several, Empty, One };
Finding checkShapes(const Environment &environment, llvm::StringRef op, Sizes sizes);

Finding checkGradient(const Environment &environment, llvm::StringRef op);

Finding checkKernel(const Environment &environment, llvm::StringRef op);
Finding checkMasks(const Environment &environment, llvm::StringRef op);
Finding checkNaN(const Environment &environment, llvm::StringRef op);
Finding checkThreads(const Environment &environment, llvm::StringRef op);

// The checks of one type ("!quantization.q4_0").
Finding checkStorage(const Environment &environment, llvm::StringRef type);
/// Its kernels under fast numerics (integer products, where the type has them).
Finding checkFastKernel(const Environment &environment, llvm::StringRef type);

// The checks of one pass.
Finding checkPassEnds(const Environment &environment, const StagePass &pass);
Finding checkPassIdempotent(const Environment &environment, const StagePass &pass);
Finding checkPassResults(const Environment &environment, const StagePass &pass);
Finding checkPassChanges(const Environment &environment, const StagePass &pass);
/// Of a pass that works on kernels (stage `tile` and behind): the samples, compiled with it, against the reference.
Finding checkCompiled(const Environment &environment);

} // namespace tilewright::conformance

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every LLVM-facing tool starts with: core's dialects and passes, and the plugins.
#pragma once

#include "passes/api/Stages.h"
#include "plugins/api/Loader.h"
#include "tools/ExitCodes.h"

#include "mlir/IR/DialectRegistry.h"

namespace tilewright {

/// Registers every dialect that core's passes and backends use, and what attaches to builtin types.
void registerCoreDialects(mlir::DialectRegistry &registry);

/// Dialects, passes and plugins of one process.
struct Host {
  mlir::DialectRegistry dialects;
  StageRegistry stages;
  PluginLoader plugins{dialects, stages};
  std::vector<std::string> explicitPlugins; ///< those that were asked for

  Host();
  Host(const Host &) = delete;
  Host &operator=(const Host &) = delete;

  /// Loads `wanted` (files or names) and what is installed, but for `without`. `executable`: this program's
  /// path. Plugins found in a folder but refused are told on stderr as warnings; the error is for the explicit ones.
  llvm::Error load(llvm::StringRef executable, llvm::ArrayRef<std::string> wanted,
                   llvm::ArrayRef<std::string> without = {});

  /// Takes `--plugin X`, `--plugin=X`, `--no-plugin X` and `--no-plugin=X` out of the arguments and loads accordingly.
  /// Reports an error as `tool`'s; the exit code that the tool ends with unless it is Success.
  ExitCode load(int &argc, char **argv, llvm::StringRef tool);
};

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every compile-side command opens first: plugins, a context, a graph file and its module.
#pragma once

#include "frontend/graph/GraphFile.h"
#include "tools/driver/Diagnostics.h"
#include "tools/host/Host.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/ThreadPool.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::driver {

/// Path of this program, for what is installed beside it.
std::string executablePath();

/// Where a graph of `model`, a file or a folder, would lie beside its weights: they are found in its folder.
std::string graphPathBeside(const std::string &model);

/// Loads a .twg file, or imports a .gguf file or a folder with a config.json in memory (weights stay where they are).
/// Without `openWeights` the weights files need not be there.
llvm::Expected<GraphFile> openGraph(const std::string &path, const std::string &weightsDir, bool openWeights = true);

/// A graph with its module; reports its own errors.
class Session {
public:
  /// Loads plugins. `threads` 0: all.
  explicit Session(const std::vector<std::string> &plugins, int threads = 0);
  ~Session();

  /// The exit code of what went wrong so far; Success when nothing did.
  int status() const { return code; }

  /// Opens and translates the graph; null on failure (status() tells).
  mlir::ModuleOp open(const std::string &path, const std::string &weightsDir);

  Host &host() { return plugins; }
  mlir::MLIRContext &context() { return *mlirContext; }
  const GraphFile &graph() const { return *graphFile; }

private:
  Host plugins;
  std::unique_ptr<llvm::DefaultThreadPool> threadPool;
  std::unique_ptr<mlir::MLIRContext> mlirContext;
  std::optional<DiagnosticPrinter> printer;
  std::optional<GraphFile> graphFile;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int code = Success;
};

} // namespace tilewright::driver

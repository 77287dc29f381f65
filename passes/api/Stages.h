// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named stages of compilation and how passes hook into them. Names are never removed or reordered; new ones may be
// inserted.
#pragma once

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tilewright {

/// Stages in order: import, simplify, recognise, share, differentiate, distribute, fuse, tile, bufferize, lower, emit.
llvm::ArrayRef<llvm::StringLiteral> stageNames();

/// What passes of a compilation may ask about it.
struct PipelineOptions {
  std::string numerics = "fast";           ///< "precise" or "fast"
  std::string shapeClass = "decode";       ///< rows of the step form being compiled: "decode", "small" or "prefill"
  std::string kvType = "f32";              ///< how states of f32 are kept: "f32" or "bf16"
  std::vector<std::string> withoutKernels; ///< ops, by name, that are compiled by their reference lowering
};

/// One pass at a stage.
struct StagePass {
  std::string stage;               ///< a name of stageNames()
  std::string name;                ///< the pass's flag, for example "rotary-embedding-fold-tables"
  std::vector<std::string> before; ///< flags of passes of the same stage this one precedes; absent ones are ignored
  std::vector<std::string> after;  ///< ... follows
  std::string plugin;              ///< who registered it; empty: core
  /// Makes the pass; may return null when the options leave nothing to do.
  std::function<std::unique_ptr<mlir::Pass>(const PipelineOptions &)> make;
  std::vector<std::string> receiptKinds = {}; ///< kinds of its receipts that core does not have (passes/api/Receipts.h)
};

/// Where core and plugins register passes.
class StageRegistry {
public:
  void add(StagePass pass) {
    pass.plugin = currentPlugin;
    passes.push_back(std::move(pass));
  }
  llvm::ArrayRef<StagePass> all() const { return passes; }

  /// Name put into passes registered from now on (set by the loader).
  std::string currentPlugin;

private:
  std::vector<StagePass> passes;
};

/// The passes of `stage`, ordered by `before` and `after` and otherwise as registered. A cycle is an error that prints
/// it; so is an unknown stage.
llvm::Expected<std::vector<const StagePass *>> orderStage(const StageRegistry &registry, llvm::StringRef stage);

} // namespace tilewright

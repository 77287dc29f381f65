// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Receipts: each recognising, sharing and fusing pass says for each candidate whether it was done, or why not. They are
// MLIR remarks, so they cost nothing when nobody collects them, and `--remarks-*` of tw-opt shows them too.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tilewright {

/// One candidate of one pass.
struct Receipt {
  std::string pass;     ///< flag of the pass
  std::string plugin;   ///< who registered the pass; empty: core
  std::string kind;     ///< "attention", "norm", "feed_forward", "residual", ...
  std::string function; ///< symbol of the function around the op, "" when there is none
  std::string location; ///< printed location of the op
  bool done = false;
  std::string reason; ///< what was done, or the first condition that failed
  std::vector<std::pair<std::string, std::string>> details;
};

namespace receipt {

using Details = llvm::ArrayRef<std::pair<llvm::StringRef, std::string>>;

/// Pass `pass` did its work on `op`, a candidate of `kind`; `what` says what became of it. Call it while `op` exists.
void done(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind, const llvm::Twine &what, Details details = {});

/// Pass `pass` left the candidate `op` of `kind` as it was, because of `reason`: the first condition that failed.
void missed(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind, const llvm::Twine &reason,
            Details details = {});

} // namespace receipt

class StageRegistry;

/// Collects the receipts of one context. Lives as long as the context emits remarks.
class ReceiptCollector {
public:
  ReceiptCollector();
  ~ReceiptCollector();

  /// Installs the collector in `context` (at most one per context). `registry` tells which plugin a pass is from.
  llvm::Error install(mlir::MLIRContext &context, const StageRegistry *registry);

  std::vector<Receipt> receipts() const;

  /// [{"pass", "plugin", "kind", "function", "location", "outcome": "done" | "missed", "reason", "details": {}}, ...]
  llvm::json::Value toJson() const;

  /// Error naming each missed candidate of `kind` that no other pass did at the same place, or that no candidate of
  /// `kind` was met at all.
  llvm::Error requireFused(llvm::StringRef kind) const;

private:
  struct State;
  std::shared_ptr<State> state;
};

} // namespace tilewright

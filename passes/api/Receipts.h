// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Receipts: each recognising, sharing, fusing and tiling pass says for each candidate whether it was done, or why not
// and what to change; a backend counts the kernels for which its post-conditions held. They are MLIR remarks, so they
// cost nothing when nobody collects them, and `--remarks-*` of tw-opt shows them too. docs/receipts.md is for users.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tilewright {

class StageRegistry;

/// A kind of candidate.
struct ReceiptKind {
  llvm::StringLiteral name, meaning;
};

/// The kinds that core knows. Plugins may add theirs with the passes that they register (StagePass::receiptKinds).
llvm::ArrayRef<ReceiptKind> coreReceiptKinds();

/// Error unless `kind` is one of core's or of a pass in `registry`; it lists the known ones.
llvm::Error checkReceiptKind(llvm::StringRef kind, const StageRegistry &registry);

/// One candidate of one pass.
struct Receipt {
  std::string pass;     ///< flag of the pass
  std::string stage;    ///< stage of the pass; empty: it is not in the registry
  std::string plugin;   ///< who registered the pass; empty: core
  std::string kind;     ///< a name of coreReceiptKinds(), or a plugin's own
  std::string function; ///< symbol of the function around the op, "" when there is none
  std::string location; ///< "file:line:column" of the op; for an op of a graph file "graph:function:op"
  bool done = false;
  std::string reason;                                       ///< what was done, or the first condition that failed
  std::string advice;                                       ///< of a missed one: what to change
  std::vector<std::pair<std::string, std::string>> details; ///< the pass's own, then those of the scopes (ReceiptScope)
  std::string scope;                                        ///< the scopes' values, joined by "."
};

/// Kernels for which a post-condition of a backend held.
struct PostCondition {
  std::string pass, condition;
  std::vector<std::pair<std::string, std::string>> scope;
  uint64_t kernels = 0;
};

namespace receipt {

using Details = llvm::ArrayRef<std::pair<llvm::StringRef, std::string>>;

/// Pass `pass` did its work on `op`, a candidate of `kind`; `what` says what became of it. Call it while `op` exists.
void done(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind, const llvm::Twine &what,
          Details details = {});

/// Pass `pass` left the candidate `op` of `kind` as it was, because of `reason`: the first condition that failed.
/// `advice` tells the user what to change.
void missed(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind, const llvm::Twine &reason,
            const llvm::Twine &advice, Details details = {});

/// `pass` found that each of `conditions` holds for `kernel`.
void held(mlir::Operation *kernel, llvm::StringRef pass, llvm::ArrayRef<llvm::StringRef> conditions);

} // namespace receipt

/// Collects the receipts of one context. Lives as long as the context emits remarks.
class ReceiptCollector {
public:
  ReceiptCollector();
  ~ReceiptCollector();

  /// Installs the collector in `context` (at most one per context). `registry` tells stage and plugin of a pass.
  llvm::Error install(mlir::MLIRContext &context, const StageRegistry *registry);

  std::vector<Receipt> receipts() const;
  /// The receipts since the last call, which the collector keeps no longer.
  std::vector<Receipt> take();
  std::vector<PostCondition> postConditions() const;

  /// The receipts, then the post-conditions, as docs/receipts.md describes.
  llvm::json::Value toJson() const;

  /// Error naming each candidate of `kind` that was left, or that no candidate of `kind` was met at all. A candidate is
  /// a place; what the latest stage that met it did counts: done when one of its passes did it, in each scope of its
  /// own. `shown` is what a user is told of a Receipt::location.
  llvm::Error requireFused(llvm::StringRef kind, llvm::function_ref<std::string(llvm::StringRef)> shown) const;

private:
  friend class ReceiptScope;
  struct State;
  std::shared_ptr<State> state;
};

/// While it lives, receipts and post-conditions carry the detail `key`: `value`, for example the shape class or level
/// that is being compiled. Scopes nest.
class ReceiptScope {
public:
  ReceiptScope(ReceiptCollector &collector, llvm::StringRef key, llvm::StringRef value);
  ~ReceiptScope();
  ReceiptScope(const ReceiptScope &) = delete;
  ReceiptScope &operator=(const ReceiptScope &) = delete;

private:
  ReceiptCollector &collector;
};

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/api/Receipts.h"

#include "passes/api/Stages.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <map>
#include <mutex>

namespace tilewright {

namespace {
// Remark fields: the name is the pass's flag, the category this word, the sub-category the kind.
constexpr llvm::StringLiteral receiptCategory = "receipt";
constexpr llvm::StringLiteral reasonKey = "Reason";

llvm::StringRef functionName(mlir::Operation *op) {
  auto function = mlir::dyn_cast<mlir::FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<mlir::FunctionOpInterface>();
  return function ? function.getName() : llvm::StringRef();
}

std::string printed(mlir::Location location) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  location.print(stream);
  llvm::StringRef view(text);
  view.consume_front("loc(");
  view.consume_back(")");
  return view.str();
}

void emit(mlir::remark::detail::InFlightRemark remark, const llvm::Twine &reason, receipt::Details details) {
  if (!remark)
    return;
  remark << mlir::remark::detail::Remark::Arg(reasonKey, reason.str());
  for (const auto &[key, value] : details)
    remark << mlir::remark::detail::Remark::Arg(key, value);
}

mlir::remark::RemarkOpts options(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind) {
  return mlir::remark::RemarkOpts::name(pass).category(receiptCategory).subCategory(kind).function(functionName(op));
}
} // namespace

void receipt::done(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind, const llvm::Twine &what,
                   Details details) {
  emit(mlir::remark::passed(op->getLoc(), options(op, pass, kind)), what, details);
}

void receipt::missed(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind, const llvm::Twine &reason,
                     Details details) {
  emit(mlir::remark::missed(op->getLoc(), options(op, pass, kind)), reason, details);
}

struct ReceiptCollector::State {
  mutable std::mutex mutex; // passes may run on several functions at once
  std::vector<Receipt> receipts;
  const StageRegistry *registry = nullptr;
};

namespace {
class Streamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Streamer(std::function<void(Receipt)> sink) : sink(std::move(sink)) {}

  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    llvm::StringRef category = remark.getCombinedCategoryName();
    if (!category.consume_front(receiptCategory))
      return;
    category.consume_front(":");
    Receipt receipt;
    receipt.pass = remark.getRemarkName();
    receipt.kind = category;
    receipt.function = remark.getFunction() == "<unknown function>" ? "" : remark.getFunction();
    receipt.location = printed(remark.getLocation());
    receipt.done = remark.getRemarkType() == llvm::remarks::Type::Passed;
    for (const auto &arg : remark.getArgs()) {
      if (arg.key == reasonKey && receipt.reason.empty())
        receipt.reason = arg.val;
      else
        receipt.details.emplace_back(arg.key, arg.val);
    }
    sink(std::move(receipt));
  }

private:
  std::function<void(Receipt)> sink;
};

bool sameCandidate(const Receipt &a, const Receipt &b) {
  return a.kind == b.kind && a.function == b.function && a.location == b.location;
}
} // namespace

ReceiptCollector::ReceiptCollector() : state(std::make_shared<State>()) {}
ReceiptCollector::~ReceiptCollector() = default;

llvm::Error ReceiptCollector::install(mlir::MLIRContext &context, const StageRegistry *registry) {
  if (context.getRemarkEngine())
    return llvm::createStringError("this context already has a remark engine");
  state->registry = registry;
  auto sink = [state = state](Receipt receipt) {
    if (state->registry) {
      const auto *it = llvm::find_if(state->registry->all(), [&](const StagePass &p) { return p.name == receipt.pass; });
      if (it != state->registry->all().end())
        receipt.plugin = it->plugin;
    }
    std::lock_guard<std::mutex> lock(state->mutex);
    state->receipts.push_back(std::move(receipt));
  };
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = (receiptCategory + "(:.*)?").str();
  if (failed(mlir::remark::enableOptimizationRemarks(context, std::make_unique<Streamer>(std::move(sink)),
                                                     std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(),
                                                     categories)))
    return llvm::createStringError("cannot enable remarks in this context");
  return llvm::Error::success();
}

std::vector<Receipt> ReceiptCollector::receipts() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  // Functions may be worked on by several threads: order by function, keeping each pass's own order within one.
  std::map<std::string, std::vector<Receipt>> byFunction;
  for (const Receipt &receipt : state->receipts)
    byFunction[receipt.function].push_back(receipt);
  std::vector<Receipt> sorted;
  for (auto &[function, receipts] : byFunction)
    llvm::append_range(sorted, receipts);
  return sorted;
}

llvm::json::Value ReceiptCollector::toJson() const {
  llvm::json::Array records;
  for (const Receipt &receipt : receipts()) {
    llvm::json::Object details;
    for (const auto &[key, value] : receipt.details)
      details[key] = value;
    records.push_back(llvm::json::Object{{"pass", receipt.pass},
                                         {"plugin", receipt.plugin},
                                         {"kind", receipt.kind},
                                         {"function", receipt.function},
                                         {"location", receipt.location},
                                         {"outcome", receipt.done ? "done" : "missed"},
                                         {"reason", receipt.reason},
                                         {"details", std::move(details)}});
  }
  return records;
}

llvm::Error ReceiptCollector::requireFused(llvm::StringRef kind) const {
  std::vector<Receipt> all = receipts();
  auto isDone = [&](const Receipt &r) { return r.kind == kind && r.done; };
  std::string message;
  for (const Receipt &receipt : all) {
    if (receipt.kind != kind || receipt.done)
      continue;
    if (llvm::any_of(all, [&](const Receipt &r) { return isDone(r) && sameCandidate(r, receipt); }))
      continue;
    message += "\n  " + receipt.location + ": " + receipt.pass + ": " + receipt.reason;
  }
  if (!message.empty())
    return llvm::createStringError("--require-fused=" + kind + ": not fused:" + message);
  if (llvm::none_of(all, isDone))
    return llvm::createStringError("--require-fused=" + kind +
                                   ": no pass met a candidate of this kind (is the fusing plugin loaded?)");
  return llvm::Error::success();
}

} // namespace tilewright

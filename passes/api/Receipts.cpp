// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/api/Receipts.h"

#include "passes/api/Stages.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace tilewright {

namespace {
// Remark fields: the name is the pass's flag, the category this word, the sub-category the kind.
constexpr llvm::StringLiteral receiptCategory = "receipt";
constexpr llvm::StringLiteral postConditionKind = "post_condition";
constexpr llvm::StringLiteral reasonKey = "Reason";
constexpr llvm::StringLiteral adviceKey = "ToChange";
constexpr llvm::StringLiteral conditionKey = "Condition";

constexpr ReceiptKind kinds[] = {
    {"attention", "softmax(Q K^T) V: raised from its parts, then computed by tiles without the matrix of scores"},
    {"softmax", "exponentials over their sum: raised to one op, the form in which attention is recognised"},
    {"shared_heads", "repeated key and value heads in front of attention: read, and cached, once for each group"},
    {"norm", "a norm: computed in the sweep of a neighbour (residual sum, quantisation, linear map)"},
    {"feed_forward", "a gated activation: raised from its parts, then the epilogue of the gate's and up's linear maps"},
    {"rotary", "a rotary embedding: the epilogue of the linear map that it turns"},
    {"residual",
     "the sum of a linear map's result and what by-passed it: fused with the norm behind it, or an epilogue"},
    {"elementwise", "any other elementwise op: an epilogue, or part of a neighbour's sweep"},
    {"integer_products", "a linear map with quantised weights: multiplied as integers"},
    {"weights", "a reader of a weight: from the canonical packed layout"},
    {"reference_form", "a technique op without a kernel form: compiled by its reference lowering"},
};

llvm::StringRef functionName(mlir::Operation *op) {
  auto function = mlir::dyn_cast<mlir::FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<mlir::FunctionOpInterface>();
  return function ? function.getName() : llvm::StringRef();
}

std::string printed(mlir::Location location) {
  while (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location)) {
    if (fused.getLocations().empty())
      break;
    location = fused.getLocations().front();
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto file = mlir::dyn_cast<mlir::FileLineColLoc>(location)) {
    stream << file.getFilename().getValue() << ":" << file.getLine();
    if (file.getColumn()) // graph files have ops, no columns
      stream << ":" << file.getColumn();
    return text;
  }
  location.print(stream);
  llvm::StringRef view(text);
  view.consume_front("loc(");
  view.consume_back(")");
  return view.str();
}

mlir::remark::RemarkOpts options(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind) {
  return mlir::remark::RemarkOpts::name(pass).category(receiptCategory).subCategory(kind).function(functionName(op));
}

void add(mlir::remark::detail::InFlightRemark &remark, llvm::StringRef key, const llvm::Twine &value) {
  remark << mlir::remark::detail::Remark::Arg(key, value.str());
}

void add(mlir::remark::detail::InFlightRemark &remark, receipt::Details details) {
  for (const auto &[key, value] : details)
    add(remark, key, value);
}
} // namespace

llvm::ArrayRef<ReceiptKind> coreReceiptKinds() { return kinds; }

llvm::Error checkReceiptKind(llvm::StringRef kind, const StageRegistry &registry) {
  std::vector<std::string> known;
  for (const ReceiptKind &core : kinds)
    known.push_back(core.name.str());
  for (const StagePass &pass : registry.all())
    for (const std::string &own : pass.receiptKinds)
      if (!llvm::is_contained(known, own))
        known.push_back(own);
  if (llvm::is_contained(known, kind))
    return llvm::Error::success();
  return llvm::createStringError("unknown kind '" + kind + "' of receipts; wanted one of " + llvm::join(known, ", "));
}

void receipt::done(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind, const llvm::Twine &what,
                   Details details) {
  auto remark = mlir::remark::passed(op->getLoc(), options(op, pass, kind));
  if (!remark)
    return;
  add(remark, reasonKey, what);
  add(remark, details);
}

void receipt::missed(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef kind, const llvm::Twine &reason,
                     const llvm::Twine &advice, Details details) {
  auto remark = mlir::remark::missed(op->getLoc(), options(op, pass, kind));
  if (!remark)
    return;
  add(remark, reasonKey, reason);
  add(remark, adviceKey, advice);
  add(remark, details);
}

void receipt::held(mlir::Operation *kernel, llvm::StringRef pass, llvm::ArrayRef<llvm::StringRef> conditions) {
  auto remark = mlir::remark::analysis(kernel->getLoc(), options(kernel, pass, postConditionKind));
  if (!remark)
    return;
  for (llvm::StringRef condition : conditions)
    add(remark, conditionKey, condition);
}

struct ReceiptCollector::State {
  mutable std::mutex mutex; // passes may run on several functions at once
  std::vector<Receipt> receipts;
  std::vector<PostCondition> conditions;
  std::vector<std::pair<std::string, std::string>> scopes;
  const StageRegistry *registry = nullptr;

  void add(Receipt receipt);
  void addCondition(llvm::StringRef pass, llvm::StringRef condition);
};

void ReceiptCollector::State::add(Receipt receipt) {
  if (registry) {
    const auto *it = llvm::find_if(registry->all(), [&](const StagePass &p) { return p.name == receipt.pass; });
    if (it != registry->all().end()) {
      receipt.plugin = it->plugin;
      receipt.stage = it->stage;
    }
  }
  std::lock_guard<std::mutex> lock(mutex);
  receipt.scope = llvm::join(llvm::make_second_range(scopes), ".");
  llvm::append_range(receipt.details, scopes);
  receipts.push_back(std::move(receipt));
}

void ReceiptCollector::State::addCondition(llvm::StringRef pass, llvm::StringRef condition) {
  std::lock_guard<std::mutex> lock(mutex);
  auto same = [&](const PostCondition &c) { return c.pass == pass && c.condition == condition && c.scope == scopes; };
  auto it = llvm::find_if(conditions, same);
  if (it == conditions.end())
    it = conditions.insert(it, {pass.str(), condition.str(), scopes, 0});
  ++it->kernels;
}

namespace {
class Streamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  using ReceiptSink = std::function<void(Receipt)>;
  using ConditionSink = std::function<void(llvm::StringRef pass, llvm::StringRef condition)>;
  Streamer(ReceiptSink sink, ConditionSink conditionSink)
      : sink(std::move(sink)), conditionSink(std::move(conditionSink)) {}

  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    llvm::StringRef category = remark.getCombinedCategoryName();
    if (!category.consume_front(receiptCategory))
      return;
    category.consume_front(":");
    if (remark.getRemarkType() == llvm::remarks::Type::Analysis) {
      for (const auto &arg : remark.getArgs())
        if (arg.key == conditionKey)
          conditionSink(remark.getRemarkName(), arg.val);
      return;
    }
    Receipt receipt;
    receipt.pass = remark.getRemarkName();
    receipt.kind = category;
    receipt.function = remark.getFunction() == "<unknown function>" ? "" : remark.getFunction();
    receipt.location = printed(remark.getLocation());
    receipt.done = remark.getRemarkType() == llvm::remarks::Type::Passed;
    for (const auto &arg : remark.getArgs()) {
      if (arg.key == reasonKey)
        receipt.reason = arg.val;
      else if (arg.key == adviceKey)
        receipt.advice = arg.val;
      else
        receipt.details.emplace_back(arg.key, arg.val);
    }
    sink(std::move(receipt));
  }

private:
  ReceiptSink sink;
  ConditionSink conditionSink;
};
} // namespace

ReceiptCollector::ReceiptCollector() : state(std::make_shared<State>()) {}
ReceiptCollector::~ReceiptCollector() = default;

llvm::Error ReceiptCollector::install(mlir::MLIRContext &context, const StageRegistry *registry) {
  if (context.getRemarkEngine())
    return llvm::createStringError("this context already has a remark engine");
  state->registry = registry;
  auto streamer = std::make_unique<Streamer>(
      [state = state](Receipt receipt) { state->add(std::move(receipt)); },
      [state = state](llvm::StringRef pass, llvm::StringRef condition) { state->addCondition(pass, condition); });
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis = (receiptCategory + "(:.*)?").str();
  if (failed(mlir::remark::enableOptimizationRemarks(
          context, std::move(streamer), std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories)))
    return llvm::createStringError("cannot enable remarks in this context");
  return llvm::Error::success();
}

/// Functions may be worked on by several threads: order by function, keeping each pass's own order within one.
static std::vector<Receipt> byFunction(std::vector<Receipt> receipts) {
  std::map<std::string, std::vector<Receipt>> byName;
  for (Receipt &receipt : receipts)
    byName[receipt.function].push_back(std::move(receipt));
  receipts.clear();
  for (auto &[function, ofFunction] : byName)
    llvm::append_range(receipts, ofFunction);
  return receipts;
}

std::vector<Receipt> ReceiptCollector::receipts() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  return byFunction(state->receipts);
}

std::vector<Receipt> ReceiptCollector::take() {
  std::lock_guard<std::mutex> lock(state->mutex);
  return byFunction(std::exchange(state->receipts, {}));
}

std::vector<PostCondition> ReceiptCollector::postConditions() const {
  std::lock_guard<std::mutex> lock(state->mutex);
  std::vector<PostCondition> sorted = state->conditions;
  // Threads meet the conditions of kernels in any order.
  llvm::sort(sorted, [](const PostCondition &a, const PostCondition &b) {
    return std::tie(a.scope, a.pass, a.condition) < std::tie(b.scope, b.pass, b.condition);
  });
  return sorted;
}

llvm::json::Value ReceiptCollector::toJson() const {
  auto object = [](llvm::ArrayRef<std::pair<std::string, std::string>> pairs) {
    llvm::json::Object result;
    for (const auto &[key, value] : pairs)
      result[key] = value;
    return result;
  };
  llvm::json::Array records;
  for (const Receipt &receipt : receipts())
    records.push_back(llvm::json::Object{{"pass", receipt.pass},
                                         {"stage", receipt.stage},
                                         {"plugin", receipt.plugin},
                                         {"kind", receipt.kind},
                                         {"function", receipt.function},
                                         {"location", receipt.location},
                                         {"outcome", receipt.done ? "done" : "missed"},
                                         {"reason", receipt.reason},
                                         {"advice", receipt.advice},
                                         {"details", object(receipt.details)}});
  for (const PostCondition &condition : postConditions()) {
    llvm::json::Object details = object(condition.scope);
    details["kernels"] = std::to_string(condition.kernels);
    records.push_back(llvm::json::Object{{"pass", condition.pass},
                                         {"stage", ""},
                                         {"plugin", ""},
                                         {"kind", postConditionKind},
                                         {"function", ""},
                                         {"location", ""},
                                         {"outcome", "held"},
                                         {"reason", condition.condition},
                                         {"advice", ""},
                                         {"details", std::move(details)}});
  }
  return records;
}

llvm::Error ReceiptCollector::requireFused(llvm::StringRef kind,
                                           llvm::function_ref<std::string(llvm::StringRef)> shown) const {
  auto stageOf = [](const Receipt &receipt) {
    return receipt.stage.empty() ? -1 : llvm::find(stageNames(), receipt.stage) - stageNames().begin();
  };
  // Each place's receipts of the latest stage that met it.
  llvm::MapVector<std::pair<std::string, std::string>, std::vector<Receipt>,
                  std::map<std::pair<std::string, std::string>, unsigned>>
      places;
  for (Receipt &receipt : receipts()) {
    if (receipt.kind != kind)
      continue;
    std::vector<Receipt> &latest = places[{receipt.function, receipt.location}];
    if (!latest.empty() && stageOf(receipt) < stageOf(latest.front()))
      continue;
    if (!latest.empty() && stageOf(receipt) > stageOf(latest.front()))
      latest.clear();
    latest.push_back(std::move(receipt));
  }
  if (places.empty())
    return llvm::createStringError(
        "--require-fused=" + kind +
        ": no pass met a candidate of this kind (is the plugin that makes or fuses it loaded?)");
  std::vector<std::string> faults;
  for (auto &[place, latest] : places)
    for (const Receipt &receipt : latest) {
      bool made = llvm::any_of(latest, [&](const Receipt &r) { return r.done && r.scope == receipt.scope; });
      std::string fault = "\n  " + shown(receipt.location) + ": " + receipt.pass + ": " + receipt.reason +
                          (receipt.advice.empty() ? "" : "\n    to change: " + receipt.advice);
      if (!made && !llvm::is_contained(faults, fault)) // scopes mostly miss for the same reason
        faults.push_back(std::move(fault));
    }
  if (faults.empty())
    return llvm::Error::success();
  return llvm::createStringError("--require-fused=" + kind + ": not fused:" + llvm::join(faults, ""));
}

ReceiptScope::ReceiptScope(ReceiptCollector &collector, llvm::StringRef key, llvm::StringRef value)
    : collector(collector) {
  std::lock_guard<std::mutex> lock(collector.state->mutex);
  collector.state->scopes.emplace_back(key.str(), value.str());
}

ReceiptScope::~ReceiptScope() {
  std::lock_guard<std::mutex> lock(collector.state->mutex);
  collector.state->scopes.pop_back();
}

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An op's shape rule against its reference.
#include "ir/interfaces/Interfaces.h"
#include "ir/tw/SpecializeShapes.h"
#include "ir/tw/Tw.h"
#include "tools/conformance/Environment.h"
#include "tools/conformance/Numbers.h"

using namespace mlir;

namespace tilewright::conformance {

using reference::RunValue;
using reference::Tensor;

namespace {

std::string printed(ArrayRef<Value> values) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(values, out, [&](Value value) { out << value.getType(); });
  return text;
}

/// Types of the values that the reference lowering of the ops named `name` makes against the ops' own; what differs.
std::string loweringDifference(ModuleOp module, StringRef name) {
  OwningOpRef<ModuleOp> copy = module.clone();
  SmallVector<ReferenceLowering> ops;
  copy->walk([&](ReferenceLowering op) {
    if (op->getName().getStringRef() == name)
      ops.push_back(op);
  });
  for (ReferenceLowering op : ops) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> values = op.lowerToReference(builder);
    if (failed(values))
      return "";
    if (!llvm::equal(TypeRange(ValueRange(*values)), op->getResultTypes()))
      return "the shape rule says " + printed(llvm::to_vector_of<Value>(op->getResults())) + ", the reference makes " +
             printed(*values);
  }
  return "";
}

/// Result shapes of a function that ran against its type.
std::string shapeDifference(func::FuncOp function, ArrayRef<RunValue> results) {
  for (auto [i, result] : llvm::enumerate(results)) {
    const auto *tensor = std::get_if<Tensor>(&result);
    auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[i]);
    if (!tensor || !type)
      continue;
    bool fits = type.getRank() == tensor->rank();
    for (int64_t d = 0; fits && d < type.getRank(); ++d)
      fits = type.isDynamicDim(d) || type.getDimSize(d) == tensor->shape[d];
    if (fits)
      continue;
    std::string text = "result " + std::to_string(i) + ": the shape rule says ";
    llvm::raw_string_ostream out(text);
    out << type << ", the reference makes [";
    llvm::interleaveComma(tensor->shape, out);
    out << "]";
    return text;
  }
  return "";
}

/// The program with the static shapes of a point; null, with the refusal in `diagnostics`, where the ops do not take
/// them.
OwningOpRef<ModuleOp> instantiate(const Program &program, const Point &point) {
  OwningOpRef<ModuleOp> module = program.module().clone();
  auto function = module->lookupSymbol<func::FuncOp>(program.name());
  SmallVector<SmallVector<int64_t>> shapes;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    shapes.push_back(llvm::map_to_vector(program.argumentDims(i), [&](const DimSize &size) { return size.at(point); }));
  if (failed(tw::specializeShapes(function, shapes)))
    return nullptr;
  return module;
}

bool isAmong(const Point &point, Sizes sizes) {
  bool hasEmpty = llvm::any_of(point, [](const auto &entry) { return entry.second == 0; });
  bool hasOne = llvm::any_of(point, [](const auto &entry) { return entry.second == 1; });
  switch (sizes) {
  case Sizes::Empty:
    return hasEmpty;
  case Sizes::One:
    return hasOne && !hasEmpty;
  case Sizes::Several:
    return !hasOne && !hasEmpty;
  }
  return false;
}

} // namespace

Finding checkShapes(const Environment &environment, StringRef op, Sizes sizes) {
  unsigned tried = 0, refused = 0;
  std::string refusal;
  for (const Program *program : environment.programsOf(op)) {
    for (const Point &point : program->lattice()) {
      if (!isAmong(point, sizes))
        continue;
      std::string where = "'" + program->name() + "' with " + text(point) + ": ";
      announce(where);
      auto inputs = program->inputs(point, Fill());
      if (!inputs) {
        llvm::consumeError(inputs.takeError());
        continue;
      }
      ++tried;
      OwningOpRef<ModuleOp> module;
      if (program->hasState()) { // whose rows have no static number
        module = program->module().clone();
      } else {
        CapturedDiagnostics diagnostics(environment.context.get());
        module = instantiate(*program, point);
        if (!module) {
          ++refused;
          refusal = where + diagnostics.error("refused");
          continue;
        }
      }
      if (std::string wrong = loweringDifference(*module, op); !wrong.empty())
        return failed(where + wrong);
      auto results = interpret(*module, program->name(), *inputs);
      if (!results)
        return failed(where + "the verifier takes it, the reference fails: " + llvm::toString(results.takeError()));
      if (std::string wrong = shapeDifference(module->lookupSymbol<func::FuncOp>(program->name()), *results);
          !wrong.empty())
        return failed(where + wrong);
    }
  }
  if (tried == 0)
    return absent(environment.programsOf(op).empty() ? "no sample" : "no sample has a symbolic dimension");
  if (refused == tried && sizes == Sizes::Several)
    return failed("every shape tried is refused; the last: " + refusal);
  std::string detail = std::to_string(tried - refused) + " shapes";
  if (refused)
    detail += ", " + std::to_string(refused) + " refused by the verifier";
  return passed(detail);
}

} // namespace tilewright::conformance

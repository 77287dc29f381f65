// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/SteppedFunction.h"

#include "tools/functions/CompiledProgram.h"
#include "tools/functions/Memory.h"

using namespace mlir;

namespace tilewright {

using reference::Tensor;

/// The pools of each argument that is a state; empty for others.
struct SteppedFunction::Pools {
  SmallVector<Memories> ofArgument;
};

/// Whether the first dimension of argument `index` counts the step's rows.
static bool countsRows(func::FuncOp function, unsigned index) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
  if (type.getRank() == 0 || !type.isDynamicDim(0))
    return false;
  for (StringRef attribute : {"tw.dims", "tw.symbols"})
    if (auto dims = function.getArgAttrOfType<ArrayAttr>(index, attribute); dims && !dims.empty())
      if (auto symbol = dyn_cast<StringAttr>(dims[0]))
        return symbol.getValue() == "N";
  return true;
}

SteppedFunction::SteppedFunction(OwningOpRef<ModuleOp> module, std::string name, const StageRegistry &stages,
                                 reference::WeightProvider &weights, int64_t pages, const FunctionOptions &options)
    : module(std::move(module)), name(std::move(name)), stages(stages), weights(weights), options(options),
      pageCount(pages), pages(pages), pools(std::make_unique<Pools>()) {}

SteppedFunction::~SteppedFunction() = default;

FailureOr<std::unique_ptr<SteppedFunction>> SteppedFunction::create(ModuleOp module, StringRef name,
                                                                    const StageRegistry &stages,
                                                                    reference::WeightProvider &weights, int64_t pages,
                                                                    const FunctionOptions &options) {
  FailureOr<FunctionOptions> chosen = withLevel(module, options);
  FailureOr<func::FuncOp> found = functionToCompile(module, name);
  if (failed(chosen) || failed(found))
    return failure();
  func::FuncOp function = *found;
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    bool isNumbers =
        tensor && tensor.getElementType().isIntOrFloat() &&
        llvm::none_of(tensor.getShape().drop_front(std::min<int64_t>(1, tensor.getRank())), ShapedType::isDynamic);
    if (!isNumbers && !isa<tw::StateType>(type))
      return function.emitError("takes or returns a value of type ")
             << type << ", wanted states, and tensors of numbers with static dimensions but for the first";
  }
  FailureOr<OwningOpRef<ModuleOp>> copy = singleFunction(module, name);
  if (failed(copy))
    return failure();
  return std::unique_ptr<SteppedFunction>(
      new SteppedFunction(std::move(*copy), name.str(), stages, weights, pages, *chosen));
}

void SteppedFunction::restart() {
  pages = StatePages(pageCount);
  pools->ofArgument.clear();
}

void SteppedFunction::makePools() {
  auto function = module->lookupSymbol<func::FuncOp>(name);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    Memories &own = pools->ofArgument.emplace_back();
    auto state = dyn_cast<tw::StateType>(type);
    for (RankedTensorType buffer : state ? state.getBuffers() : ArrayRef<RankedTensorType>()) {
      const int64_t elements = pageCount * kPageTokens * reference::elementCount(buffer.getShape().drop_front());
      own.push_back(
          std::make_shared<GuardedMemory>("the state of argument " + std::to_string(i),
                                          static_cast<size_t>(elements) * elementBytes(buffer.getElementType())));
    }
  }
}

FailureOr<CompiledProgram *> SteppedFunction::programFor(const ShapeClass &shapeClass) {
  std::unique_ptr<CompiledProgram> &program = programs[shapeClass.name.str()];
  if (!program) {
    auto compiled = CompiledProgram::create(module->clone(), name, stages, options, shapeClass.name);
    if (failed(compiled))
      return failure();
    program = std::move(*compiled);
  }
  return program.get();
}

FailureOr<std::vector<Tensor>> SteppedFunction::run(ArrayRef<Tensor> inputs, ArrayRef<int64_t> rowStart) {
  auto function = module->lookupSymbol<func::FuncOp>(name);
  if (inputs.size() != function.getNumArguments())
    return function.emitOpError("was given ") << inputs.size() << " arguments, wanted " << function.getNumArguments();
  SmallVector<int64_t> added;
  for (size_t b = 0; b + 1 < rowStart.size(); ++b)
    added.push_back(rowStart[b + 1] - rowStart[b]);
  if (rowStart.empty() || rowStart.front() != 0 || llvm::any_of(added, [](int64_t rows) { return rows < 0; }))
    return function.emitOpError("row starts do not begin with 0 and rise");
  const int64_t rows = rowStart.back();
  for (auto [i, given] : llvm::enumerate(inputs)) {
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (type &&
        (given.isFloat != isa<FloatType>(type.getElementType()) || given.rank() != type.getRank() ||
         given.size() != reference::elementCount(given.shape) || (countsRows(function, i) && given.shape[0] != rows)))
      return function.emitOpError("argument ") << i << " of type " << type << " was given another kind or shape";
  }
  if (pools->ofArgument.empty())
    makePools();
  const ShapeClass &shapeClass = shapeClassOf(rows);
  FailureOr<CompiledProgram *> program = programFor(shapeClass);
  if (failed(program))
    return failure();
  std::optional<StepTables> tables = pages.step(added, shapeClass);
  if (!tables)
    return function.emitOpError("has too few pages for ") << rows << " rows more";

  SmallVector<Memories> arguments;
  for (auto [i, given] : llvm::enumerate(inputs)) {
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!type) {
      arguments.push_back(pools->ofArgument[i]);
      continue;
    }
    Tensor padded = given;
    if (countsRows(function, i) && rows > 0) {
      padded.shape[0] = tables->paddedRows();
      size_t elements = static_cast<size_t>(reference::elementCount(padded.shape));
      if (padded.isFloat)
        padded.reals.resize(elements, std::numeric_limits<double>::quiet_NaN());
      else
        padded.integers.resize(elements, 0);
    }
    Type element = type.getElementType();
    FailureOr<MemoryPtr> memory = memoryOf("argument " + std::to_string(i), padded, element);
    if ((*program)->function().getArgumentTypes()[i] != type)
      memory = packedMemory(function, element, type.getShape(), (*memory)->bytes(), std::nullopt);
    if (failed(memory))
      return failure();
    arguments.push_back({*memory});
  }
  tw_abi_step step{};
  tables->describe(step);
  FailureOr<SmallVector<Memories>> results = (*program)->run(arguments, weights, &step);
  if (failed(results))
    return failure();
  std::vector<Tensor> outputs;
  for (auto [memories, type] : llvm::zip_equal(*results, function.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      outputs.emplace_back();
      continue;
    }
    SmallVector<int64_t> shape(tensor.getShape());
    if (tensor.getRank() > 0 && tensor.isDynamicDim(0))
      shape[0] = rows;
    outputs.push_back(load(memories.front()->data(), tensor.clone(shape)));
  }
  return outputs;
}

} // namespace tilewright

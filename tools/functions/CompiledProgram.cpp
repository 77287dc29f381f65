// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/CompiledProgram.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/RowCount.h"
#include "passes/Pipelines.h"
#include "tools/functions/Memory.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace mlir;

namespace tilewright {

FailureOr<MemoryPtr> packedMemory(Operation *op, Type element, ArrayRef<int64_t> shape, ArrayRef<uint8_t> bytes,
                                  const std::optional<RowPermutation> &permutation) {
  Packer packer(cast<StorageType>(element).getLayout(), reference::elementCount(shape.drop_back()), shape.back(),
                permutation);
  if (bytes.size() != packer.sourceBytes())
    return op->emitError("has ") << bytes.size() << " bytes, wanted " << packer.sourceBytes();
  auto memory = std::make_shared<GuardedMemory>("a packed weight", packer.packedBytes());
  packer.pack({bytes.data(), bytes.size()}, 0, packer.groups(), {memory->data(), packer.packedBytes()});
  return memory;
}

MemoryPtr memoryOf(std::string name, const reference::Tensor &tensor, Type element) {
  auto memory =
      std::make_shared<GuardedMemory>(std::move(name), static_cast<size_t>(tensor.size()) * elementBytes(element));
  store(tensor, element, memory->data());
  return memory;
}

namespace {

std::optional<RowPermutation> rowPermutation(ml_program::GlobalOp global) {
  auto dims = global->getAttrOfType<DenseI64ArrayAttr>("tw.row_dims");
  auto perm = global->getAttrOfType<DenseI64ArrayAttr>("tw.row_perm");
  if (!dims || !perm)
    return std::nullopt;
  RowPermutation permutation;
  permutation.dims.assign(dims.asArrayRef().begin(), dims.asArrayRef().end());
  permutation.perm.assign(perm.asArrayRef().begin(), perm.asArrayRef().end());
  return permutation;
}

/// Numbers of a constant.
reference::Tensor numbersOf(DenseElementsAttr dense) {
  auto type = cast<RankedTensorType>(dense.getType());
  if (!isa<FloatType>(type.getElementType())) {
    auto tensor = reference::Tensor::ints(type.getShape());
    for (auto [i, v] : llvm::enumerate(dense.getValues<APInt>()))
      tensor.integers[i] = v.getBitWidth() == 1 ? v.getZExtValue() : v.getSExtValue();
    return tensor;
  }
  auto tensor = reference::Tensor::floats(type.getShape());
  for (auto [i, v] : llvm::enumerate(dense.getValues<APFloat>())) {
    APFloat wide = v;
    bool lost;
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    tensor.reals[i] = wide.convertToDouble();
  }
  return tensor;
}

/// Calls in the function's block are replaced by the bodies of their callees.
LogicalResult inlineCalls(func::FuncOp function) {
  constexpr unsigned kMostCalls = 10000;
  for (unsigned count = 0; count < kMostCalls; ++count) {
    auto calls = function.getOps<func::CallOp>();
    if (calls.empty())
      return success();
    func::CallOp call = *calls.begin();
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
      return call.emitError("calls '") << call.getCallee() << "', which has no body of one block";
    OpBuilder b(call);
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    for (Operation &inner : callee.front().without_terminator())
      b.clone(inner, mapping);
    for (auto [result, value] : llvm::zip_equal(call.getResults(), callee.front().getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
  }
  return function.emitError("makes more than ") << kMostCalls << " calls; it may call itself";
}

/// How many elements a dimension of that name has; none where it counts nothing of the step.
std::optional<int64_t> countOf(StringRef name, const tw_abi_step &step) {
  tw::RowCount rows = tw::RowCount::parse(name);
  std::optional<int64_t> base = llvm::StringSwitch<std::optional<int64_t>>(rows.base)
                                    .Case("N", step.padded_rows)
                                    .Case("rows", step.rows)
                                    .Case("T", step.tile_count)
                                    .Case("P", step.page_entries)
                                    .Default(std::nullopt);
  return base ? std::optional(*base * rows.factor) : std::nullopt;
}

/// Bytes of kernel argument `index`, a memref whose dynamic dimensions its `tw.dims` names; none where one is unknown.
std::optional<size_t> argumentBytes(func::FuncOp kernel, unsigned index, const tw_abi_step *step) {
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[index]);
  auto dims = kernel.getArgAttrOfType<ArrayAttr>(index, "tw.dims");
  size_t bytes = elementBytes(type.getElementType());
  for (auto [d, extent] : llvm::enumerate(type.getShape())) {
    std::optional<int64_t> size = extent;
    if (ShapedType::isDynamic(extent))
      size = step && dims ? countOf(cast<StringAttr>(dims[d]).getValue(), *step) : std::nullopt;
    if (!size)
      return std::nullopt;
    bytes *= static_cast<size_t>(*size);
  }
  return bytes;
}

MemoryPtr tableMemory(StringRef name, const tw_abi_step &step) {
  const ArrayRef<int32_t> numbers = name == "tiles"   ? ArrayRef(step.tiles, 8 * step.tile_count)
                                    : name == "pages" ? ArrayRef(step.pages, step.page_entries)
                                                      : ArrayRef(step.row_slots, 2 * step.padded_rows);
  auto memory = std::make_shared<GuardedMemory>("table '" + name.str() + "'", numbers.size() * sizeof(int32_t));
  llvm::copy(numbers, reinterpret_cast<int32_t *>(memory->data()));
  return memory;
}

} // namespace

FailureOr<FunctionOptions> withLevel(ModuleOp module, const FunctionOptions &options) {
  FunctionOptions chosen = options;
  SmallVector<const CpuLevel *> levels = hostCpuLevels();
  if (!chosen.level && levels.empty())
    return module.emitError("this CPU lacks the features of every level that code is generated for");
  if (!chosen.level)
    chosen.level = levels.back();
  return chosen;
}

FailureOr<func::FuncOp> functionToCompile(ModuleOp module, StringRef name) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function || function.isExternal() || !function.getBody().hasOneBlock())
    return module.emitError("there is no function '") << name << "' of one block to compile";
  return function;
}

FailureOr<OwningOpRef<ModuleOp>> singleFunction(ModuleOp module, StringRef name) {
  OwningOpRef<ModuleOp> copy = module.clone();
  auto own = copy->lookupSymbol<func::FuncOp>(name);
  if (failed(inlineCalls(own)))
    return failure();
  for (auto other : llvm::make_early_inc_range(copy->getOps<func::FuncOp>()))
    if (other != own)
      other.erase();
  return copy;
}

FailureOr<std::unique_ptr<CompiledProgram>> CompiledProgram::create(OwningOpRef<ModuleOp> module, StringRef name,
                                                                    const StageRegistry &stages,
                                                                    const FunctionOptions &options,
                                                                    StringRef shapeClass) {
  auto program = std::make_unique<CompiledProgram>();
  program->owner = std::move(module);
  program->threads = options.threads;
  ModuleOp own = *program->owner;
  PipelineOptions pipeline;
  pipeline.numerics = options.numerics;
  pipeline.withoutKernels = options.withoutKernels;
  pipeline.shapeClass = shapeClass.str();
  PassManager passes(own.getContext());
  if (llvm::Error error = buildStages(passes, stages, pipeline, options.firstStage, "tile"))
    return own.emitError(llvm::toString(std::move(error)));
  if (failed(passes.run(own)))
    return failure();
  program->entry = own.lookupSymbol<func::FuncOp>(name);
  KernelStages behind;
  behind.extend = [&](StringRef stage, OpPassManager &passes) {
    return buildStages(passes, stages, pipeline, stage, stage);
  };
  FailureOr<std::unique_ptr<KernelLibrary>> kernels = KernelLibrary::compile(own, *options.level, behind);
  if (failed(kernels))
    return failure();
  program->kernels = std::move(*kernels);
  return program;
}

FailureOr<MemoryPtr> CompiledProgram::global(ml_program::GlobalLoadConstOp load, reference::WeightProvider &weights) {
  MemoryPtr &memory = globals[load.getGlobal().getLeafReference()];
  if (memory)
    return memory;
  auto global = SymbolTable::lookupNearestSymbolFrom<ml_program::GlobalOp>(load, load.getGlobalAttr());
  auto packedElement = global->getAttrOfType<TypeAttr>("tw.element");
  auto inlined = dyn_cast_or_null<DenseElementsAttr>(global.getValueAttr());
  llvm::Expected<ArrayRef<uint8_t>> bytes = ArrayRef<uint8_t>();
  MemoryPtr held;
  if (inlined) {
    held = memoryOf("a constant", numbersOf(inlined), inlined.getElementType());
    bytes = held->bytes();
  } else {
    bytes = weights.bytes(global);
    if (!bytes)
      return load.emitError(llvm::toString(bytes.takeError()));
  }
  if (packedElement) {
    auto shape = cast<DenseI64ArrayAttr>(global->getAttr("tw.shape")).asArrayRef();
    FailureOr<MemoryPtr> done = packedMemory(global, packedElement.getValue(), shape, *bytes, rowPermutation(global));
    if (failed(done))
      return failure();
    return memory = *done;
  }
  if (held)
    return memory = held;
  llvm::Expected<reference::Weight> weight = reference::Weight::make(global, *bytes);
  if (!weight)
    return load.emitError(llvm::toString(weight.takeError()));
  auto type = cast<RankedTensorType>(global.getType());
  std::vector<float> decoded(reference::elementCount(type.getShape()));
  weight->decode(decoded.data());
  reference::Tensor tensor = reference::Tensor::floats(type.getShape());
  tensor.reals.assign(decoded.begin(), decoded.end());
  return memory = memoryOf("weight '" + global.getSymName().str() + "'", tensor, type.getElementType());
}

FailureOr<SmallVector<Memories>> CompiledProgram::dispatch(tw::DispatchOp op, ArrayRef<Memories> operands,
                                                           const tw_abi_step *step) {
  auto kernel = owner->lookupSymbol<func::FuncOp>(op.getKernel());
  SmallVector<Memories> results(op->getNumResults());
  std::vector<MemoryPtr> used;
  std::vector<void *> slots;
  for (unsigned i = 0; i + 2 < kernel.getNumArguments(); ++i) {
    auto symbol = kernel.getArgAttrOfType<StringAttr>(i, "tw.symbol");
    auto source = kernel.getArgAttrOfType<ArrayAttr>(i, "tw.source");
    StringRef kind = source ? cast<StringAttr>(source[0]).getValue() : "";
    auto number = [&](unsigned at) { return static_cast<size_t>(cast<IntegerAttr>(source[at]).getInt()); };
    std::optional<int64_t> count = symbol && step ? countOf(symbol.getValue(), *step) : std::nullopt;
    if (count) {
      slots.push_back(reinterpret_cast<void *>(*count));
      continue;
    }
    MemoryPtr memory;
    if (kind == "operand") {
      memory = operands[number(1)].front();
    } else if (kind == "result") {
      if (std::optional<size_t> bytes = argumentBytes(kernel, i, step))
        memory = std::make_shared<GuardedMemory>(
            "result " + std::to_string(number(1)) + " of kernel '" + op.getKernel().str() + "'", *bytes);
      results[number(1)] = {memory};
    } else if (kind == "state" && step) {
      memory = operands[number(1)][number(2)];
    } else if (kind == "table" && step) {
      memory = tableMemory(cast<StringAttr>(source[1]).getValue(), *step);
    }
    if (!memory)
      return op.emitError("kernel '") << op.getKernel() << "' works on a step of a model, not on a "
                                      << (step ? "function over states" : "plain function");
    slots.push_back(memory->data());
    used.push_back(std::move(memory));
  }
  // A state goes on in its pools.
  const auto isState = [](Value value) { return isa<tw::StateType>(value.getType()); };
  for (OpResult result : op->getResults())
    if (isState(result))
      results[result.getResultNumber()] =
          operands[llvm::find_if(op->getOperands(), isState) - op->getOperands().begin()];

  tw_abi_kernel code = kernels->find(op.getKernel());
  Builder b(op.getContext());
  SmallVector<Attribute> counts, folded;
  for (StringRef name : {"N", "rows", "T", "R"})
    counts.push_back(b.getIndexAttr(step ? countOf(name, *step).value_or(0) : 0));
  if (!code || failed(op.getChunks().constantFold(counts, folded)))
    return op.emitError("has no entry for kernel '") << op.getKernel() << "'";
  auto begin = std::chrono::steady_clock::now();
  runChunks(code, slots, cast<IntegerAttr>(folded[0]).getInt());
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const MemoryPtr &memory : used)
    if (!memory->intact())
      return op.emitError("kernel '") << op.getKernel() << "' wrote outside of its results";
  return results;
}

void CompiledProgram::runChunks(tw_abi_kernel kernel, ArrayRef<void *> slots, int64_t chunks) const {
  auto *arguments = const_cast<void **>(slots.data()); // as the interface has it; kernels only read them
  if (threads <= 1) {
    if (chunks > 0)
      kernel(arguments, 0, chunks);
    return;
  }
  std::atomic<int64_t> next = 0;
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i)
    workers.emplace_back([&] {
      for (int64_t chunk = next++; chunk < chunks; chunk = next++)
        kernel(arguments, chunk, chunk + 1);
    });
  for (std::thread &worker : workers)
    worker.join();
}

FailureOr<SmallVector<Memories>> CompiledProgram::run(ArrayRef<Memories> arguments, reference::WeightProvider &weights,
                                                      const tw_abi_step *step) {
  seconds = 0;
  llvm::DenseMap<Value, Memories> values;
  for (auto [value, memories] : llvm::zip_equal(entry.getArguments(), arguments))
    values[value] = memories;
  auto lookup = [&](ValueRange range) {
    return llvm::map_to_vector(range, [&](Value value) { return values.lookup(value); });
  };
  for (Operation &op : entry.front().without_terminator()) {
    SmallVector<Memories> operands = lookup(op.getOperands()), results;
    if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op)) {
      FailureOr<MemoryPtr> memory = global(load, weights);
      if (failed(memory))
        return failure();
      results = {Memories{*memory}};
    } else if (auto constant = dyn_cast<tw::ConstantOp>(op)) {
      results = {Memories{memoryOf("a constant", numbersOf(cast<DenseElementsAttr>(constant.getValue())),
                                   constant.getType().getElementType())}};
    } else if (isa<tw::ReshapeOp>(op)) {
      results = {operands[0]};
    } else if (auto dispatched = dyn_cast<tw::DispatchOp>(op)) {
      FailureOr<SmallVector<Memories>> done = dispatch(dispatched, operands, step);
      if (failed(done))
        return failure();
      results = std::move(*done);
    } else {
      return op.emitOpError("stands in a program, which holds dispatches and views only");
    }
    for (auto [value, memories] : llvm::zip_equal(op.getResults(), results))
      values[value] = memories;
  }
  return lookup(entry.front().getTerminator()->getOperands());
}

} // namespace tilewright

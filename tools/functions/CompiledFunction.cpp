// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/CompiledFunction.h"

#include "ir/interfaces/Decompose.h"
#include "ir/tw/SpecializeShapes.h"
#include "ir/tw/Tw.h"
#include "passes/Pipelines.h"
#include "runtime/module/Packer.h"
#include "tools/functions/GuardedMemory.h"
#include "tools/functions/KernelLibrary.h"
#include "tools/functions/Memory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

#include <atomic>
#include <thread>

using namespace mlir;

namespace tilewright {

using MemoryPtr = std::shared_ptr<GuardedMemory>;

namespace {

/// A weight in its packed layout, from its bytes [rows, columns] in the storage type's own format.
FailureOr<MemoryPtr> packed(Operation *op, Type element, ArrayRef<int64_t> shape, ArrayRef<uint8_t> bytes,
                            const std::optional<RowPermutation> &permutation) {
  Packer packer(cast<StorageType>(element).getLayout(), shape[0], shape[1], permutation);
  if (bytes.size() != packer.sourceBytes())
    return op->emitError("has ") << bytes.size() << " bytes, wanted " << packer.sourceBytes();
  auto memory = std::make_shared<GuardedMemory>("a packed weight", packer.packedBytes());
  packer.pack({bytes.data(), bytes.size()}, 0, packer.groups(), {memory->data(), packer.packedBytes()});
  return memory;
}

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

/// An argument whose numbers are indices into a table.
struct TableIds {
  unsigned argument;
  int64_t rows;
};

/// The tables of the function's gathers whose ids are an argument, also one that was moved or repeated. Ops that take
/// integers are decomposed before, in a copy, for gathers may be inside.
FailureOr<SmallVector<TableIds>> tableIds(ModuleOp module, StringRef name) {
  OwningOpRef<ModuleOp> copy = module.clone();
  auto function = copy->lookupSymbol<func::FuncOp>(name);
  auto takesIds = [](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), [](Type type) { return getElementTypeOrSelf(type).isInteger(32); });
  };
  for (bool changed = true; changed;) {
    SmallVector<ReferenceLowering> ops;
    function.walk([&](ReferenceLowering op) {
      if (takesIds(op))
        ops.push_back(op);
    });
    changed = !ops.empty();
    for (ReferenceLowering op : ops)
      if (failed(decompose(op)))
        return failure();
  }
  SmallVector<TableIds> found;
  function.walk([&](tw::GatherOp gather) {
    Value ids = gather.getIds();
    while (isa_and_present<tw::ReshapeOp, tw::TransposeOp, tw::BroadcastOp>(ids.getDefiningOp()))
      ids = ids.getDefiningOp()->getOperand(0);
    if (auto argument = dyn_cast<BlockArgument>(ids))
      found.push_back({argument.getArgNumber(), gather.getTable().getType().getDimSize(gather.getBatchDims())});
  });
  return found;
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

MemoryPtr memoryOf(std::string name, const reference::Tensor &tensor, Type element) {
  auto memory =
      std::make_shared<GuardedMemory>(std::move(name), static_cast<size_t>(tensor.size()) * elementBytes(element));
  store(tensor, element, memory->data());
  return memory;
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

} // namespace

/// The function for one combination of shapes.
struct CompiledFunction::Program {
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::unique_ptr<KernelLibrary> kernels;
  SmallVector<RankedTensorType> arguments, results; ///< as the caller sees them
  SmallVector<TableIds> tableIds;
  llvm::StringMap<MemoryPtr> globals;

  FailureOr<MemoryPtr> global(ml_program::GlobalLoadConstOp load, reference::WeightProvider &weights);
  FailureOr<std::vector<MemoryPtr>> dispatch(tw::DispatchOp op, ArrayRef<MemoryPtr> operands, unsigned threads);
};

FailureOr<MemoryPtr> CompiledFunction::Program::global(ml_program::GlobalLoadConstOp load,
                                                       reference::WeightProvider &weights) {
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
    FailureOr<MemoryPtr> done = packed(global, packedElement.getValue(), shape, *bytes, rowPermutation(global));
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

FailureOr<std::vector<MemoryPtr>> CompiledFunction::Program::dispatch(tw::DispatchOp op, ArrayRef<MemoryPtr> operands,
                                                                      unsigned threads) {
  auto kernel = module->lookupSymbol<func::FuncOp>(op.getKernel());
  std::vector<MemoryPtr> results(op->getNumResults());
  std::vector<void *> slots;
  for (unsigned i = 0; i + 2 < kernel.getNumArguments(); ++i) {
    auto source = kernel.getArgAttrOfType<ArrayAttr>(i, "tw.source");
    StringRef kind = source ? cast<StringAttr>(source[0]).getValue() : "";
    if (kind != "operand" && kind != "result")
      return op.emitError("kernel '") << op.getKernel() << "' works on a step of a model, not on a plain function";
    int64_t number = cast<IntegerAttr>(source[1]).getInt();
    if (kind == "result") {
      auto type = cast<MemRefType>(kernel.getArgumentTypes()[i]);
      results[number] = std::make_shared<GuardedMemory>(
          "result " + std::to_string(number) + " of kernel '" + op.getKernel().str() + "'",
          static_cast<size_t>(type.getNumElements()) * elementBytes(type.getElementType()));
    }
    slots.push_back((kind == "operand" ? operands[number] : results[number])->data());
  }
  tw_abi_kernel entry = kernels->find(op.getKernel());
  SmallVector<Attribute> counts(4, IntegerAttr::get(IndexType::get(op.getContext()), 0)), folded;
  if (!entry || failed(op.getChunks().constantFold(counts, folded)))
    return op.emitError("has no entry for kernel '") << op.getKernel() << "'";
  int64_t chunks = cast<IntegerAttr>(folded[0]).getInt();
  if (threads <= 1) {
    if (chunks > 0)
      entry(slots.data(), 0, chunks);
  } else {
    std::atomic<int64_t> next = 0;
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; ++i)
      workers.emplace_back([&] {
        for (int64_t chunk = next++; chunk < chunks; chunk = next++)
          entry(slots.data(), chunk, chunk + 1);
      });
    for (std::thread &worker : workers)
      worker.join();
  }
  for (const MemoryPtr &memory : llvm::concat<const MemoryPtr>(operands, results))
    if (!memory->intact())
      return op.emitError("kernel '") << op.getKernel() << "' wrote outside of its results";
  return results;
}

CompiledFunction::CompiledFunction(OwningOpRef<ModuleOp> module, std::string name, const StageRegistry &stages,
                                   reference::WeightProvider &weights, const FunctionOptions &options)
    : module(std::move(module)), name(std::move(name)), stages(stages), weights(weights), options(options) {}

CompiledFunction::~CompiledFunction() = default;

FailureOr<std::unique_ptr<CompiledFunction>> CompiledFunction::create(ModuleOp module, StringRef name,
                                                                      const StageRegistry &stages,
                                                                      reference::WeightProvider &weights,
                                                                      const FunctionOptions &options) {
  FunctionOptions chosen = options;
  if (!chosen.level) {
    SmallVector<const CpuLevel *> levels = hostCpuLevels();
    if (levels.empty())
      return module.emitError("this CPU lacks the features of every level that code is generated for");
    chosen.level = levels.back();
  }
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function || function.isExternal() || !function.getBody().hasOneBlock())
    return module.emitError("there is no function '") << name << "' of one block to compile";
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.getElementType().isIntOrFloat())
      return function.emitError("takes or returns a value of type ")
             << type << ", wanted tensors of numbers: it is no plain function";
  }
  OwningOpRef<ModuleOp> copy = module.clone();
  auto own = copy->lookupSymbol<func::FuncOp>(name);
  if (failed(inlineCalls(own)))
    return failure();
  for (auto other : llvm::make_early_inc_range(copy->getOps<func::FuncOp>()))
    if (other != own)
      other.erase();
  std::unique_ptr<CompiledFunction> compiled(
      new CompiledFunction(std::move(copy), name.str(), stages, weights, chosen));
  SmallVector<SmallVector<int64_t>> shapes;
  bool isStatic = true;
  for (Type type : own.getArgumentTypes()) {
    isStatic &= cast<RankedTensorType>(type).hasStaticShape();
    shapes.emplace_back(cast<RankedTensorType>(type).getShape());
  }
  if (isStatic && failed(compiled->programFor(shapes)))
    return failure();
  return compiled;
}

FailureOr<CompiledFunction::Program *> CompiledFunction::programFor(ArrayRef<SmallVector<int64_t>> shapes) {
  std::vector<int64_t> key;
  for (const SmallVector<int64_t> &shape : shapes) {
    key.push_back(static_cast<int64_t>(shape.size()));
    key.insert(key.end(), shape.begin(), shape.end());
  }
  if (auto found = programs.find(key); found != programs.end())
    return last = found->second.get();

  auto program = std::make_unique<Program>();
  program->module = module->clone();
  program->function = program->module->lookupSymbol<func::FuncOp>(name);
  if (failed(tw::specializeShapes(program->function, shapes)))
    return failure();
  FailureOr<SmallVector<TableIds>> ids = tableIds(*program->module, name);
  if (failed(ids))
    return failure();
  program->tableIds = std::move(*ids);
  for (Type type : program->function.getArgumentTypes())
    program->arguments.push_back(cast<RankedTensorType>(type));
  for (Type type : program->function.getResultTypes())
    program->results.push_back(cast<RankedTensorType>(type));

  PipelineOptions pipeline;
  pipeline.numerics = options.numerics;
  pipeline.withoutKernels = options.withoutKernels;
  PassManager passes(module->getContext());
  if (llvm::Error error = buildStages(passes, stages, pipeline, options.firstStage, "tile"))
    return module->emitError(llvm::toString(std::move(error)));
  if (failed(passes.run(*program->module)))
    return failure();
  program->function = program->module->lookupSymbol<func::FuncOp>(name);
  KernelStages behind;
  behind.extend = [&](StringRef stage, OpPassManager &passes) {
    return buildStages(passes, stages, pipeline, stage, stage);
  };
  FailureOr<std::unique_ptr<KernelLibrary>> kernels = KernelLibrary::compile(*program->module, *options.level, behind);
  if (failed(kernels))
    return failure();
  program->kernels = std::move(*kernels);
  last = program.get();
  programs[key] = std::move(program);
  return last;
}

ModuleOp CompiledFunction::program() const { return last ? *last->module : ModuleOp(); }

FailureOr<std::vector<reference::Tensor>> CompiledFunction::run(ArrayRef<reference::Tensor> inputs) {
  auto declared = module->lookupSymbol<func::FuncOp>(name);
  if (inputs.size() != declared.getNumArguments())
    return declared.emitOpError("was given ") << inputs.size() << " arguments, wanted " << declared.getNumArguments();
  SmallVector<SmallVector<int64_t>> shapes;
  for (auto [i, given] : llvm::enumerate(inputs)) {
    auto type = cast<RankedTensorType>(declared.getArgumentTypes()[i]);
    if (given.isFloat != isa<FloatType>(type.getElementType()) || given.size() != reference::elementCount(given.shape))
      return declared.emitOpError("argument ") << i << " of type " << type << " was given "
                                               << (given.isFloat ? "floats" : "integers") << ", or too few of them";
    shapes.emplace_back(given.shape.begin(), given.shape.end());
  }
  FailureOr<Program *> found = programFor(shapes);
  if (failed(found))
    return failure();
  Program &program = **found;
  for (auto [argument, rows] : program.tableIds)
    for (int64_t id : inputs[argument].integers)
      if (id < 0 || id >= rows)
        return declared.emitOpError("argument ") << argument << " has the index " << id << " into a table of " << rows << " rows";

  llvm::DenseMap<Value, MemoryPtr> values;
  for (auto [i, argument] : llvm::enumerate(program.function.getArguments())) {
    RankedTensorType type = program.arguments[i];
    MemoryPtr memory = memoryOf("argument " + std::to_string(i), inputs[i], type.getElementType());
    // A weight that the program reads in its packed layout.
    if (argument.getType() != type) {
      FailureOr<MemoryPtr> done =
          packed(program.function, type.getElementType(), type.getShape(), memory->bytes(), std::nullopt);
      if (failed(done))
        return failure();
      memory = *done;
    }
    values[argument] = memory;
  }
  auto lookup = [&](ValueRange range) {
    return llvm::map_to_vector(range, [&](Value value) { return values.lookup(value); });
  };
  for (Operation &op : program.function.front().without_terminator()) {
    SmallVector<MemoryPtr> operands = lookup(op.getOperands());
    std::vector<MemoryPtr> results;
    if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op)) {
      FailureOr<MemoryPtr> memory = program.global(load, weights);
      if (failed(memory))
        return failure();
      results = {*memory};
    } else if (auto constant = dyn_cast<tw::ConstantOp>(op)) {
      results = {memoryOf("a constant", numbersOf(cast<DenseElementsAttr>(constant.getValue())),
                          constant.getType().getElementType())};
    } else if (isa<tw::ReshapeOp>(op)) {
      results = {operands[0]};
    } else if (auto dispatched = dyn_cast<tw::DispatchOp>(op)) {
      FailureOr<std::vector<MemoryPtr>> done = program.dispatch(dispatched, operands, options.threads);
      if (failed(done))
        return failure();
      results = std::move(*done);
    } else {
      return op.emitOpError("stands in a program, which holds dispatches and views only");
    }
    for (auto [value, memory] : llvm::zip_equal(op.getResults(), results))
      values[value] = memory;
  }
  std::vector<reference::Tensor> outputs;
  for (auto [value, type] : llvm::zip_equal(program.function.front().getTerminator()->getOperands(), program.results))
    outputs.push_back(load(values.lookup(value)->data(), type));
  return outputs;
}

} // namespace tilewright

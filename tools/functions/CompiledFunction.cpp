// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/CompiledFunction.h"

#include "ir/tw/SpecializeShapes.h"
#include "tools/functions/CompiledProgram.h"
#include "tools/functions/IndexCheck.h"
#include "tools/functions/Memory.h"

using namespace mlir;

namespace tilewright {

/// The function for one combination of shapes.
struct CompiledFunction::Program {
  std::unique_ptr<CompiledProgram> compiled;
  SmallVector<RankedTensorType> arguments, results; ///< as the caller sees them
  std::unique_ptr<IndexCheck> indices;
};

CompiledFunction::CompiledFunction(OwningOpRef<ModuleOp> module, std::string name, const StageRegistry &stages,
                                   reference::WeightProvider &weights, const FunctionOptions &options)
    : module(std::move(module)), name(std::move(name)), stages(stages), weights(weights), options(options) {}

CompiledFunction::~CompiledFunction() = default;

FailureOr<std::unique_ptr<CompiledFunction>> CompiledFunction::create(ModuleOp module, StringRef name,
                                                                      const StageRegistry &stages,
                                                                      reference::WeightProvider &weights,
                                                                      const FunctionOptions &options) {
  FailureOr<FunctionOptions> chosen = withLevel(module, options);
  FailureOr<func::FuncOp> found = functionToCompile(module, name);
  if (failed(chosen) || failed(found))
    return failure();
  func::FuncOp function = *found;
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.getElementType().isIntOrFloat())
      return function.emitError("takes or returns a value of type ")
             << type << ", wanted tensors of numbers: it is no plain function";
  }
  FailureOr<OwningOpRef<ModuleOp>> copy = singleFunction(module, name);
  if (failed(copy))
    return failure();
  auto own = (*copy)->lookupSymbol<func::FuncOp>(name);
  std::unique_ptr<CompiledFunction> compiled(
      new CompiledFunction(std::move(*copy), name.str(), stages, weights, *chosen));
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
  OwningOpRef<ModuleOp> own = module->clone();
  auto function = own->lookupSymbol<func::FuncOp>(name);
  if (failed(tw::specializeShapes(function, shapes)))
    return failure();
  FailureOr<std::unique_ptr<IndexCheck>> indices = IndexCheck::create(*own, name);
  if (failed(indices))
    return failure();
  program->indices = std::move(*indices);
  for (Type type : function.getArgumentTypes())
    program->arguments.push_back(cast<RankedTensorType>(type));
  for (Type type : function.getResultTypes())
    program->results.push_back(cast<RankedTensorType>(type));

  auto compiled = CompiledProgram::create(std::move(own), name, stages, options, PipelineOptions().shapeClass);
  if (failed(compiled))
    return failure();
  program->compiled = std::move(*compiled);
  last = program.get();
  programs[key] = std::move(program);
  return last;
}

double CompiledFunction::kernelSeconds() const { return last ? last->compiled->kernelSeconds() : 0; }

ModuleOp CompiledFunction::program() const { return last ? last->compiled->module() : ModuleOp(); }

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
  if (failed(program.indices->run(inputs)))
    return failure();

  SmallVector<Memories> arguments;
  func::FuncOp function = program.compiled->function();
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    RankedTensorType type = program.arguments[i];
    FailureOr<MemoryPtr> memory = memoryOf("argument " + std::to_string(i), inputs[i], type.getElementType());
    // A weight that the program reads in its packed layout.
    if (argument.getType() != type)
      memory = packedMemory(function, type.getElementType(), type.getShape(), (*memory)->bytes(), std::nullopt);
    if (failed(memory))
      return failure();
    arguments.push_back({*memory});
  }
  FailureOr<SmallVector<Memories>> results = program.compiled->run(arguments, weights);
  if (failed(results))
    return failure();
  std::vector<reference::Tensor> outputs;
  for (auto [memories, type] : llvm::zip_equal(*results, program.results))
    outputs.push_back(load(memories.front()->data(), type));
  return outputs;
}

} // namespace tilewright

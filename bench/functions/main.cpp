// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench_functions FILE --sizes 128,256,512: times each function of a file of MLIR, compiled for the CPU, with every
// dynamic dimension of its arguments at each of the sizes. Arguments are small random numbers. A row is a size:
// milliseconds in kernels, the shortest of some calls, and in brackets the growth since the size before; with --memory
// kilobytes of values between kernels, as a model's arena would hold them. A function with the attribute
// bench.as_written is compiled without the passes that recognise and fuse.
#include "passes/api/ProgramPlan.h"
#include "tools/ExitCodes.h"
#include "tools/functions/CompiledFunction.h"
#include "tools/host/Host.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

#include <chrono>
#include <random>

using namespace tilewright;
using Clock = std::chrono::steady_clock;

namespace {

llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::Required, llvm::cl::desc("FILE"));
llvm::cl::list<int64_t> sizes("sizes", llvm::cl::CommaSeparated, llvm::cl::desc("Sizes of dynamic dimensions"));
llvm::cl::opt<unsigned> threads("jobs", llvm::cl::desc("Threads that share a kernel's chunks"), llvm::cl::init(1));

llvm::cl::opt<bool> memory("memory", llvm::cl::desc("Kilobytes between kernels instead of milliseconds"));

/// Arguments of `function`, dynamic dimensions of size `size`.
std::vector<reference::Tensor> argumentsOf(mlir::func::FuncOp function, int64_t size) {
  std::mt19937 random(1);
  std::vector<reference::Tensor> arguments;
  for (mlir::Type type : function.getArgumentTypes()) {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    reference::Shape shape(tensor.getShape().begin(), tensor.getShape().end());
    for (int64_t &extent : shape)
      extent = mlir::ShapedType::isDynamic(extent) ? size : extent;
    bool isFloat = mlir::isa<mlir::FloatType>(tensor.getElementType());
    reference::Tensor made = isFloat ? reference::Tensor::floats(shape) : reference::Tensor::ints(shape);
    for (double &number : made.reals)
      number = static_cast<double>(random() % 2048) / 16384.0 - 1.0 / 16;
    for (int64_t &number : made.integers)
      number = 1;
    arguments.push_back(std::move(made));
  }
  return arguments;
}

/// Shortest time in the kernels of a call in seconds, of as many calls as take about a third of a second; nothing when
/// the function fails.
std::optional<double> secondsOf(CompiledFunction &function, llvm::ArrayRef<reference::Tensor> arguments) {
  double shortest = HUGE_VAL, total = 0;
  for (int round = 0; round < 4 || total < 0.35; ++round) {
    auto begin = Clock::now();
    if (failed(function.run(arguments)))
      return std::nullopt;
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (round == 0) // compiles
      continue;
    shortest = std::min(shortest, function.kernelSeconds());
    total += seconds;
  }
  return shortest;
}

/// Kilobytes of what one kernel leaves for another, once the function is compiled for the arguments' shapes.
std::optional<double> kilobytesOf(CompiledFunction &function, llvm::ArrayRef<reference::Tensor> arguments) {
  if (failed(function.run(arguments)))
    return std::nullopt;
  mlir::FailureOr<ProgramPlan> plan = planProgram(function.program());
  if (failed(plan))
    return std::nullopt;
  uint64_t largest = 0; // that of the function itself, which holds those of what it calls
  for (const auto &[each, planned] : *plan)
    largest = std::max(largest, planned.size[ArenaRegion::Constant]);
  return static_cast<double>(largest) / 1024;
}

ExitCode usage(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "bench_functions") << message << "\n";
  return Usage;
}

} // namespace

int main(int argc, char **argv) {
  Host host;
  if (ExitCode code = host.load(argc, argv, "bench_functions"))
    return code;
  llvm::cl::ParseCommandLineOptions(argc, argv, "Times compiled functions over sizes\n");
  // The linker in this process takes back what the command line has set.
  const std::vector<int64_t> wanted(sizes.begin(), sizes.end());
  const bool inKilobytes = memory;
  FunctionOptions options;
  options.threads = threads;
  if (wanted.empty() || llvm::any_of(wanted, [](int64_t size) { return size < 1; }))
    return usage("--sizes wants numbers of at least 1");
  mlir::MLIRContext context(host.dialects);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module)
    return BadInput;

  reference::NoWeights none;
  std::vector<std::pair<mlir::func::FuncOp, std::unique_ptr<CompiledFunction>>> functions;
  llvm::outs() << llvm::formatv("{0,8}", "size");
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    options.firstStage = function->hasAttr("bench.as_written") ? "tile" : "simplify";
    auto compiled = CompiledFunction::create(*module, function.getName(), host.stages, none, options);
    if (failed(compiled))
      return WorkFailed;
    functions.emplace_back(function, std::move(*compiled));
    llvm::outs() << llvm::formatv(" {0,26}", function.getName());
  }
  llvm::outs() << "\n";
  std::vector<double> before(functions.size());
  for (int64_t size : wanted) {
    llvm::outs() << llvm::formatv("{0,8}", size);
    for (auto [entry, last] : llvm::zip_equal(functions, before)) {
      const std::vector<reference::Tensor> arguments = argumentsOf(entry.first, size);
      std::optional<double> figure =
          inKilobytes ? kilobytesOf(*entry.second, arguments) : secondsOf(*entry.second, arguments);
      if (!figure)
        return WorkFailed;
      std::string growth = last > 0 ? llvm::formatv("(x {0:F1})", *figure / last).str() : "";
      last = *figure;
      llvm::outs() << llvm::formatv(" {0,13:F3} {1} {2,9}", *figure * (inKilobytes ? 1 : 1000),
                                    inKilobytes ? "KB" : "ms", growth);
    }
    llvm::outs() << "\n";
  }
  return Success;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/api/CompileTrace.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"

#include "llvm/Support/TimeProfiler.h"

#include <atomic>

using namespace mlir;

namespace tilewright {

static std::atomic<bool> counting{false};

static void announceThread() { llvm::timeTraceProfilerInitialize(/*TimeTraceGranularity=*/0, "tilewright compile"); }

void startCompileTrace() {
  announceThread();
  counting = true;
}

void writeCompileTrace(llvm::raw_pwrite_stream &out) {
  counting = false;
  llvm::timeTraceProfilerWrite(out);
  llvm::timeTraceProfilerCleanup();
}

CompileSpan::CompileSpan(StringRef name, StringRef detail) : state(Off) {
  if (!counting)
    return;
  state = Nested;
  if (!llvm::timeTraceProfilerEnabled()) { // the outermost span of a thread of a pool
    announceThread();
    state = OwnThread;
  }
  llvm::timeTraceProfilerBegin(name, detail);
}

CompileSpan::~CompileSpan() {
  if (state == Off)
    return;
  llvm::timeTraceProfilerEnd();
  if (state == OwnThread)
    llvm::timeTraceProfilerFinishThread();
}

/// The symbol that a pass works on, or that its module begins with: kernels stand in modules of their own.
static StringRef subjectOf(Operation *op) {
  if (auto symbol = op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
    return symbol;
  if (op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock())
    for (Operation &nested : op->getRegion(0).front())
      if (auto symbol = nested.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
        return symbol;
  return op->getName().getStringRef();
}

void tracePasses(MLIRContext &context) {
  context.registerActionHandler([](llvm::function_ref<void()> run, const tracing::Action &action) {
    const auto *pass = llvm::dyn_cast<PassExecutionAction>(&action);
    if (!pass || pass->getPass().getArgument().empty()) // not a pass, or one that only runs others
      return run();
    CompileSpan span(pass->getPass().getArgument(), subjectOf(pass->getOp()));
    run();
  });
}

} // namespace tilewright

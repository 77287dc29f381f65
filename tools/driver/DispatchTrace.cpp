// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/DispatchTrace.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tilewright::driver {
namespace {

class Tracer {
public:
  explicit Tracer(ModuleOp program) : symbols(program) {}

  void follow(func::FuncOp function, const CallPath &path, std::string label) {
    const size_t run = trace.runs.size();
    trace.runs.push_back({function, path, std::move(label)});
    for (Operation &op : function.front()) {
      if (auto dispatch = dyn_cast<tw::DispatchOp>(op)) {
        trace.dispatches.push_back(
            {dispatch, symbols.lookup<func::FuncOp>(dispatch.getKernel()), run, false, resultTags(dispatch)});
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        CallPath inner = path;
        inner.push_back(tagOf(call.getLoc()).value_or(-1));
        follow(symbols.lookup<func::FuncOp>(call.getCallee()), inner,
               (call.getCallee() + " " + Twine(counts[call.getCallee()]++)).str());
      }
    }
  }

  DispatchTrace finish() {
    llvm::SmallDenseSet<size_t> seen;
    for (TracedDispatch &dispatch : llvm::reverse(trace.dispatches))
      dispatch.lastOfRun = seen.insert(dispatch.run).second;
    return std::move(trace);
  }

private:
  SymbolTable symbols;
  llvm::StringMap<unsigned> counts;
  DispatchTrace trace;
};

} // namespace

DispatchTrace traceDispatches(ModuleOp program, StringRef entry) {
  Tracer tracer(program);
  tracer.follow(program.lookupSymbol<func::FuncOp>(entry), {}, entry.str());
  return tracer.finish();
}

} // namespace tilewright::driver

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright-compiler ptx`: the kernels of a model as PTX, one file each, and a list of those that have no form yet.
#include "tools/driver/Commands.h"
#include "tools/driver/Compiler.h"
#include "tools/driver/Session.h"

#include "backends/cuda/Compile.h"
#include "frontend/graph/AtomicFile.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tilewright::driver {
namespace {

/// Compiles `kernel`; what the passes say when they cannot comes back in `reason`.
FailureOr<PtxKernel> compileQuietly(func::FuncOp kernel, CudaNumerics numerics, std::string &reason) {
  ScopedDiagnosticHandler handler(kernel.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && reason.empty())
      reason = diagnostic.str();
    return success();
  });
  return compileToPtx(kernel, "sm_80", numerics);
}

} // namespace

int writePtx(const PtxOptions &options) {
  Session session(options.plugins, 0);
  if (session.status() != Success)
    return session.status();
  ModuleOp module = session.open(options.input, options.weightsDir);
  if (!module)
    return session.status();
  PipelineOptions pipeline;
  pipeline.numerics = options.numerics;
  CudaNumerics numerics = options.numerics == "fast" ? CudaNumerics::Fast : CudaNumerics::Precise;
  if (failed(runGraphStages(module, session.host().stages, pipeline, [](StringRef, ModuleOp) {})))
    return WorkFailed;
  if (std::error_code error = llvm::sys::fs::create_directories(options.output))
    return report(llvm::createStringError("the folder '" + options.output + "' cannot be made: " + error.message()),
                  WorkFailed);
  int missing = 0;
  for (const ShapeClass &shapeClass : shapeClasses()) {
    FailureOr<ClassProgram> program = formProgram(module, shapeClass, session.host().stages, pipeline);
    if (failed(program))
      return WorkFailed;
    for (auto kernel : (*program).module->getOps<func::FuncOp>()) {
      if (!kernel->hasAttr("tw.kernel"))
        continue;
      std::string name = (shapeClass.name + "." + kernel.getName()).str(), reason;
      FailureOr<PtxKernel> compiled = compileQuietly(kernel, numerics, reason);
      if (failed(compiled)) {
        ++missing;
        llvm::outs() << name << ": not supported: " << reason << "\n";
        continue;
      }
      llvm::outs() << llvm::formatv("{0}: {1} threads, {2} bytes of shared memory\n", name, compiled->threads,
                                    compiled->sharedBytes);
      llvm::Error error = writeFileAtomically(options.output + "/" + name + ".ptx", [&](llvm::raw_pwrite_stream &out) {
        out << compiled->ptx;
        return llvm::Error::success();
      });
      if (int code = report(std::move(error), WorkFailed))
        return code;
    }
  }
  return missing == 0 ? Success : Unsupported;
}

} // namespace tilewright::driver

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mlir-opt with Tilewright's dialects and passes and the plugins': the tool that tests of passes run.
#include "backends/cpu/Passes.h"
#include "backends/cuda/Passes.h"
#include "backends/reference/Passes.h"
#include "passes/Pipelines.h"
#include "tools/host/Host.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  tilewright::Host host;
  if (tilewright::ExitCode code = host.load(argc, argv, "tw-opt"))
    return code;
  mlir::registerTransformsPasses();
  tilewright::registerCpuPasses();
  tilewright::registerCudaPasses();
  tilewright::registerPassFlags(host.stages);
  tilewright::reference::registerReferencePasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tilewright's optimizer driver\n", host.dialects));
}

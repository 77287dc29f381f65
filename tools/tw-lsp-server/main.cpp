// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The language server for .mlir files with Tilewright's dialects and the plugins'.
#include "tools/host/Host.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  tilewright::Host host;
  if (tilewright::ExitCode code = host.load(argc, argv, "tw-lsp-server"))
    return code;
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, host.dialects));
}

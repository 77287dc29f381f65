// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The language server for .mlir files with Tilewright's dialects and the plugins'.
#include "tools/host/Host.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/WithColor.h"

int main(int argc, char **argv) {
  tilewright::Host host;
  if (llvm::Error error = host.load(argc, argv)) {
    llvm::WithColor::error(llvm::errs(), "tw-lsp-server") << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, host.dialects));
}

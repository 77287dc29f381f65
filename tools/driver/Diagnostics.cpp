// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/Diagnostics.h"

#include "tools/progress/Progress.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilewright::driver {

int report(llvm::Error error, ExitCode code) {
  if (!error)
    return Success;
  Progress::interrupt();
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    llvm::errs() << "tilewright: error: " << info.message() << "\n";
    // frontend/graph/Errors.h: the input is well formed, and nothing here can handle it.
    if (code == BadInput && info.convertToErrorCode() == std::errc::not_supported)
      code = Unsupported;
  });
  return code;
}

void note(const llvm::Twine &text) {
  Progress::interrupt();
  llvm::errs() << "tilewright: note: " << text << "\n";
}

static StringRef severity(DiagnosticSeverity value) {
  switch (value) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "error";
}

/// "file:line:column: " of the innermost file location; column 0 is none.
static void printPlace(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location))
    return printPlace(fused.getLocations().front());
  if (auto name = dyn_cast<NameLoc>(location))
    return printPlace(name.getChildLoc());
  if (isa<UnknownLoc>(location))
    return;
  auto file = dyn_cast<FileLineColLoc>(location);
  if (!file) {
    llvm::errs() << location << ": ";
    return;
  }
  llvm::errs() << file.getFilename().getValue() << ":" << file.getLine();
  if (file.getColumn() != 0)
    llvm::errs() << ":" << file.getColumn();
  llvm::errs() << ": ";
}

static void print(const Diagnostic &diagnostic) {
  printPlace(diagnostic.getLocation());
  llvm::errs() << severity(diagnostic.getSeverity()) << ": " << diagnostic.str() << "\n";
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext *context) : ScopedDiagnosticHandler(context) {
  setHandler([](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
      return success();
    Progress::interrupt();
    print(diagnostic);
    for (const Diagnostic &note : diagnostic.getNotes())
      print(note);
    return success();
  });
}

} // namespace tilewright::driver

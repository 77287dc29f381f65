// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/Diagnostics.h"

#include "frontend/translate/Translate.h"
#include "tools/driver/Commands.h"
#include "tools/files/StandardOutput.h"
#include "tools/progress/Progress.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilewright::driver {

char CodedError::ID;

int report(llvm::Error error, ExitCode code) {
  if (!error)
    return Success;
  Progress::interrupt();
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    llvm::errs() << "tilewright: error: " << info.message() << "\n";
    if (info.isA<CodedError>())
      code = static_cast<const CodedError &>(info).exitCode();
    // frontend/graph/Errors.h: the input is well formed, and nothing here can handle it.
    if (code == BadInput && info.convertToErrorCode() == std::errc::not_supported)
      code = Unsupported;
  });
  return code;
}

int endOutput(int code) {
  std::optional<std::string> problem = flushStandardOutput();
  llvm::outs().flush();
  if (std::error_code error = llvm::outs().error())
    problem = "standard output cannot be written: " + error.message();
  llvm::outs().clear_error(); // or the stream's destructor aborts
  if (!problem)
    return code;
  const int failed = report(llvm::createStringError(*problem), WorkFailed);
  return code == Success ? failed : code;
}

void note(const llvm::Twine &text) {
  Progress::interrupt();
  llvm::errs() << "tilewright: note: " << text << "\n";
}

void warn(const llvm::Twine &text) {
  Progress::interrupt();
  llvm::errs() << "tilewright: warning: " << text << "\n";
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
static void printPlace(Location location, StringRef graphFile) {
  if (auto fused = dyn_cast<FusedLoc>(location))
    return printPlace(fused.getLocations().front(), graphFile);
  if (auto name = dyn_cast<NameLoc>(location))
    return printPlace(name.getChildLoc(), graphFile);
  if (isa<UnknownLoc>(location))
    return;
  auto file = dyn_cast<FileLineColLoc>(location);
  if (!file) {
    llvm::errs() << location << ": ";
    return;
  }
  llvm::errs() << placeInFile((file.getFilename().getValue() + ":" + Twine(file.getLine())).str(), graphFile);
  if (file.getColumn() != 0)
    llvm::errs() << ":" << file.getColumn();
  llvm::errs() << ": ";
}

/// "'func.func' op 'layer'" where MLIR shows the whole of an operation, in its generic form, which may be a model's;
/// otherwise nothing.
static std::string operationShown(StringRef note) {
  if (!note.consume_front("see current operation: "))
    return "";
  const auto quotedBehind = [&](StringRef words) {
    size_t at = note.find(words);
    return at == StringRef::npos ? StringRef() : note.substr(at + words.size()).split('"').first;
  };
  std::string shown = ("'" + quotedBehind("\"") + "' op").str();
  note = note.take_front(note.find("({")); // what it is itself stands before its regions
  if (StringRef symbol = quotedBehind("sym_name = \""); !symbol.empty())
    shown += (" '" + symbol + "'").str();
  return shown;
}

static void print(const Diagnostic &diagnostic, StringRef graphFile) {
  printPlace(diagnostic.getLocation(), graphFile);
  const std::string text = diagnostic.str(), operation = operationShown(text);
  llvm::errs() << severity(diagnostic.getSeverity()) << ": " << (operation.empty() ? text : "in " + operation) << "\n";
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext *context) : ScopedDiagnosticHandler(context) {
  setHandler([this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
      return success();
    Progress::interrupt();
    print(diagnostic, graphFile);
    for (const Diagnostic &note : diagnostic.getNotes())
      print(note, graphFile);
    return success();
  });
}

} // namespace tilewright::driver

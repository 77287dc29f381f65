// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How compile-side commands speak: errors on stderr as "place: error: ...", and the exit code that goes with them.
#pragma once

#include "tools/ExitCodes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace tilewright::driver {

/// An error that knows its exit code.
class CodedError : public llvm::ErrorInfo<CodedError> {
public:
  static char ID;
  CodedError(ExitCode code, std::string message) : code(code), text(std::move(message)) {}
  ExitCode exitCode() const { return code; }
  void log(llvm::raw_ostream &out) const override { out << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  ExitCode code;
  std::string text;
};

/// Prints the error, if there is one, and returns `code` (its own where it has one; Unsupported instead of BadInput
/// where the error says so); Success otherwise.
int report(llvm::Error error, ExitCode code);

/// Prints a note, or a warning, that belongs to no place.
void note(const llvm::Twine &text);
void warn(const llvm::Twine &text);

/// Prints MLIR diagnostics with their notes while it lives.
class DiagnosticPrinter : public mlir::ScopedDiagnosticHandler {
public:
  explicit DiagnosticPrinter(mlir::MLIRContext *context);

  /// What places in the graph are named by: the file as the user has named it.
  void setGraphFile(llvm::StringRef path) { graphFile = path.str(); }

private:
  std::string graphFile;
};

} // namespace tilewright::driver

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How compile-side commands speak: errors on stderr as "place: error: ...", and the exit code that goes with them.
#pragma once

#include "tools/ExitCodes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"

#include <chrono>
#include <string>

namespace tilewright::driver {

/// Prints the error, if there is one, and returns `code` (Unsupported instead of BadInput where the error says so);
/// Success otherwise.
int report(llvm::Error error, ExitCode code);

/// Prints MLIR diagnostics with their notes while it lives.
class DiagnosticPrinter : public mlir::ScopedDiagnosticHandler {
public:
  explicit DiagnosticPrinter(mlir::MLIRContext *context);
};

/// Progress on stderr: "  packing weights ... 0.8 s"; silent when told so.
class Progress {
public:
  explicit Progress(bool quiet) : quiet(quiet) {}
  /// Ends the step before and begins one.
  void step(const std::string &what);
  /// Ends the last step.
  void done();

private:
  using Clock = std::chrono::steady_clock;
  bool quiet;
  bool open = false;
  Clock::time_point begun;
};

} // namespace tilewright::driver

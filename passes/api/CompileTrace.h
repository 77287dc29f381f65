// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `compile --trace`: where the time of a compilation goes, in Chrome's trace event format, by LLVM's time profiler.
// That one counts by thread and knows only threads that were announced to it; here any thread of a pool may count.
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace tilewright {

/// From now on spans count, in all threads. Once in a process, and not inside a span.
void startCompileTrace();

/// Lets every pass that runs in `context` be a span, named by its flag.
void tracePasses(mlir::MLIRContext &context);

/// Ends counting and writes all spans. No span is open.
void writeCompileTrace(llvm::raw_pwrite_stream &out);

/// What happens until the end of the block; costs a test when nothing is traced.
class CompileSpan {
public:
  explicit CompileSpan(llvm::StringRef name, llvm::StringRef detail = "");
  ~CompileSpan();
  CompileSpan(const CompileSpan &) = delete;

private:
  enum { Off, Nested, OwnThread } state;
};

} // namespace tilewright

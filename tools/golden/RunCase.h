// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds a golden case's graph, runs it on a backend and compares.
#pragma once

#include "passes/api/Receipts.h"
#include "passes/api/Stages.h"
#include "tools/golden/StoredCase.h"

namespace tilewright {

enum class Outcome { Passed, Failed, Unsupported };

struct CaseResult {
  Outcome outcome;
  std::string text; ///< the largest error beside its limit, or the reason
};

struct GoldenRun {
  bool compiled = false;            ///< the CPU backend, else the interpreter in f64
  std::string numerics = "precise"; ///< of the CPU backend
  ReceiptCollector *receipts =
      nullptr; ///< of the context, for the CPU backend: attention must be fused; each run's are taken
};

CaseResult runCase(const StoredCase &stored, const GoldenRegistry &builders, const StageRegistry &stages,
                   mlir::MLIRContext *context, const GoldenRun &run);

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-check-intrinsics: LLVM ends the process on an intrinsic that the level cannot select, so each one is checked
// against the level first. Unknown x86 intrinsics are errors: the table below is what the lowerings may use.
#include "backends/cpu/LevelOption.h"
#include "backends/cpu/Passes.h"
#include "passes/api/Receipts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// The CPUID feature an intrinsic needs; empty where it is not known.
StringRef featureOf(StringRef intrinsic) {
  static constexpr std::pair<StringRef, StringRef> table[] = {
      {"llvm.x86.avx512.vpdpbusd.512", "avx512vnni"},
      {"llvm.x86.avx2.pmadd.ub.sw", "avx2"},
      {"llvm.x86.avx2.pmadd.wd", "avx2"},
      {"llvm.x86.avx512bf16.dpbf16ps.512", "avx512bf16"},
  };
  for (auto [name, feature] : table)
    if (name == intrinsic)
      return feature;
  return "";
}

class CpuCheckIntrinsics : public CpuLevelPass<CpuCheckIntrinsics, ModuleOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuCheckIntrinsics)
  using CpuLevelPass::CpuLevelPass;
  StringRef getArgument() const override { return "cpu-check-intrinsics"; }
  StringRef getDescription() const override { return "Check each intrinsic against the level's features"; }

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      StringRef feature;
      std::string name;
      if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
        name = call.getIntrin().str();
        if (!StringRef(name).starts_with("llvm.x86."))
          return WalkResult::advance();
        feature = featureOf(name);
        if (feature.empty())
          return op->emitOpError("uses intrinsic '") << name << "', whose CPU feature is not known";
      } else if (isa<x86vector::DotBF16Op>(op)) {
        name = op->getName().getStringRef().str();
        feature = "avx512bf16";
      } else {
        return WalkResult::advance();
      }
      if (!llvm::is_contained(level->cpuFeatures, feature))
        return op->emitOpError("uses '") << name << "', which needs CPU feature '" << feature << "'; level '"
                                         << level->name << "' does not have it";
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      receipt::held(kernel, getArgument(),
                    {"every intrinsic is of the level's features", "every rewriting settled within its budget"});
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuCheckIntrinsicsPass(const CpuLevel *level) {
  return std::make_unique<CpuCheckIntrinsics>(level);
}

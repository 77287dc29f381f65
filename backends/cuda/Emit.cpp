// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/Emit.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace llvm;

namespace tilewright {

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

static Expected<std::unique_ptr<TargetMachine>> createTargetMachine(StringRef architecture) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  Triple triple(kTriple);
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("LLVM has no target " + kTriple.str() + ": " + error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Fast; // a product and a sum may become one fused operation, as on the CPU
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(triple, architecture, "", options, std::nullopt,
                                                                    std::nullopt, CodeGenOptLevel::Aggressive));
}

static void optimize(Module &module, TargetMachine &machine) {
  PipelineTuningOptions tuning;
  // Lanes do not vectorise; these two only find address arithmetic and cost time.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  PassBuilder builder(&machine, tuning);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager cgscc;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgscc, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
}

Expected<std::string> emitPtx(Module &module, StringRef architecture) {
  Expected<std::unique_ptr<TargetMachine>> machine = createTargetMachine(architecture);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple(Triple(kTriple));
  module.setDataLayout((*machine)->createDataLayout());
  std::string problems;
  raw_string_ostream stream(problems);
  if (verifyModule(module, &stream))
    return createStringError("invalid LLVM IR: " + problems);
  optimize(module, **machine);
  SmallString<0> text;
  raw_svector_ostream out(text);
  legacy::PassManager codegen;
  if ((*machine)->addPassesToEmitFile(codegen, out, nullptr, CodeGenFileType::AssemblyFile))
    return createStringError("LLVM cannot emit code for " + kTriple.str());
  codegen.run(module);
  return std::string(text);
}

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Emit.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <mutex>

using namespace llvm;

namespace tilewright {

static constexpr StringLiteral kTriple = "x86_64-unknown-linux-gnu";

static Expected<std::unique_ptr<TargetMachine>> createTargetMachine(const CpuLevel &level) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  Triple triple(kTriple);
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("LLVM has no target " + kTriple.str() + ": " + error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Fast; // a product and a sum may become one fused operation, on every level
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, level.llvmCpu, level.llvmFeatures, options, Reloc::PIC_, CodeModel::Small, CodeGenOptLevel::Aggressive));
}

static void optimize(Module &module, TargetMachine &machine, Effort effort) {
  PipelineTuningOptions tuning;
  // Kernels are vectors already; these two only find address arithmetic and cost time.
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = effort == Effort::Full;
  PassBuilder builder(&machine, tuning);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager cgscc;
  ModuleAnalysisManager modules;
  // The artifact has no C library.
  functions.registerPass([&] {
    TargetLibraryInfoImpl library(module.getTargetTriple());
    library.disableAllFunctions();
    return TargetLibraryAnalysis(library);
  });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgscc, modules);
  const OptimizationLevel level = effort == Effort::Full ? OptimizationLevel::O3 : OptimizationLevel::O1;
  builder.buildPerModuleDefaultPipeline(level).run(module, modules);
}

Expected<ObjectBytes> emitModule(Module &module, const CpuLevel &level, EmitKind kind, std::string *text,
                                 Effort effort) {
  Expected<std::unique_ptr<TargetMachine>> machine = createTargetMachine(level);
  if (!machine)
    return machine.takeError();
  module.setTargetTriple(Triple(kTriple));
  module.setDataLayout((*machine)->createDataLayout());
  for (Function &function : module) {
    if (function.isIntrinsic())
      continue;
    function.addFnAttr("target-cpu", level.llvmCpu);
    if (!level.llvmFeatures.empty())
      function.addFnAttr("target-features", level.llvmFeatures);
    function.addFnAttr("prefer-vector-width", std::to_string(level.vectorBytes * 8));
  }
  std::string problems;
  raw_string_ostream stream(problems);
  if (verifyModule(module, &stream))
    return createStringError("invalid LLVM IR: " + problems);
  optimize(module, **machine, effort);
  if (text)
    raw_string_ostream(*text) << module;

  ObjectBytes bytes;
  raw_svector_ostream out(bytes);
  legacy::PassManager codegen;
  CodeGenFileType type = kind == EmitKind::Object ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
  if ((*machine)->addPassesToEmitFile(codegen, out, nullptr, type))
    return createStringError("LLVM cannot emit code for " + kTriple.str());
  codegen.run(module);
  return bytes;
}

// Words, then bytes. "no-builtins" keeps LLVM from seeing these very loops as calls of the functions they define.
static const char memoryFunctions[] = R"(
define hidden ptr @memcpy(ptr %to, ptr %from, i64 %count) #0 {
entry:
  %words = and i64 %count, -8
  br label %word
word:
  %i = phi i64 [ 0, %entry ], [ %i.next, %word.body ]
  %more = icmp ult i64 %i, %words
  br i1 %more, label %word.body, label %byte
word.body:
  %src = getelementptr i8, ptr %from, i64 %i
  %dst = getelementptr i8, ptr %to, i64 %i
  %value = load i64, ptr %src, align 1
  store i64 %value, ptr %dst, align 1
  %i.next = add nuw i64 %i, 8
  br label %word
byte:
  %j = phi i64 [ %words, %word ], [ %j.next, %byte.body ]
  %rest = icmp ult i64 %j, %count
  br i1 %rest, label %byte.body, label %done
byte.body:
  %bsrc = getelementptr i8, ptr %from, i64 %j
  %bdst = getelementptr i8, ptr %to, i64 %j
  %b = load i8, ptr %bsrc
  store i8 %b, ptr %bdst
  %j.next = add nuw i64 %j, 1
  br label %byte
done:
  ret ptr %to
}

define hidden ptr @memmove(ptr %to, ptr %from, i64 %count) #0 {
entry:
  %t = ptrtoint ptr %to to i64
  %f = ptrtoint ptr %from to i64
  %distance = sub i64 %t, %f
  %overlaps = icmp ult i64 %distance, %count
  br i1 %overlaps, label %back, label %forward
forward:
  %result = call ptr @memcpy(ptr %to, ptr %from, i64 %count)
  ret ptr %result
back:
  %i = phi i64 [ %count, %entry ], [ %i.next, %back.body ]
  %more = icmp ne i64 %i, 0
  br i1 %more, label %back.body, label %done
back.body:
  %i.next = sub i64 %i, 1
  %src = getelementptr i8, ptr %from, i64 %i.next
  %dst = getelementptr i8, ptr %to, i64 %i.next
  %value = load i8, ptr %src
  store i8 %value, ptr %dst
  br label %back
done:
  ret ptr %to
}

define hidden ptr @memset(ptr %to, i32 %value, i64 %count) #0 {
entry:
  %byte.value = trunc i32 %value to i8
  %wide = zext i8 %byte.value to i64
  %pattern = mul i64 %wide, 72340172838076673
  %words = and i64 %count, -8
  br label %word
word:
  %i = phi i64 [ 0, %entry ], [ %i.next, %word.body ]
  %more = icmp ult i64 %i, %words
  br i1 %more, label %word.body, label %byte
word.body:
  %dst = getelementptr i8, ptr %to, i64 %i
  store i64 %pattern, ptr %dst, align 1
  %i.next = add nuw i64 %i, 8
  br label %word
byte:
  %j = phi i64 [ %words, %word ], [ %j.next, %byte.body ]
  %rest = icmp ult i64 %j, %count
  br i1 %rest, label %byte.body, label %done
byte.body:
  %bdst = getelementptr i8, ptr %to, i64 %j
  store i8 %byte.value, ptr %bdst
  %j.next = add nuw i64 %j, 1
  br label %byte
done:
  ret ptr %to
}

define hidden i32 @memcmp(ptr %a, ptr %b, i64 %count) #0 {
entry:
  br label %byte
byte:
  %i = phi i64 [ 0, %entry ], [ %i.next, %same ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %body, label %equal
body:
  %pa = getelementptr i8, ptr %a, i64 %i
  %pb = getelementptr i8, ptr %b, i64 %i
  %va = load i8, ptr %pa
  %vb = load i8, ptr %pb
  %differs = icmp ne i8 %va, %vb
  br i1 %differs, label %found, label %same
same:
  %i.next = add nuw i64 %i, 1
  br label %byte
found:
  %wa = zext i8 %va to i32
  %wb = zext i8 %vb to i32
  %difference = sub i32 %wa, %wb
  ret i32 %difference
equal:
  ret i32 0
}

attributes #0 = { nounwind "no-builtins" }
)";

Expected<ObjectBytes> emitMemoryFunctions() {
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssemblyString(memoryFunctions, diagnostic, context);
  if (!module)
    return createStringError("memory functions: " + diagnostic.getMessage());
  return emitModule(*module, CpuLevel::all().front(), EmitKind::Object);
}

Expected<ObjectBytes> emitSection(StringRef name, ArrayRef<char> bytes) {
  LLVMContext context;
  Module module("section", context);
  Constant *data =
      ConstantDataArray::getRaw(StringRef(bytes.data(), bytes.size()), bytes.size(), Type::getInt8Ty(context));
  auto *global = new GlobalVariable(module, data->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage, data,
                                    "tilewright.section");
  global->setSection(name);
  global->setAlignment(Align(64));
  appendToUsed(module, {global});
  return emitModule(module, CpuLevel::all().front(), EmitKind::Object);
}

} // namespace tilewright

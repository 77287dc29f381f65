// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Instructions.h"

#include "llvm-c/Disassembler.h"
#include "llvm-c/Target.h"
#include "llvm/Object/ObjectFile.h"

namespace tilewright {
namespace {

struct Counts {
  unsigned byteDot = 0, byteMadd = 0, bf16Dot = 0, fma = 0, scalarProduct = 0, packed = 0;
};

void count(llvm::StringRef mnemonic, Counts &counts) {
  if (mnemonic.starts_with("vpdpbusd"))
    ++counts.byteDot;
  else if (mnemonic.starts_with("vpmaddubsw") || mnemonic.starts_with("vpmaddwd"))
    ++counts.byteMadd;
  else if (mnemonic.starts_with("vdpbf16ps"))
    ++counts.bf16Dot;
  else if (mnemonic.starts_with("vfmadd") && mnemonic.ends_with("ps"))
    ++counts.fma;
  else if ((mnemonic.starts_with("vfmadd") || mnemonic.starts_with("vmul")) && mnemonic.ends_with("ss"))
    ++counts.scalarProduct;
  else if (mnemonic.starts_with("v") && (mnemonic.ends_with("ps") || mnemonic.starts_with("vp")))
    ++counts.packed;
}

InstructionSummary summaryOf(const Counts &counts) {
  const unsigned products = counts.byteDot + counts.byteMadd + counts.bf16Dot + counts.fma;
  InstructionSummary summary;
  // A row's own factors are single numbers; a contraction of single numbers is many of them and no whole registers.
  summary.fallback = products == 0 && counts.scalarProduct > 16;
  summary.main = counts.byteDot    ? "vpdpbusd"
                 : counts.byteMadd ? "vpmaddubsw"
                 : counts.bf16Dot  ? "vdpbf16ps"
                 : counts.fma      ? "vfmadd"
                 : counts.packed   ? "vector"
                                   : "scalar";
  return summary;
}

} // namespace

llvm::Expected<InstructionSummary> summarizeInstructions(const ObjectBytes &object) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86Disassembler();
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "kernel"));
  if (!file)
    return file.takeError();
  std::unique_ptr<void, void (*)(void *)> disassembler(
      LLVMCreateDisasm("x86_64-unknown-linux-gnu", nullptr, 0, nullptr, nullptr),
      [](void *handle) { LLVMDisasmDispose(handle); });
  if (!disassembler)
    return llvm::createStringError("this LLVM cannot disassemble x86-64");
  Counts counts;
  for (const llvm::object::SectionRef &section : (*file)->sections()) {
    if (!section.isText())
      continue;
    llvm::Expected<llvm::StringRef> code = section.getContents();
    if (!code)
      return code.takeError();
    std::string bytes = code->str(); // the C interface takes mutable bytes
    for (size_t at = 0; at < bytes.size();) {
      char text[256];
      size_t size = LLVMDisasmInstruction(disassembler.get(), reinterpret_cast<uint8_t *>(bytes.data()) + at,
                                          bytes.size() - at, at, text, sizeof text);
      if (size == 0) {
        ++at; // padding between functions
        continue;
      }
      count(llvm::StringRef(text).trim().take_until([](char c) { return c == ' ' || c == '\t'; }), counts);
      at += size;
    }
  }
  return summaryOf(counts);
}

} // namespace tilewright

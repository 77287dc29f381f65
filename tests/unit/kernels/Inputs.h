// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of tests/e2e/Inputs with words to replace.
#pragma once

#include "tests/unit/kernels/ProgramRunner.h"

#include "llvm/Support/MemoryBuffer.h"

namespace tilewright::test {

inline std::string replaced(std::string text, const std::string &word, const std::string &by) {
  for (size_t at = 0; (at = text.find("@" + word + "@", at)) != std::string::npos; at += by.size())
    text.replace(at, word.size() + 2, by);
  return text;
}

inline std::string inputText(const std::string &name) {
  auto file = llvm::MemoryBuffer::getFile(TILEWRIGHT_TEST_DATA "/e2e/Inputs/" + name);
  if (file)
    return (*file)->getBuffer().str();
  ADD_FAILURE() << "cannot read " << name;
  return "";
}

/// Whether this build has the dialects that the program says it needs.
inline bool hasDialects(llvm::StringRef text) {
  std::vector<llvm::StringRef> available = context().getAvailableDialects();
  while (text.contains("Needs:")) {
    text = text.split("Needs:").second;
    llvm::SmallVector<llvm::StringRef> names;
    text.split('\n').first.split(names, ' ', -1, false);
    if (!llvm::all_of(names, [&](llvm::StringRef name) { return llvm::is_contained(available, name); }))
      return false;
  }
  return true;
}

} // namespace tilewright::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_TESTS_UNIT_SUPPORT_REPLACED_H
#define TILEWRIGHT_TESTS_UNIT_SUPPORT_REPLACED_H

#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>

#include <string>

namespace tilewright::test {

/// `text` with `to` in the place of the first `from`, which has to be there.
inline std::string replaced(llvm::StringRef text, llvm::StringRef from, llvm::StringRef to) {
  size_t at = text.find(from);
  EXPECT_NE(at, llvm::StringRef::npos) << from.str();
  return at == llvm::StringRef::npos ? text.str()
                                     : (text.take_front(at) + to + text.drop_front(at + from.size())).str();
}

} // namespace tilewright::test

#endif // TILEWRIGHT_TESTS_UNIT_SUPPORT_REPLACED_H

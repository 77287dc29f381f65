// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of family descriptions: integers and floats, + - * / %, comparisons (1 or 0), && ||, parentheses,
// sqrt(x), float(x). Integer arithmetic is checked: an overflow, a division by zero or one that leaves a remainder is
// an error. Operators bind as in C.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_EXPRESSION_H
#define TILEWRIGHT_FRONTEND_IMPORT_EXPRESSION_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <variant>

namespace tilewright {

using Number = std::variant<int64_t, double>;

/// "64", "0.125"
std::string spell(const Number &number);

/// The value of `text` with the variables of `names`.
llvm::Expected<Number> evaluate(llvm::StringRef text, const llvm::StringMap<Number> &names);

/// The same, and the value must be an integer.
llvm::Expected<int64_t> evaluateInteger(llvm::StringRef text, const llvm::StringMap<Number> &names);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_EXPRESSION_H

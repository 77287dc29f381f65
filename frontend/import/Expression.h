// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The expressions of family descriptions.
//
//   values      integers (also true and false: 1 and 0), floats, 'strings', lists (of a file's metadata)
//   operators   c ? a : b   ||   &&   == != <= >= < >   + -   * / %   ! -   list[index], binding as in C
//   functions   sqrt(x) ln(x) floor(x) ceil(x) float(x), len(list or string), has(list, value),
//               present('weight'): whether the model's files have a tensor for it; of a layer's weight outside of
//               layers: in the first
//
// Integer arithmetic is checked: an overflow, a division by zero or one that leaves a remainder is an error. `?`, `&&`
// and `||` evaluate only what decides. Strings are compared with strings alone.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_EXPRESSION_H
#define TILEWRIGHT_FRONTEND_IMPORT_EXPRESSION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilewright {

struct Value;
using ValueList = std::vector<Value>;

/// What a parameter, an option or an expression is worth.
struct Value : std::variant<int64_t, double, std::string, ValueList> {
  using variant::variant;

  bool isNumber() const { return index() < 2; }
  /// Of a number.
  double asDouble() const;
  /// A number other than 0; strings and lists are not empty.
  bool isTrue() const;
};

/// "64", "0.125", "'silu'", "[1, 2]"
std::string spell(const Value &value);

/// A JSON scalar or array as a value; nothing for null, objects, and integers beyond 64 signed bits.
std::optional<Value> valueOf(const llvm::json::Value &json);

/// Names and their values; what a scope does not know is looked for in the one around it, which outlives it.
class Scope {
public:
  explicit Scope(const Scope *outer = nullptr) : outer(outer) {}

  void set(llvm::StringRef name, Value value) { values[name] = std::move(value); }
  const Value *find(llvm::StringRef name) const;

  /// Whether there is a tensor for a weight, asked from a scope; nothing for a name that is no weight's.
  using Presence = std::function<std::optional<bool>(llvm::StringRef weight, const Scope &from)>;
  void setPresence(Presence presence) { isPresent = std::move(presence); }
  std::optional<bool> present(llvm::StringRef weight) const;

private:
  const Scope *outer;
  llvm::StringMap<Value> values;
  Presence isPresent; ///< of the outermost scope
};

/// The value of `text` with the names of `scope`.
llvm::Expected<Value> evaluate(llvm::StringRef text, const Scope &scope);

/// The same, and the value must be an integer.
llvm::Expected<int64_t> evaluateInteger(llvm::StringRef text, const Scope &scope);

/// The names that stand in `text`, of values and functions.
std::vector<llvm::StringRef> namesIn(llvm::StringRef text);

/// `text` with each "{x}" replaced by what `value` gives for x.
llvm::Expected<std::string> replaceBraced(llvm::StringRef text,
                                          llvm::function_ref<llvm::Expected<std::string>(llvm::StringRef)> value);

/// Whether the value is true; an empty text is.
llvm::Expected<bool> evaluateCondition(llvm::StringRef text, const Scope &scope);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_EXPRESSION_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every built-in of the template language needs: limits, places for messages, arguments.
#pragma once

#include "runtime/api/tilewright_status.h"
#include "runtime/tokenize/ChatTemplate.h"
#include "runtime/tokenize/JinjaValue.h"

#include <ctime>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright::jinja {

/// The state of one rendering that built-ins see.
class Runtime {
public:
  explicit Runtime(const TemplateLimits &limits) : limits(limits) {}

  uint32_t line = 0; ///< of the construct being evaluated
  std::function<std::tm()> clock;

  [[noreturn]] void fail(tw_status_code code, const std::string &message) const;
  [[noreturn]] void failUndefined(const Undefined &value) const;
  /// Spends steps; throws EXHAUSTED when none are left.
  void charge(uint64_t steps = 1);
  /// Makes a string, paying for its bytes; throws EXHAUSTED if it is longer than the output may be.
  Value text(Text text);
  Value templateText(std::string bytes) { return text(Text::ofTemplate(std::move(bytes))); }
  /// Makes a list or dict, paying for its items; throws EXHAUSTED if it nests too deep.
  Value list(std::vector<Value> items);
  Value dict(std::vector<std::pair<Value, Value>> entries);
  /// Throws EXHAUSTED unless a string may have this many bytes: asked before one is made.
  void checkBytes(size_t bytes) const;
  /// What `clock` said when it was asked first: one rendering has one time.
  const std::tm &now();

  const TemplateLimits limits;

private:
  uint64_t spent = 0;
  std::optional<std::tm> time;
};

/// Counts one level of evaluation while it lives. Throws EXHAUSTED at twice the limit of nesting: statements and
/// expressions may each use it up.
class Depth {
public:
  Depth(Runtime &runtime, uint32_t &depth);
  ~Depth() { --depth; }

private:
  uint32_t &depth;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string_view, Value>> keywords;

  /// The arguments in the order of `names`, null where none was given. Throws INVALID for one too many, one given
  /// twice, an unknown name, or fewer than `required`; `what` names the callee.
  std::vector<const Value *> bind(Runtime &runtime, const std::string &what,
                                  std::initializer_list<std::string_view> names, size_t required = 0) const;
};

/// Python's str(value), as `{{ value }}` prints it. Throws UNSUPPORTED for lists and other values without a stable
/// form.
Text toText(Runtime &runtime, const Value &value);
/// The value as a string, int, or list of items to go through; throws INVALID naming `what` and the type found.
const Text &needText(Runtime &runtime, const Value &value, const std::string &what);
int64_t needInteger(Runtime &runtime, const Value &value, const std::string &what);
std::vector<Value> needItems(Runtime &runtime, const Value &value, const std::string &what);

/// `left op right` for + - * / // % ~.
Value arithmetic(Runtime &runtime, std::string_view op, const Value &left, const Value &right);
Value negate(Runtime &runtime, const Value &value);
/// `left op right` for == != < <= > >= in, not in.
bool compare(Runtime &runtime, std::string_view op, const Value &left, const Value &right);
/// value[key], undefined if there is no such entry.
Value subscript(Runtime &runtime, const Value &value, const Value &key);
/// value[start:stop:step]; undefined or None stand for an omitted bound.
Value slice(Runtime &runtime, const Value &value, const Value &start, const Value &stop, const Value &step);

/// value|name(arguments). Throws UNSUPPORTED for an unknown filter.
Value applyFilter(Runtime &runtime, std::string_view name, const Value &value, const Arguments &arguments);
/// value is name(arguments). Throws UNSUPPORTED for an unknown test.
bool applyTest(Runtime &runtime, std::string_view name, const Value &value, const Arguments &arguments);
/// value.name(arguments) of strings, lists and dicts. Throws UNSUPPORTED for an unknown method.
Value callMethod(Runtime &runtime, const Value &value, std::string_view name, const Arguments &arguments);
/// Whether Python's type of this value has a method of that name, so that `value.name` is not an entry.
bool hasMethod(const Value &value, std::string_view name);
/// Python's datetime.strftime of the rendering's time, which has no zone, in the C locale. Throws UNSUPPORTED
/// for other directives than those of C and glibc that name a part of a date or a time.
Text formatTime(Runtime &runtime, const Text &format);

/// The arguments of json.dumps that Transformers' `tojson` passes on.
struct JsonStyle {
  bool ascii = false;
  bool sortKeys = false;
  std::optional<Text> indent = std::nullopt; ///< of one level; none: all on one line
  Text itemSeparator = Text::ofTemplate(", ");
  Text keySeparator = Text::ofTemplate(": ");
};
/// JSON as Python's json.dumps writes it.
Text toJson(Runtime &runtime, const Value &value, const JsonStyle &style);

/// Changes of case. Throws UNSUPPORTED for letters outside ASCII.
enum class Case { Upper, Lower, Capital, Title };
Text changeCase(Runtime &runtime, const Text &text, Case wanted, const std::string &what);
/// Python's str.replace; `count` < 0: all.
Text replaceAll(Runtime &runtime, const Text &text, const Text &from, const Text &to, int64_t count);
/// str.join.
Text joinAll(Runtime &runtime, const Text &separator, const std::vector<Value> &items);

} // namespace tilewright::jinja

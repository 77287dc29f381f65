// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic, comparisons, subscripts and slices, with Python's rules.
#include "runtime/tokenize/JinjaRuntime.h"

#include <algorithm>
#include <cmath>
#include <compare>

namespace tilewright::jinja {

namespace {

[[noreturn]] void failTypes(Runtime &runtime, std::string_view op, const Value &left, const Value &right) {
  for (const Value *side : {&left, &right})
    if (const auto *undefined = side->get<Undefined>())
      runtime.failUndefined(*undefined);
  runtime.fail(TW_INVALID, "cannot compute " + typeName(left) + " " + std::string(op) + " " + typeName(right));
}

Value integers(Runtime &runtime, std::string_view op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (op == "+") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (op == "-") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (op == "*") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else if (b == 0) {
    runtime.fail(TW_INVALID, "division by zero");
  } else if (op == "/") {
    return Value(static_cast<double>(a) / static_cast<double>(b));
  } else if (b == -1) { // INT64_MIN / -1 would trap
    overflow = op == "//" && __builtin_sub_overflow(int64_t{0}, a, &result);
  } else {
    const int64_t rest = a % b;
    const bool adjust = rest != 0 && (rest < 0) != (b < 0); // Python rounds down
    result = op == "//" ? a / b - adjust : rest + (adjust ? b : 0);
  }
  if (overflow)
    runtime.fail(TW_INVALID,
                 "integer overflow in " + std::to_string(a) + " " + std::string(op) + " " + std::to_string(b));
  return Value(result);
}

Value doubles(Runtime &runtime, std::string_view op, double a, double b) {
  if (op == "+")
    return Value(a + b);
  if (op == "-")
    return Value(a - b);
  if (op == "*")
    return Value(a * b);
  if (b == 0)
    runtime.fail(TW_INVALID, "division by zero");
  if (op == "/")
    return Value(a / b);
  // As Python's float_divmod: the rest takes the divisor's sign, and the quotient is the whole number nearest to what
  // is left without it.
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest == 0) {
    rest = std::copysign(0.0, b);
  } else if ((rest < 0) != (b < 0)) {
    rest += b;
    quotient -= 1;
  }
  if (op == "%")
    return Value(rest);
  return Value(quotient == 0 ? std::copysign(0.0, a / b) : std::round(quotient));
}

Value repeat(Runtime &runtime, const Value &value, int64_t times) {
  times = std::max<int64_t>(times, 0);
  if (const Text *text = value.text()) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(text->bytes.size(), static_cast<size_t>(times), &bytes))
      bytes = SIZE_MAX;
    runtime.checkBytes(bytes);
    Text out;
    for (int64_t i = 0; i < times && !text->bytes.empty(); ++i) {
      runtime.charge();
      out.append(*text);
    }
    return runtime.text(std::move(out));
  }
  std::vector<Value> items;
  for (int64_t i = 0; i < times && !value.list()->items.empty(); ++i) {
    runtime.charge(value.list()->items.size());
    items.insert(items.end(), value.list()->items.begin(), value.list()->items.end());
  }
  return runtime.list(std::move(items));
}

/// Python's order; throws for values without one.
std::partial_ordering order(Runtime &runtime, std::string_view op, const Value &left, const Value &right) {
  if (left.integer() && right.integer())
    return *left.integer() <=> *right.integer();
  if (left.number() && right.number())
    return *left.number() <=> *right.number();
  // Code points sort as their UTF-8 bytes do.
  if (left.text() && right.text()) {
    runtime.charge(1 + std::min(left.text()->bytes.size(), right.text()->bytes.size()) / 64);
    return left.text()->bytes.compare(right.text()->bytes) <=> 0;
  }
  if (left.list() && right.list()) {
    const auto &a = left.list()->items, &b = right.list()->items;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      runtime.charge(std::min(weight(a[i]), weight(b[i])));
      if (!isEqual(a[i], b[i]))
        return order(runtime, op, a[i], b[i]);
    }
    return a.size() <=> b.size();
  }
  failTypes(runtime, op, left, right);
}

bool contains(Runtime &runtime, const Value &container, const Value &item) {
  if (const Text *text = container.text()) {
    runtime.charge(1 + text->bytes.size() / 64);
    return text->bytes.find(needText(runtime, item, "the left side of 'in'").bytes) != std::string::npos;
  }
  if (const List *list = container.list())
    return std::any_of(list->items.begin(), list->items.end(), [&](const Value &other) {
      runtime.charge(std::min(weight(other), weight(item)));
      return isEqual(other, item);
    });
  if (const Dict *dict = container.dict()) {
    runtime.charge(dict->entries.size());
    return dict->find(item) != nullptr;
  }
  if (container.isUndefined())
    return false;
  failTypes(runtime, "in", item, container);
}

} // namespace

Value arithmetic(Runtime &runtime, std::string_view op, const Value &left, const Value &right) {
  if (op == "~") {
    Text joined = toText(runtime, left);
    const Text tail = toText(runtime, right);
    runtime.checkBytes(joined.bytes.size() + tail.bytes.size());
    joined.append(tail);
    return runtime.text(std::move(joined));
  }
  if (left.integer() && right.integer())
    return integers(runtime, op, *left.integer(), *right.integer());
  if (left.number() && right.number())
    return doubles(runtime, op, *left.number(), *right.number());
  if (op == "+" && left.text() && right.text())
    return arithmetic(runtime, "~", left, right);
  if (op == "+" && left.list() && right.list()) {
    std::vector<Value> items = left.list()->items;
    items.insert(items.end(), right.list()->items.begin(), right.list()->items.end());
    return runtime.list(std::move(items));
  }
  if (op == "*" && (left.text() || left.list()) && right.integer())
    return repeat(runtime, left, *right.integer());
  if (op == "*" && (right.text() || right.list()) && left.integer())
    return repeat(runtime, right, *left.integer());
  if (op == "%" && left.text())
    runtime.fail(TW_UNSUPPORTED, "formatting a str by '%' is not supported");
  failTypes(runtime, op, left, right);
}

Value negate(Runtime &runtime, const Value &value) {
  if (value.integer())
    return integers(runtime, "-", 0, *value.integer());
  if (value.number())
    return Value(-*value.number());
  runtime.fail(TW_INVALID, "cannot negate " + typeWithArticle(value));
}

bool compare(Runtime &runtime, std::string_view op, const Value &left, const Value &right) {
  if (op == "in")
    return contains(runtime, right, left);
  if (op == "not in")
    return !contains(runtime, right, left);
  if (op == "==" || op == "!=") {
    runtime.charge(std::min(weight(left), weight(right)));
    return isEqual(left, right) == (op == "==");
  }
  const std::partial_ordering found = order(runtime, op, left, right);
  return op == "<" ? found < 0 : op == "<=" ? found <= 0 : op == ">" ? found > 0 : found >= 0;
}

Value subscript(Runtime &runtime, const Value &value, const Value &key) {
  const auto missing = [&] {
    return Value::undefined(key.text()      ? key.text()->bytes
                            : key.integer() ? "entry " + std::to_string(*key.integer())
                                            : "entry");
  };
  if (const Dict *dict = value.dict()) {
    runtime.charge(dict->entries.size());
    const Value *found = dict->find(key);
    return found ? *found : missing();
  }
  const auto index = key.integer();
  if (const List *list = value.list()) {
    const auto size = static_cast<int64_t>(list->items.size());
    if (!index || *index >= size || *index < -size)
      return missing();
    return list->items[static_cast<size_t>(*index < 0 ? *index + size : *index)];
  }
  if (const Text *text = value.text()) {
    if (!index || *index == INT64_MIN)
      return missing();
    runtime.charge(text->bytes.size() / 16);
    const auto size = static_cast<int64_t>(countCodePoints(text->bytes));
    if (*index >= size || *index < -size)
      return missing();
    size_t at = 0;
    for (int64_t i = *index < 0 ? *index + size : *index; i > 0; --i)
      at = codePointEnd(text->bytes, at);
    return Value(text->slice(at, codePointEnd(text->bytes, at)));
  }
  if (const auto *space = value.get<NamespaceRef>(); space && key.text()) {
    const Value *found = (*space)->find(key.text()->bytes);
    return found ? *found : missing();
  }
  if (const auto *undefined = value.get<Undefined>())
    runtime.failUndefined(*undefined);
  return missing();
}

Value slice(Runtime &runtime, const Value &value, const Value &start, const Value &stop, const Value &step) {
  const Text *text = value.text();
  if (!text && !value.list())
    runtime.fail(TW_INVALID, "cannot slice " + typeWithArticle(value) + ", wanted a list or str");
  auto given = [&](const Value &bound, const char *what) -> std::optional<int64_t> {
    if (bound.isUndefined() || bound.isNone())
      return std::nullopt;
    return needInteger(runtime, bound, what);
  };
  const int64_t by = given(step, "a slice's step").value_or(1);
  if (by == 0)
    runtime.fail(TW_INVALID, "a slice's step is 0");

  std::vector<size_t> places; // of a str: where each code point begins, and the end
  if (text) {
    runtime.charge(1 + text->bytes.size() / 8);
    for (size_t at = 0; at < text->bytes.size(); at = codePointEnd(text->bytes, at))
      places.push_back(at);
    places.push_back(text->bytes.size());
  }
  const auto size = static_cast<int64_t>(text ? places.size() - 1 : value.list()->items.size());
  // Bounds count from the end if negative and are clamped; going backwards, -1 stands for "before the first".
  const int64_t lowest = by > 0 ? 0 : -1, highest = by > 0 ? size : size - 1;
  auto clamp = [&](std::optional<int64_t> bound, int64_t omitted) {
    if (!bound)
      return omitted;
    return std::clamp(*bound < 0 ? *bound + size : *bound, lowest, highest);
  };
  const int64_t begin = clamp(given(start, "a slice's start"), by > 0 ? 0 : size - 1);
  const int64_t end = clamp(given(stop, "a slice's stop"), by > 0 ? size : -1);
  if (text && by == 1)
    return begin < end ? runtime.text(text->slice(places[begin], places[end])) : Value(Text());

  Text characters;
  std::vector<Value> items;
  for (int64_t i = begin; by > 0 ? i < end : i > end;) {
    runtime.charge();
    if (text)
      characters.append(*text, places[i], places[i + 1]);
    else
      items.push_back(value.list()->items[i]);
    if (__builtin_add_overflow(i, by, &i))
      break;
  }
  return text ? runtime.text(std::move(characters)) : runtime.list(std::move(items));
}

} // namespace tilewright::jinja

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A handler for nlohmann's event parser, which keeps its own stack: LLVM's reader takes the last of equal keys and
// recurses as deep as the text nests.
#include "frontend/import/json/StrictJson.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include <nlohmann/json.hpp>

using namespace llvm;

namespace tilewright {

namespace {

class Builder {
public:
  explicit Builder(unsigned maxDepth) : maxDepth(maxDepth) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  /// Those with a sign; -0 is the number that no integer is.
  bool number_integer(int64_t value) { return add(value ? json::Value(value) : json::Value(-0.0)); }
  bool number_unsigned(uint64_t value) { return add(value); }
  bool number_float(double value, const std::string &) { return add(value); }
  bool string(std::string &value) { return add(std::move(value)); }
  bool binary(std::vector<uint8_t> &) { return refuse("it holds binary data"); }
  bool start_object(size_t) { return open(json::Object()); }
  bool start_array(size_t) { return open(json::Array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string &name) {
    if (stack.back().value.getAsObject()->get(name))
      return refuse("it has the key " + tilewright::quoted(name) + " twice");
    stack.back().key = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &error) {
    StringRef what = error.what();
    return refuse("at byte " + Twine(position) + ": " + what.substr(what.find("] ") + 2));
  }

  json::Value root = nullptr;
  std::string problem;

private:
  struct Open {
    json::Value value;
    std::string key; ///< of the entry that is being read
  };

  bool refuse(const Twine &what) {
    problem = what.str();
    return false;
  }

  bool add(json::Value value) {
    if (stack.empty())
      root = std::move(value);
    else if (json::Object *object = stack.back().value.getAsObject())
      object->insert({std::move(stack.back().key), std::move(value)});
    else
      stack.back().value.getAsArray()->push_back(std::move(value));
    return true;
  }

  bool open(json::Value value) {
    if (stack.size() == maxDepth)
      return refuse("it nests deeper than " + Twine(maxDepth));
    stack.push_back({std::move(value), {}});
    return true;
  }

  bool close() {
    json::Value value = std::move(stack.back().value);
    stack.pop_back();
    return add(std::move(value));
  }

  const unsigned maxDepth;
  std::vector<Open> stack;
};

} // namespace

Expected<json::Object> parseStrictJson(StringRef text, StringRef file, unsigned maxDepth) {
  // The parser takes one for the end of the text.
  if (size_t zero = text.find('\0'); zero != StringRef::npos)
    return badInput(file + ": at byte " + Twine(zero + 1) + ": found a zero byte");
  Builder builder(maxDepth);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    return badInput(file + ": " + builder.problem);
  json::Object *object = builder.root.getAsObject();
  if (!object)
    return badInput(file + ": found JSON that is no object, wanted one");
  return std::move(*object);
}

std::string shorten(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << value;
  return text.size() <= 64 ? text : text.substr(0, 64) + "...";
}

} // namespace tilewright

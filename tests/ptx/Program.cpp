// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ptx/Program.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace tilewright::ptx {

int bytesOf(Type type) {
  switch (type) {
  case Type::None:
    return 0;
  case Type::Pred:
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::Bf16:
    return 2;
  case Type::B32:
  case Type::U32:
  case Type::S32:
  case Type::F32:
  case Type::Bf16x2:
    return 4;
  default:
    return 8;
  }
}

Type typeOf(const std::string &suffix) {
  static const std::map<std::string, Type> types = {
      {"pred", Type::Pred}, {"b8", Type::B8},   {"u8", Type::U8},   {"s8", Type::S8},         {"b16", Type::B16},
      {"u16", Type::U16},   {"s16", Type::S16}, {"f16", Type::F16}, {"bf16", Type::Bf16},     {"b32", Type::B32},
      {"u32", Type::U32},   {"s32", Type::S32}, {"f32", Type::F32}, {"bf16x2", Type::Bf16x2}, {"b64", Type::B64},
      {"u64", Type::U64},   {"s64", Type::S64}, {"f64", Type::F64}};
  auto found = types.find(suffix);
  return found == types.end() ? Type::None : found->second;
}

bool Instruction::has(const std::string &part) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

namespace {

std::string trimmed(const std::string &text) {
  size_t from = text.find_first_not_of(" \t\n\r"), to = text.find_last_not_of(" \t\n\r");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> pieces;
  int depth = 0;
  std::string piece;
  for (char c : text) {
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (c == separator && depth == 0) {
      pieces.push_back(trimmed(piece));
      piece.clear();
    } else {
      piece += c;
    }
  }
  if (!trimmed(piece).empty() || !pieces.empty())
    pieces.push_back(trimmed(piece));
  return pieces;
}

std::vector<std::string> words(const std::string &text) {
  std::vector<std::string> found;
  std::string word;
  for (char c : text + " ") {
    if (!std::isspace(static_cast<unsigned char>(c))) {
      word += c;
    } else if (!word.empty()) {
      found.push_back(word);
      word.clear();
    }
  }
  return found;
}

class Parser {
public:
  explicit Parser(const std::string &source) {
    // Comments go, lines stay.
    for (size_t i = 0; i < source.size(); ++i) {
      if (source.compare(i, 2, "//") == 0)
        i = std::min(source.find('\n', i), source.size() - 1);
      text += source[i];
    }
  }

  Program run() {
    while (skipSpace()) {
      if (text.compare(at, 8, ".version") == 0 || text.compare(at, 7, ".target") == 0 ||
          text.compare(at, 13, ".address_size") == 0) {
        at = std::min(text.find('\n', at), text.size());
      } else {
        module();
      }
    }
    // Variables of unknown size share the memory behind the others.
    program.sharedBytes = (program.sharedBytes + 15) / 16 * 16;
    for (const std::string &name : externs)
      program.shared[name] = program.sharedBytes;
    return std::move(program);
  }

private:
  bool skipSpace() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
    return at < text.size();
  }

  [[noreturn]] void fail(const std::string &message) { throw Error("line " + std::to_string(line()) + ": " + message); }
  size_t line() const { return 1 + std::count(text.begin(), text.begin() + std::min(at, text.size()), '\n'); }

  /// A declaration at module scope.
  void module() {
    size_t end = text.find_first_of(";{=(", at);
    if (end == std::string::npos)
      fail("'" + trimmed(text.substr(at, 40)) + "' does not end");
    std::string head = text.substr(at, end - at);
    if (head.find(".entry") != std::string::npos) {
      at = end;
      entry(words(head).back());
      return;
    }
    if (head.find(".global") == std::string::npos && head.find(".const") == std::string::npos &&
        head.find(".shared") == std::string::npos)
      fail("module holds '" + trimmed(head) + "', which the emulator does not know");
    size_t close = text.find(';', at);
    variable(text.substr(at, close - at));
    at = close + 1;
  }

  /// .shared .align 16 .b8 name[SIZE] or with .global and "= {bytes}".
  void variable(const std::string &declaration) {
    std::string head = trimmed(declaration.substr(0, declaration.find('=')));
    size_t open = head.find('[');
    std::vector<std::string> list = words(head.substr(0, open));
    std::string name = list.back();
    Type type = Type::None;
    for (const std::string &word : list)
      if (word[0] == '.' && typeOf(word.substr(1)) != Type::None)
        type = typeOf(word.substr(1));
    uint64_t alignment = 1;
    for (size_t i = 0; i + 1 < list.size(); ++i)
      if (list[i] == ".align")
        alignment = std::stoull(list[i + 1]);
    std::string count = open == std::string::npos ? "1" : head.substr(open + 1, head.find(']') - open - 1);
    bool isShared = declaration.find(".shared") != std::string::npos;
    if (count.empty()) {
      if (!isShared)
        fail("'" + name + "' has no size");
      externs.push_back(name);
      return;
    }
    uint64_t bytes = std::stoull(count) * bytesOf(type);
    if (isShared) {
      program.sharedBytes = (program.sharedBytes + alignment - 1) / alignment * alignment;
      program.shared[name] = program.sharedBytes;
      program.sharedBytes += bytes;
      return;
    }
    std::vector<uint8_t> data;
    if (size_t equals = declaration.find('='); equals != std::string::npos) {
      std::string values = declaration.substr(equals + 1);
      values = values.substr(values.find('{') + 1);
      values = values.substr(0, values.find('}'));
      for (const std::string &value : split(values, ',')) {
        uint64_t bits = immediate(value);
        for (int i = 0; i < bytesOf(type); ++i)
          data.push_back(static_cast<uint8_t>(bits >> (8 * i)));
      }
    }
    data.resize(bytes);
    program.globals[name] = std::move(data);
  }

  void entry(const std::string &name) {
    Kernel kernel;
    kernel.name = name;
    size_t close = text.find(')', at);
    for (const std::string &parameter : split(text.substr(at + 1, close - at - 1), ','))
      if (!parameter.empty())
        addParameter(kernel, parameter);
    size_t open = text.find('{', close);
    std::vector<std::string> directives = words(text.substr(close + 1, open - close - 1));
    for (size_t i = 0; i + 1 < directives.size(); ++i)
      if (directives[i] == ".reqntid")
        kernel.threads = std::stoi(directives[i + 1]);
    at = open + 1;
    registers.clear();
    labels.clear();
    body(kernel);
    kernel.registers = static_cast<int>(registers.size());
    for (Instruction &instruction : kernel.instructions)
      for (Operand &operand : instruction.operands)
        if (operand.kind == Operand::Kind::Label) {
          auto found = labels.find(operand.name);
          if (found == labels.end())
            throw Error("'" + instruction.text + "' jumps to a label that is not there");
          operand.index = found->second;
        }
    program.kernels.push_back(std::move(kernel));
  }

  void addParameter(Kernel &kernel, const std::string &text) {
    std::vector<std::string> list = words(text);
    Type type = Type::None;
    for (const std::string &word : list)
      if (type == Type::None && word[0] == '.')
        type = typeOf(word.substr(1));
    int size = bytesOf(type);
    if (size == 0)
      fail("parameter '" + text + "' has a type that the emulator does not know");
    int offset = (kernel.parameterBytes + size - 1) / size * size;
    kernel.parameters.push_back({list.back(), offset, size});
    kernel.parameterBytes = offset + size;
  }

  void body(Kernel &kernel) {
    int depth = 1;
    while (skipSpace()) {
      char c = text[at];
      if (c == '{' || c == '}') {
        depth += c == '{' ? 1 : -1;
        ++at;
        if (depth == 0)
          return;
        continue;
      }
      // Label or statement.
      size_t end = at;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '$' || text[end] == '_'))
        ++end;
      if (end > at && end < text.size() && text[end] == ':') {
        labels[text.substr(at, end - at)] = static_cast<int>(kernel.instructions.size());
        at = end + 1;
        continue;
      }
      size_t semicolon = text.find(';', at);
      if (semicolon == std::string::npos)
        fail("statement does not end");
      statement(kernel, trimmed(text.substr(at, semicolon - at)));
      at = semicolon + 1;
    }
    fail("kernel '" + kernel.name + "' does not end");
  }

  void statement(Kernel &kernel, const std::string &line) {
    if (line.compare(0, 4, ".reg") == 0 || line.compare(0, 7, ".pragma") == 0)
      return; // registers are numbered as they occur
    if (line[0] == '.') {
      if (line.find(".shared") == std::string::npos)
        fail("'" + line + "' is not supported: kernels keep nothing in local memory");
      variable(line);
      return;
    }
    Instruction instruction;
    instruction.text = line;
    std::replace(instruction.text.begin(), instruction.text.end(), '\n', ' ');
    std::string rest = line;
    if (rest[0] == '@') {
      size_t space = rest.find_first_of(" \t");
      std::string predicate = rest.substr(1, space - 1);
      instruction.predicateNegated = predicate[0] == '!';
      instruction.predicate = numberOf(predicate.substr(instruction.predicateNegated));
      rest = trimmed(rest.substr(space));
    }
    size_t space = rest.find_first_of(" \t");
    for (const std::string &part : split(rest.substr(0, space), '.'))
      instruction.parts.push_back(part);
    for (const std::string &part : instruction.parts)
      if (Type type = typeOf(part); type != Type::None) {
        instruction.otherType = instruction.type;
        instruction.type = type;
      }
    bool jumps = instruction.name() == "bra";
    if (space != std::string::npos)
      for (std::string piece : split(rest.substr(space), ',')) {
        // shfl and setp may write a predicate too: "%r1|%p1".
        size_t bar = piece.find('|');
        if (bar != std::string::npos) {
          instruction.operands.push_back(operand(trimmed(piece.substr(0, bar))));
          piece = trimmed(piece.substr(bar + 1));
        }
        if (jumps)
          instruction.operands.push_back({Operand::Kind::Label, -1, 0, piece, false, {}});
        else if (!piece.empty())
          instruction.operands.push_back(operand(piece));
      }
    kernel.instructions.push_back(std::move(instruction));
  }

  int numberOf(const std::string &name) {
    return registers.emplace(name, static_cast<int>(registers.size())).first->second;
  }

  uint64_t immediate(const std::string &text) {
    if (text.compare(0, 2, "0f") == 0 || text.compare(0, 2, "0F") == 0 || text.compare(0, 2, "0d") == 0 ||
        text.compare(0, 2, "0D") == 0)
      return std::stoull(text.substr(2), nullptr, 16);
    if (text[0] == '-')
      return static_cast<uint64_t>(std::stoll(text, nullptr, 0));
    return std::stoull(text, nullptr, 0);
  }

  Operand operand(const std::string &text) {
    Operand result{Operand::Kind::Register, -1, 0, "", false, {}};
    if (text[0] == '{') {
      result.kind = Operand::Kind::List;
      for (const std::string &piece : split(text.substr(1, text.rfind('}') - 1), ','))
        result.list.push_back(operand(piece));
      return result;
    }
    if (text[0] == '[') {
      result.kind = Operand::Kind::Address;
      std::string inner = trimmed(text.substr(1, text.rfind(']') - 1));
      size_t sign = inner.find_first_of("+-", 1);
      std::string base = trimmed(inner.substr(0, sign));
      if (sign != std::string::npos)
        result.value = immediate(trimmed(inner.substr(sign + (inner[sign] == '+'))));
      if (base[0] == '%')
        result.index = numberOf(base);
      else if (std::isdigit(static_cast<unsigned char>(base[0])))
        result.value += immediate(base);
      else
        result.name = base;
      return result;
    }
    if (text[0] == '!') {
      result.negated = true;
      result.index = numberOf(text.substr(1));
      return result;
    }
    if (text[0] == '%') {
      static const std::vector<std::string> specials = {"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid"};
      for (const std::string &special : specials)
        if (text.compare(0, special.size(), special) == 0) {
          result.kind = Operand::Kind::Special;
          result.name = text;
          return result;
        }
      result.index = numberOf(text);
      return result;
    }
    if (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-') {
      result.kind = Operand::Kind::Immediate;
      result.value = immediate(text);
      return result;
    }
    if (text == "_") { // a sink
      result.index = numberOf("_");
      return result;
    }
    result.kind = Operand::Kind::Symbol;
    result.name = text;
    return result;
  }

  std::string text;
  size_t at = 0;
  Program program;
  std::vector<std::string> externs;
  std::map<std::string, int> registers, labels;
};

} // namespace

Program parse(const std::string &text) { return Parser(text).run(); }

} // namespace tilewright::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/conformance/Samples.h"

#include "ir/tw/Tw.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace tilewright::conformance {

using reference::RunValue;
using reference::Shape;
using reference::Tensor;

bool SampleText::mentions(StringRef name) const {
  StringRef all = text;
  for (size_t at = 0; (at = all.find(name, at)) != StringRef::npos; at += name.size()) {
    auto isWord = [&](size_t i) { return i < all.size() && (llvm::isAlnum(all[i]) || all[i] == '_' || all[i] == '.'); };
    if (!isWord(at - 1) && !isWord(at + name.size()))
      return true;
  }
  return false;
}

std::vector<SampleText> splitSamples(StringRef all) {
  std::vector<SampleText> samples;
  unsigned line = 1, first = 1;
  std::string part;
  auto finish = [&] {
    if (StringRef(part).contains("@")) { // a function; the rest is commentary
      SampleText &sample =
          samples.emplace_back(SampleText{part, first, StringRef(part).contains("expected-error"), {}});
      StringRef rest = part;
      while (rest.contains("REQUIRES: plugin-")) {
        rest = rest.split("REQUIRES: plugin-").second;
        sample.required.push_back(rest.split('\n').first.trim().str());
      }
    }
    part.clear();
    first = line + 1;
  };
  for (; !all.empty(); ++line) {
    StringRef text;
    std::tie(text, all) = all.split('\n');
    if (text.starts_with("// -----"))
      finish();
    else
      part += text.str() + "\n";
  }
  finish();
  return samples;
}

CapturedDiagnostics::CapturedDiagnostics(MLIRContext *context) : ScopedDiagnosticHandler(context) {
  setHandler([this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && first.empty())
      first = diagnostic.str();
    return success();
  });
}

std::string text(const Point &point) {
  std::string result;
  for (const auto &[symbol, size] : point)
    result += (result.empty() ? "" : ", ") + symbol + " = " + std::to_string(size);
  return result.empty() ? "fixed shapes" : result;
}

std::vector<Program> Program::parse(MLIRContext &context, const SampleText &sample, std::string &error) {
  std::vector<Program> programs;
  CapturedDiagnostics diagnostics(&context);
  auto parsed = [&] { return parseSourceString<ModuleOp>(sample.text, &context); };
  OwningOpRef<ModuleOp> module = parsed();
  if (!module) {
    error = diagnostics.error("does not parse");
    return programs;
  }
  llvm::StringSet<> called;
  module->walk([&](func::CallOp call) { called.insert(call.getCallee()); });
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.isExternal() || called.contains(function.getSymName()))
      continue;
    Program program;
    program.source = sample;
    program.owner = parsed();
    program.entry = program.owner->lookupSymbol<func::FuncOp>(function.getSymName());
    if (llvm::Error problem = program.readArguments()) {
      error = llvm::toString(std::move(problem));
      return {};
    }
    programs.push_back(std::move(program));
  }
  if (programs.empty())
    error = "has no function";
  return programs;
}

/// "N", "N+1".
static DimSize symbolicSize(StringRef text) {
  auto [symbol, rest] = text.split('+');
  DimSize size{symbol.trim().str(), 0, true};
  if (!rest.empty())
    size.isKnown = !rest.trim().getAsInteger(10, size.number);
  return size;
}

llvm::Error Program::readArguments() {
  auto know = [&](const std::string &symbol) {
    if (!symbol.empty() && !llvm::is_contained(names, symbol))
      names.push_back(symbol);
  };
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    Argument &argument = arguments.emplace_back();
    if (auto input = entry.getArgAttrOfType<StringAttr>(i, "check.input"))
      argument.input = input.getValue().str();
    auto type = dyn_cast<RankedTensorType>(entry.getArgumentTypes()[i]);
    if (!type) {
      if (!isa<tw::StateType>(entry.getArgumentTypes()[i]))
        return llvm::createStringError("argument " + std::to_string(i) + " of '" + entry.getSymName().str() +
                                       "' is no tensor and no state");
      continue;
    }
    auto symbols = entry.getArgAttrOfType<ArrayAttr>(i, "tw.symbols");
    if (symbols && static_cast<int64_t>(symbols.size()) != type.getRank())
      return llvm::createStringError("tw.symbols of argument " + std::to_string(i) + " of '" +
                                     entry.getSymName().str() + "' names " + std::to_string(symbols.size()) +
                                     " dimensions of " + std::to_string(type.getRank()));
    for (int64_t d = 0; d < type.getRank(); ++d) {
      DimSize size{"", type.getDimSize(d), true};
      if (type.isDynamicDim(d)) {
        auto named = symbols ? dyn_cast<StringAttr>(symbols[d]) : StringAttr();
        size = symbolicSize(named ? named.getValue() : "N");
      }
      know(size.symbol);
      argument.dims.push_back(size);
    }
  }
  return llvm::Error::success();
}

bool Program::hasMask() const {
  return llvm::any_of(entry.getArgumentTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getElementType().isInteger(1);
  });
}

bool Program::hasState() const {
  return llvm::any_of(entry.getArgumentTypes(), [](Type type) { return isa<tw::StateType>(type); });
}

std::optional<unsigned> Program::rowStarts() const {
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (StringRef(argument.input).starts_with("offsets "))
      return i;
  return std::nullopt;
}

Point Program::pointOfStep(int64_t rows, int64_t sequences) const {
  const Argument &starts = arguments[*rowStarts()];
  Point point;
  constexpr int64_t kOther = 3;
  for (const std::string &symbol : names)
    point[symbol] = kOther;
  point[StringRef(starts.input).split(' ').second.trim().str()] = rows;
  if (!starts.dims.empty() && !starts.dims[0].symbol.empty())
    point[starts.dims[0].symbol] = sequences + 1 - starts.dims[0].number;
  return point;
}

bool Program::contains(StringRef name) const {
  if (name.starts_with("!"))
    return source.mentions(name.drop_front());
  return owner.get()
      ->walk([&](Operation *op) {
        return op->getName().getStringRef() == name ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

std::vector<Point> Program::lattice() const {
  constexpr int64_t sizes[] = {0, 1, 3, 7, 16, 33};
  std::vector<Point> points;
  auto add = [&](const Point &point) {
    if (!llvm::is_contained(points, point))
      points.push_back(point);
  };
  auto allAt = [&](int64_t size) {
    Point point;
    for (const std::string &symbol : names)
      point[symbol] = size;
    return point;
  };
  for (int64_t size : sizes)
    add(allAt(size));
  // Each symbol alone at each size, the others apart from it and from each other.
  constexpr int64_t others[] = {3, 5, 2, 4};
  if (names.size() > 1)
    for (size_t i = 0; i < names.size(); ++i)
      for (int64_t size : sizes) {
        Point point;
        for (size_t k = 0; k < names.size(); ++k)
          point[names[k]] = k == i ? size : others[k % std::size(others)];
        add(point);
      }
  return points;
}

namespace {
/// Numbers that are the same on every machine.
class Numbers {
public:
  explicit Numbers(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint64_t next() { // splitmix64 (Steele, Lea and Flood, 2014)
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [-1, 1), a number that bf16 holds exactly, so that no type rounds it.
  double real() { return static_cast<double>(static_cast<int64_t>(next() >> 57) - 64) / 64; }

private:
  uint64_t state;
};
} // namespace

Tensor Program::fillIntegers(unsigned index, const Shape &shape, const Point &point, const Fill &fill,
                             ArrayRef<RunValue> earlier, std::string &problem) const {
  Tensor tensor = Tensor::ints(shape);
  Numbers numbers(index + 101);
  constexpr int64_t kDefaultLimit = 16;
  SmallVector<StringRef> words;
  StringRef(arguments[index].input).split(words, ' ', -1, false);
  StringRef kind = words.empty() ? "index" : words[0];
  auto past = [&](size_t sequence) { return sequence < fill.past.size() ? fill.past[sequence] : 0; };
  auto other = [&]() -> const Tensor * {
    unsigned number;
    if (words.size() > 1 && !words[1].getAsInteger(10, number) && number < earlier.size())
      return std::get_if<Tensor>(&earlier[number]);
    return nullptr;
  };
  if (kind == "index") {
    int64_t limit = kDefaultLimit;
    if (words.size() > 1 && words[1].getAsInteger(10, limit)) {
      auto found = point.find(words[1].str());
      if (found == point.end()) {
        problem = "check.input = \"" + arguments[index].input + "\": '" + words[1].str() + "' is no symbol";
        return tensor;
      }
      limit = found->second;
    }
    if (limit < 1 && tensor.size() > 0) {
      problem = "no index is below " + std::to_string(limit);
      return tensor;
    }
    for (int64_t &number : tensor.integers)
      number = numbers.next() % static_cast<uint64_t>(limit);
    return tensor;
  }
  if (kind == "offsets" && words.size() == 2 && point.contains(words[1].str())) {
    // Pieces of nearly equal length: 0, ..., the symbol's size.
    int64_t total = point.at(words[1].str()), pieces = std::max<int64_t>(tensor.size() - 1, 1);
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.integers[i] = total * i / pieces;
    if (tensor.size() == 1 && total > 0)
      problem = "rows without a sequence";
    return tensor;
  }
  if (const Tensor *offsets = other(); offsets && kind == "lengths") {
    for (int64_t i = 0; i < tensor.size() && i + 1 < offsets->size(); ++i)
      tensor.integers[i] = past(i) + offsets->integers[i + 1] - offsets->integers[i];
    return tensor;
  }
  if (const Tensor *offsets = other(); offsets && kind == "positions") {
    for (int64_t i = 0; i + 1 < offsets->size(); ++i)
      for (int64_t row = offsets->integers[i]; row < offsets->integers[i + 1] && row < tensor.size(); ++row)
        tensor.integers[row] = past(i) + row - offsets->integers[i];
    return tensor;
  }
  problem = "check.input = \"" + arguments[index].input +
            "\" is none of: index LIMIT, offsets SYMBOL, lengths ARGUMENT, positions ARGUMENT, positive";
  return tensor;
}

llvm::Expected<std::vector<RunValue>> Program::inputs(const Point &point, const Fill &fill) const {
  std::vector<RunValue> values;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(entry.getArgumentTypes()[i]);
    if (!type) {
      values.push_back(reference::StateHandle{});
      continue;
    }
    Shape shape;
    for (const DimSize &size : arguments[i].dims)
      shape.push_back(size.at(point));
    Type element = type.getElementType();
    Numbers numbers(fill.seed * 31 + i);
    if (element.isInteger(1)) {
      Tensor mask = Tensor::ints(shape);
      int64_t last = shape.empty() ? 1 : std::max<int64_t>(shape.back(), 1);
      for (int64_t k = 0; k < mask.size(); ++k)
        switch (fill.mask) {
        case Fill::Mask::Random:
          mask.integers[k] = k % last == 0 || numbers.next() % 4 != 0; // no row is all hidden
          break;
        case Fill::Mask::AllTrue:
        case Fill::Mask::AllFalse:
          mask.integers[k] = fill.mask == Fill::Mask::AllTrue;
          break;
        case Fill::Mask::FirstOnly:
          mask.integers[k] = k % last == 0;
          break;
        }
      values.push_back(std::move(mask));
    } else if (isa<FloatType>(element)) {
      Tensor tensor = Tensor::floats(shape);
      bool positive = arguments[i].input == "positive";
      for (auto [k, number] : llvm::enumerate(tensor.reals)) {
        number = positive ? 1.5 + numbers.real() / 2 : numbers.real();
        if (fill.isGeneric) // between the steps of 1/64, each at another place
          number += 0.002 + 1e-5 * static_cast<double>(k % 1000);
      }
      if (fill.nanArgument == static_cast<int>(i) && tensor.size() > 0)
        tensor.reals[tensor.size() / 2] = std::numeric_limits<double>::quiet_NaN();
      values.push_back(std::move(tensor));
    } else if (isa<IntegerType>(element)) {
      std::string problem;
      Tensor tensor = fillIntegers(i, shape, point, fill, values, problem);
      if (!problem.empty())
        return llvm::createStringError(problem);
      values.push_back(std::move(tensor));
    } else {
      return llvm::createStringError("argument " + std::to_string(i) + " of '" + name() +
                                     "' has a storage type; load such a weight from a ml_program.global");
    }
  }
  return values;
}

llvm::Expected<ArrayRef<uint8_t>> SampleWeights::bytes(ml_program::GlobalOp global) {
  auto [entry, isNew] = made.try_emplace(global.getSymName().str());
  std::vector<uint8_t> &bytes = entry->second;
  if (!isNew)
    return ArrayRef<uint8_t>(bytes);
  auto type = dyn_cast<RankedTensorType>(global.getType());
  // A compiled program's global has its packed type, and the stored one as attributes.
  auto element = global->getAttrOfType<TypeAttr>("tw.element");
  auto shape = global->getAttrOfType<DenseI64ArrayAttr>("tw.shape");
  if (element && shape)
    type = RankedTensorType::get(shape.asArrayRef(), element.getValue());
  auto storage = type ? dyn_cast<StorageType>(type.getElementType()) : StorageType();
  if (!storage || !type.hasStaticShape())
    return llvm::createStringError("weight '" + global.getSymName().str() + "' has no storage type and static shape");
  // Random bytes make wild scales: a block is drawn until it decodes to moderate numbers.
  int64_t elements = storage.getBlockElements(), size = storage.getBlockBytes();
  constexpr int kDraws = 1000;
  constexpr float kLargest = 4, kSmallest = 1.0f / 256;
  Numbers numbers(type.getNumElements());
  std::vector<float> decoded(elements);
  for (int64_t block = 0; block < type.getNumElements() / elements; ++block) {
    std::vector<uint8_t> drawn(size);
    for (int draw = 0;; ++draw) {
      for (uint8_t &byte : drawn)
        byte = numbers.next() >> 56;
      storage.decodeBlock(drawn.data(), decoded.data());
      float largest = 0;
      for (float number : decoded)
        largest = std::isfinite(number) ? std::max(largest, std::fabs(number)) : HUGE_VALF;
      if (largest <= kLargest && largest >= kSmallest)
        break;
      if (draw == kDraws)
        return llvm::createStringError("no random block of the storage type decodes to moderate numbers");
    }
    bytes.insert(bytes.end(), drawn.begin(), drawn.end());
  }
  return ArrayRef<uint8_t>(bytes);
}

} // namespace tilewright::conformance

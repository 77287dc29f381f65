// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/Channels.h"
#include "plugins/quantization/Encode.h"
#include "plugins/quantization/Quantization.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstring>

namespace tilewright::quantization {

using namespace mlir;

namespace {
/// One format of a case of blocks: KIND.raw, .dequant, .x and .y, and perhaps bytes that nobody has quantised, and
/// numbers that the blocks are of.
class Kind {
public:
  Kind(const Format &format) : format(format), name(StringRef(format.name).upper()) {}

  std::string tensor(StringRef part) const { return name + "." + part.str(); }
  /// Whether the case has this kind, with blocks of the format's size.
  bool isIn(GoldenCase &c) const {
    if (!c.has(name))
      return false;
    const uint64_t elements = c.integer(tensor("block")), bytes = c.integer(tensor("bytes"));
    if (elements * format.blockBytes != bytes * format.blockElements)
      c.unsupported(name + " of blocks of " + Twine(elements) + " elements in " + Twine(bytes) + " bytes");
    return true;
  }
  void check(GoldenCase &c) const;
  void build(GoldenCase &c) const;

private:
  static std::vector<uint8_t> bytesOf(const GoldenTensor &tensor) {
    return {tensor.integers.begin(), tensor.integers.end()};
  }
  /// Every bit of what the blocks mean.
  void checkDecoding(GoldenCase &c, const GoldenTensor *raw, const GoldenTensor *wanted) const;

  const Format &format;
  std::string name;
};

void Kind::checkDecoding(GoldenCase &c, const GoldenTensor *raw, const GoldenTensor *wanted) const {
  if (!raw || !wanted)
    return;
  const std::vector<uint8_t> bytes = bytesOf(*raw);
  std::vector<float> values(bytes.size() / format.blockBytes * format.blockElements);
  if (bytes.size() % format.blockBytes != 0 || values.size() != wanted->reals.size())
    return c.wrong(name + ": " + Twine(bytes.size()) + " bytes are no blocks of " + Twine(wanted->reals.size()) +
                   " elements");
  for (size_t block = 0; block * format.blockBytes < bytes.size(); ++block)
    decodeBlock(format, bytes.data() + block * format.blockBytes, values.data() + block * format.blockElements);
  for (auto [i, value] : llvm::enumerate(values)) {
    const float other = static_cast<float>(wanted->reals[i]);
    if (std::memcmp(&value, &other, sizeof value) != 0 && !(std::isnan(value) && std::isnan(other)))
      return c.wrong(name + ": element " + Twine(i) + " is " + std::to_string(value) + ", wanted " +
                     std::to_string(other));
  }
}

void Kind::check(GoldenCase &c) const {
  checkDecoding(c, c.stored(tensor("raw")), c.stored(tensor("dequant")));
  checkDecoding(c, c.stored(tensor("random_raw")), c.stored(tensor("random_dequant")));
  const GoldenTensor *source = c.stored(tensor("source"));
  if (!source || !canEncode(format))
    return;
  const std::vector<uint8_t> wanted = bytesOf(*c.stored(tensor("raw")));
  const std::vector<float> row(source->reals.begin(), source->reals.end());
  if (row.size() % format.blockElements != 0 || row.size() / format.blockElements * format.blockBytes != wanted.size())
    return c.wrong(name + ": " + Twine(wanted.size()) + " bytes are no blocks of " + Twine(row.size()) + " elements");
  if (!llvm::all_of(row, [](float number) { return std::isfinite(number); }))
    return c.wrong(name + ": a number to encode is not finite");
  std::vector<uint8_t> found(wanted.size());
  encodeRow(format, row, found.data());
  if (found != wanted)
    c.wrong(name + ": encoding gives other blocks than the stored ones");
}

void Kind::build(GoldenCase &c) const {
  const GoldenTensor &raw = *c.stored(tensor("raw")), &values = *c.stored(tensor("dequant"));
  Type element = format.kind == FormatKind::F16 ? Type(c.b.getF16Type())
                 : format.kind == FormatKind::BF16
                     ? Type(c.b.getBF16Type())
                     : parseType("!quantization." + std::string(format.name), c.b.getContext());
  Value weight = c.weight(name, RankedTensorType::get(values.shape, element), bytesOf(raw));
  c.output(tensor("y"), tw::linear(c.b, c.value(tensor("x")), weight)); // [N, O]
}

/// Blocks of many formats: they decode to the stored values and are what encoding gives, and the product is by them.
void buildGoldenBlocks(GoldenCase &c) {
  std::vector<Kind> kinds;
  for (const Format &format : allFormats())
    if (Kind kind(format); kind.isIn(c))
      kinds.push_back(kind);
  std::vector<std::string> names;
  names.reserve(6 * kinds.size());
  SmallVector<GoldenFacts::Input> required, optional;
  auto add = [&](SmallVector<GoldenFacts::Input> &inputs, std::string name, bool isStored) {
    names.push_back(std::move(name));
    inputs.push_back({names.back(), 2, isStored});
  };
  for (const Kind &kind : kinds) {
    add(required, kind.tensor("x"), /*isStored=*/false);
    for (StringRef part : {"raw", "dequant"})
      add(required, kind.tensor(part), /*isStored=*/true);
    for (StringRef part : {"random_raw", "random_dequant", "source"})
      add(optional, kind.tensor(part), /*isStored=*/true);
  }
  if (!c.inputs(required, optional))
    return;
  for (const Kind &kind : kinds) {
    kind.check(c);
    kind.build(c);
  }
}

/// Signed bytes with one scale for each output channel: the weight is quantised here and must give the stored bytes and
/// scales; the product is by these.
void buildGoldenChannels(GoldenCase &c) {
  c.oneOf("form", {"int8 per output channel, symmetric, scale = absmax/127, round half to even, zero row -> scale 0"});
  if (!c.inputs({{"x", 2}, {"scale", 1}, {"weight", 2, /*isStored=*/true}, {"qweight", 2, /*isStored=*/true}}))
    return;
  const GoldenTensor &weight = *c.stored("weight"), &wanted = *c.stored("qweight"), &scales = *c.stored("scale");
  const int64_t rows = weight.shape[0], columns = weight.shape[1];
  if (!c.holdsFloats("weight", {rows, columns}) || !c.holdsIntegers("qweight", {rows, columns}) ||
      !c.holdsFloats("scale", {rows}))
    return;
  std::vector<int8_t> quants(weight.reals.size());
  for (int64_t row = 0; row < rows; ++row) {
    const auto begin = weight.reals.begin() + row * columns;
    const std::vector<float> channel(begin, begin + columns);
    const float scale = quantizeChannel(channel, std::span(quants).subspan(row * columns, columns));
    if (scale != static_cast<float>(scales.reals[row]))
      return c.wrong("the scale of channel " + llvm::Twine(row) + " is not the stored one");
  }
  for (auto [i, quant] : llvm::enumerate(quants))
    if (quant != wanted.integers[i])
      return c.wrong("quant " + llvm::Twine(i) + " is " + llvm::Twine(int(quant)) + ", wanted " +
                     llvm::Twine(wanted.integers[i]));
  auto type = RankedTensorType::get({rows, columns}, Int8Type::get(c.b.getContext()));
  Value w = c.weight("w", type, std::vector<uint8_t>(quants.begin(), quants.end()));
  Value product = tw::linear(c.b, c.value("x"), w); // [N, O]
  c.output("y", tw::MulOp::create(c.b, product, tw::broadcast(c.b, c.value("scale"), product, {1})));
}
} // namespace

void buildGolden(GoldenCase &c) {
  if (c.has("form"))
    buildGoldenChannels(c);
  else
    buildGoldenBlocks(c);
}

} // namespace tilewright::quantization

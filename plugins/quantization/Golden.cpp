// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/quantization/Channels.h"
#include "plugins/quantization/Quantization.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

namespace tilewright::quantization {

using namespace mlir;

// The weight is quantised here and must give the stored bytes and scales; the product is by these.
void buildGoldenChannels(GoldenCase &c) {
  c.oneOf("form", {"int8 per output channel, symmetric, scale = absmax/127, round half to even, zero row -> scale 0"});
  if (!c.inputs({{"x", 2}, {"scale", 1}, {"weight", 2, /*isStored=*/true}, {"qweight", 2, /*isStored=*/true}}))
    return;
  const GoldenTensor &weight = *c.stored("weight"), &wanted = *c.stored("qweight"), &scales = *c.stored("scale");
  const int64_t rows = weight.shape[0], columns = weight.shape[1];
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

} // namespace tilewright::quantization

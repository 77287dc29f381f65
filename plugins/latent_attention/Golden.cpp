// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/latent_attention/LatentAttention.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"

#include <cmath>
#include <numbers>

namespace tilewright::latent_attention {

using namespace mlir;
using tw::tensorType;

namespace {

void buildLatentArray(GoldenCase &c) {
  int64_t heads = c.count("H"), width = c.count("D"), number = c.count("N");
  if (!c.inputs({{"x", 3}, {"latents", 2}, {"wq", 2}, {"wk", 2}, {"wv", 2}, {"wo", 2}},
                {{"bq", 1}, {"bk", 1}, {"bv", 1}, {"bo", 1}, {"mask", 2}}))
    return;
  Value x = c.value("x"), latents = c.value("latents"), output = c.value("wo"), mask = c.value("mask");
  ArrayRef<int64_t> shape = tensorType(x).getShape();
  if (tensorType(latents).getDimSize(0) != number)
    return c.unsupported("latents whose number is not N");
  if (mask)
    mask = tw::reshape(c.b, mask, {shape[0], 1, shape[1]});
  auto op = LatentArrayOp::create(c.b, tensorType(x).clone({shape[0], shape[1], tensorType(output).getDimSize(0)}),
                                  tensorType(x).clone({shape[0], heads, number, width}), x, latents, c.value("wq"),
                                  c.value("wk"), c.value("wv"), output, c.value("bq"), c.value("bk"), c.value("bv"),
                                  c.value("bo"), Value(), Value(), Value(), Value(), Value(), Value(), mask, heads,
                                  FloatAttr(), "updated", "none", IntegerAttr());
  c.output("y", op.getResult());
  c.output("latent_out", op.getUpdated());
}

/// Length scaling of rotary angles by parts (Peng et al., 2023, arXiv 2309.00071).
struct Yarn {
  double factor, length, fast, slow, mscale, mscaleAllDim;

  static double attention(double factor, double mscale) {
    return factor > 1 ? 0.1 * mscale * std::log(factor) + 1 : 1.0;
  }
  /// The tables' factor, and that of the scores.
  double ofTables() const { return attention(factor, mscale) / attention(factor, mscaleAllDim); }
  double ofScores() const { return std::pow(attention(factor, mscaleAllDim), 2); }
};

/// Angle of each pair per position.
SmallVector<double> rates(double base, int64_t dim, const std::optional<Yarn> &yarn) {
  auto pairThatTurns = [&](double times) { // as often within the original length
    return dim * std::log(yarn->length / (times * 2 * std::numbers::pi)) / (2 * std::log(base));
  };
  SmallVector<double> all;
  for (int64_t i = 0; i < dim / 2; ++i) {
    double rate = std::pow(base, -2.0 * i / dim);
    if (yarn) {
      double low = std::max(std::floor(pairThatTurns(yarn->fast)), 0.0);
      double high = std::min(std::ceil(pairThatTurns(yarn->slow)), dim - 1.0);
      double ramp = std::clamp((i - low) / (high == low ? 0.001 : high - low), 0.0, 1.0);
      rate = rate / yarn->factor * ramp + rate * (1 - ramp);
    }
    all.push_back(rate);
  }
  return all;
}

/// Attention of low rank around its op: projections, norms, rotation.
class LowRank {
public:
  LowRank(GoldenCase &c) : c(c), b(c.b) {}

  void build();

private:
  Value linear(Value x, StringRef weight) { return tw::linear(b, x, c.value(weight)); }
  Value norm(Value x, StringRef weight) { return tw::rmsNorm(b, x, c.value(weight), epsilon); }
  /// Cosines or sines [T, R / 2] of positions 0 .. T - 1.
  Value table(double (*function)(double));
  /// `x` [..., R], whose dimension `rows` counts positions, turned.
  Value rotate(Value x, int64_t rows);

  GoldenCase &c;
  ImplicitLocOpBuilder &b;
  double base, epsilon;
  std::optional<Yarn> yarn;
  bool interleaved;
  int64_t rope, length;
};

Value LowRank::table(double (*function)(double)) {
  SmallVector<double> rate = rates(base, rope, yarn), numbers;
  for (int64_t position = 0; position < length; ++position)
    for (double each : rate)
      numbers.push_back(function(position * each) * (yarn ? yarn->ofTables() : 1.0));
  auto type = RankedTensorType::get({length, rope / 2}, b.getF64Type());
  Value table = tw::ConstantOp::create(b, type, DenseElementsAttr::get(type, ArrayRef<double>(numbers)));
  return tw::castTo(b, table, b.getF32Type());
}

Value LowRank::rotate(Value x, int64_t rows) {
  SmallVector<int64_t> shape(tensorType(x).getShape()), pairs(shape), half(shape);
  int64_t last = shape.size() - 1;
  half[last] = rope / 2;
  pairs[last] = interleaved ? rope / 2 : 2;
  pairs.push_back(interleaved ? 2 : rope / 2);
  int64_t which = interleaved ? last + 1 : last; // the dimension of a pair's two elements
  Value apart = tw::reshape(b, x, pairs);
  Value x1 = tw::reshape(b, tw::slice(b, apart, which, 0, 1), half),
        x2 = tw::reshape(b, tw::slice(b, apart, which, 1, 1), half);
  Value cosine = tw::broadcast(b, table(std::cos), x1, {rows, last}),
        sine = tw::broadcast(b, table(std::sin), x1, {rows, last});
  auto mul = [&](Value l, Value r) -> Value { return tw::MulOp::create(b, l, r); };
  Value y1 = tw::SubOp::create(b, mul(x1, cosine), mul(x2, sine)),
        y2 = tw::AddOp::create(b, mul(x2, cosine), mul(x1, sine));
  half.insert(half.begin() + which, 1);
  return tw::reshape(b, tw::concat(b, which, {tw::reshape(b, y1, half), tw::reshape(b, y2, half)}), shape);
}

void LowRank::build() {
  int64_t heads = c.count("H"), nope = c.count("d_nope"), value = c.count("d_v"), rank = c.count("kv_rank");
  rope = c.count("d_rope", 2);
  bool lowRankQuery = c.count("q_rank", 0, 0) != 0;
  double scale = c.number("scale");
  epsilon = c.number("lora_eps");
  base = c.number("base");
  interleaved = c.flag("interleave");
  if (c.number("yarn.factor", 0.0) != 0.0)
    yarn = Yarn{c.number("yarn.factor"),    c.number("yarn.original_max_position_embeddings"),
                c.number("yarn.beta_fast"), c.number("yarn.beta_slow"),
                c.number("yarn.mscale"),    c.number("yarn.mscale_all_dim")};
  SmallVector<GoldenCase::Input> inputs = {{"x", 3}, {"kv_a", 2}, {"kv_a_norm", 1}, {"kv_b", 2}, {"o", 2}};
  if (lowRankQuery)
    llvm::append_range(inputs, ArrayRef<GoldenCase::Input>{{"q_a", 2}, {"q_a_norm", 1}, {"q_b", 2}});
  else
    inputs.push_back({"q", 2});
  // The sizes of the tables of angles are made of these attributes alone.
  if (!c.inputs(inputs) || !c.holdsFloats("kv_a", {rank + rope, ShapedType::kDynamic}))
    return;
  // Of the whole query head, and of the length scaling's temperature.
  double wanted = (yarn ? yarn->ofScores() : 1.0) / std::sqrt(static_cast<double>(nope + rope));
  if (std::abs(scale - wanted) > 1e-12)
    return c.wrong("scale is " + std::to_string(scale) + ", wanted " + std::to_string(wanted));

  Value x = c.value("x");
  int64_t batch = tensorType(x).getDimSize(0);
  length = tensorType(x).getDimSize(1);
  Value q = lowRankQuery ? linear(norm(linear(x, "q_a"), "q_a_norm"), "q_b") : linear(x, "q");
  q = tw::splitHeads(b, q, heads);
  Value qNope = tw::slice(b, q, 3, 0, nope), qRope = rotate(tw::slice(b, q, 3, nope, rope), 2);
  Value down = linear(x, "kv_a");
  Value latent = norm(tw::slice(b, down, 2, 0, rank), "kv_a_norm"),
        kRope = rotate(tw::slice(b, down, 2, rank, rope), 1);
  c.output("c_kv", latent);
  c.output("k_rope", kRope);
  for (StringRef form : {"expanded", "absorbed"}) {
    Value o = AttentionOp::create(b, tensorType(x).clone({batch, heads, length, value}), qNope, qRope, c.value("kv_b"),
                                  latent, kRope, Value(), Value(), Value(), Value(), Value(), b.getF64FloatAttr(scale),
                                  "end", IntegerAttr(), form);
    c.output("y", linear(tw::joinHeads(b, o), "o"));
  }
}

} // namespace

void buildGolden(GoldenCase &c) {
  std::string form = c.oneOf("form", {"latent_array", "low_rank"});
  if (form == "latent_array")
    buildLatentArray(c);
  else
    LowRank(c).build();
}

} // namespace tilewright::latent_attention

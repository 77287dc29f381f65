// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/position_encoding/PositionEncoding.h"

#include "frontend/api/GoldenCase.h"
#include "ir/tw/Layers.h"
#include "ir/tw/Shapes.h"
#include "plugins/position_encoding/Places.h"

#include <numeric>

namespace tilewright::position_encoding {

using namespace mlir;

namespace {

/// first, first + 1, ...: [count].
Value positionsFrom(GoldenCase &c, int64_t first, int64_t count) {
  SmallVector<int32_t> positions(count);
  std::iota(positions.begin(), positions.end(), first);
  auto type = RankedTensorType::get({count}, c.b.getI32Type());
  return tw::ConstantOp::create(c.b, type, DenseElementsAttr::get(type, ArrayRef<int32_t>(positions)));
}

/// Positions of queries and keys, whose last ones coincide.
struct Positions {
  Value queries, keys;
};
Positions positionsOf(GoldenCase &c) {
  int64_t rows = tw::tensorType(c.value("q")).getDimSize(2), keys = tw::tensorType(c.value("k")).getDimSize(2);
  return {positionsFrom(c, keys - rows, rows), positionsFrom(c, 0, keys)};
}

RankedTensorType pairType(GoldenCase &c, Type element, int64_t heads = 0) {
  int64_t rows = tw::tensorType(c.value("q")).getDimSize(2), keys = tw::tensorType(c.value("k")).getDimSize(2);
  return heads ? RankedTensorType::get({1, heads, rows, keys}, element) : RankedTensorType::get({rows, keys}, element);
}

double defaultScale(GoldenCase &c) { return c.defaultScale(c.sizes("q")[3]); }

Value attentionWithBias(GoldenCase &c, Value bias, double scale, StringRef causal) {
  tw::AttentionOptions options;
  options.bias = bias;
  options.scale = scale;
  options.causal = causal;
  return tw::attention(c.b, c.value("q"), c.value("k"), c.value("v"), options);
}

Value relationAttention(GoldenCase &c, Value relation, Value keyTable, Value valueTable, Value bias, StringRef causal) {
  return RelationAttentionOp::create(c.b, c.value("q").getType(), c.value("q"), c.value("k"), c.value("v"), relation,
                                     keyTable, valueTable, bias, Value(), APFloat(defaultScale(c)), causal);
}

void buildSinusoidal(GoldenCase &c) {
  double base = c.number("base");
  int64_t dim = c.count("d"), count = c.count("n", 0);
  std::string layout = c.oneOf("layout", {"interleaved", "half"});
  RankedTensorType type = c.outputType("table");
  if (!c.inputs({}) || !type)
    return;
  if (type.getShape() != ArrayRef<int64_t>{count, dim})
    return c.unsupported("output table is " + tw::shapeText(type.getShape()) + ", wanted n x d, " + Twine(count) + "x" +
                         Twine(dim));
  c.output("table", SinusoidalOp::create(c.b, type, positionsFrom(c, 0, count), dim, APFloat(base), StringRef(layout)));
}

void buildLearned(GoldenCase &c) {
  int64_t count = c.integer("n");
  if (!c.inputs({{"x", 3}, {"table", 2}, {"position_ids", 2}}))
    return;
  Value x = c.value("x"), table = c.value("table");
  if (tw::tensorType(table).getDimSize(0) != count)
    return c.unsupported("n other than the rows of the table");
  c.output("y", tw::AddOp::create(c.b, x, LearnedOp::create(c.b, x.getType(), table, c.value("position_ids"))));
}

void buildShaw(GoldenCase &c) {
  int64_t clip = c.count("clip", 0);
  std::string causal = c.oneOf("causal", {"none", "end", "start"});
  c.oneOf("index", {"clip(j - (i + S - T), -c, c) + c"});
  if (!c.inputs({{"q", 4}, {"k", 4}, {"v", 4}, {"rel_k", 2}, {"rel_v", 2}}) ||
      !c.holdsFloats("rel_k", {2 * clip + 1, ShapedType::kDynamic}) ||
      !c.holdsFloats("rel_v", {2 * clip + 1, ShapedType::kDynamic}))
    return;
  auto [queries, keys] = positionsOf(c);
  Value relation = OffsetsOp::create(c.b, pairType(c, c.b.getI32Type()), queries, keys, clip);
  c.output("o", relationAttention(c, relation, c.value("rel_k"), c.value("rel_v"), Value(), causal));
}

void buildT5(GoldenCase &c) {
  bool bidirectional = c.flag("bidirectional");
  int64_t buckets = c.count("num_buckets", 2), far = c.integer("max_distance");
  double scale = c.number("scale");
  std::string causal = c.oneOf("causal", {"none", "end", "start"});
  c.oneOf("relative", {"j - (i + S - T)"});
  if (!c.inputs({{"q", 4}, {"k", 4}, {"v", 4}, {"table", 2}}) ||
      !c.holdsFloats("table", {buckets, ShapedType::kDynamic}))
    return;
  auto [queries, keys] = positionsOf(c);
  Value relation = T5BucketsOp::create(c.b, pairType(c, c.b.getI32Type()), queries, keys, bidirectional, buckets, far);
  RankedTensorType table = tw::tensorType(c.value("table"));
  Value bias =
      RelationBiasOp::create(c.b, pairType(c, table.getElementType(), table.getDimSize(1)), relation, c.value("table"));
  c.output("o", attentionWithBias(c, bias, scale, causal));
}

void buildAlibi(GoldenCase &c) {
  int64_t heads = c.count("H");
  std::string causal = c.oneOf("causal", {"none", "end", "start"});
  c.oneOf("bias", {"slope_h * (j - (i + S - T))"});
  if (!c.inputs({{"q", 4}, {"k", 4}, {"v", 4}}))
    return;
  auto [queries, keys] = positionsOf(c);
  Value bias = AlibiOp::create(c.b, pairType(c, c.b.getF32Type(), heads), queries, keys, heads);
  c.output("o", attentionWithBias(c, bias, defaultScale(c), causal));
}

void buildRelation(GoldenCase &c) {
  int64_t relations = c.integer("R");
  if (!c.inputs({{"q", 4}, {"k", 4}, {"v", 4}, {"relation"}, {"table_k", 2}, {"table_v", 2}, {"table_bias", 2}}))
    return;
  Value relation = c.value("relation"), table = c.value("table_bias");
  if (ArrayRef<int64_t> sizes = c.sizes("relation"); sizes.size() == 3 && sizes[0] == 1) // the same for each of a batch
    relation = tw::reshape(c.b, relation, sizes.drop_front());
  if (tw::tensorType(table).getDimSize(0) != relations)
    return c.unsupported("R other than the rows of the tables");
  SmallVector<int64_t> shape = biasShape(tw::tensorType(relation).getShape(), tw::tensorType(table).getDimSize(1));
  Value bias = RelationBiasOp::create(c.b, tw::tensorType(table).clone(shape), relation, table);
  c.output("o", relationAttention(c, relation, c.value("table_k"), c.value("table_v"), bias, "none"));
  c.output("o_bias_only", attentionWithBias(c, bias, defaultScale(c), "none"));
}

} // namespace

void addGolden(GoldenRegistry &registry) {
  registry.add("positions_sinusoidal", buildSinusoidal);
  registry.add("positions_learned", buildLearned);
  registry.add("positions_shaw", buildShaw);
  registry.add("positions_t5_buckets", buildT5);
  registry.add("positions_alibi", buildAlibi);
  registry.add("positions_relation_matrix", buildRelation);
}

} // namespace tilewright::position_encoding

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/AttentionCase.h"

#include "ir/tw/Build.h"

using namespace mlir;

namespace tilewright {

/// K/V heads 0, 1, 0, 1, ... for the query heads in turn: key/value head h % Hkv, which is not GQA. Null, and
/// unsupported, where that gives other heads than the queries'.
static Value tiledHeads(GoldenCase &c, StringRef input, int64_t dim, int64_t heads) {
  const int64_t stored = c.sizes(input)[dim];
  if (stored < 1 || heads < 1 || heads % stored != 0) {
    c.unsupported("kv_map = tile of " + Twine(stored) + " heads of input " + input + " to " + Twine(heads) +
                  " query heads, wanted a multiple");
    return {};
  }
  return stored == heads ? c.value(input) : tw::concat(c.b, dim, SmallVector<Value>(heads / stored, c.value(input)));
}

/// log(exp(lse) + exp(sink)), lse [B, H, T], sinks [H].
static Value withSink(ImplicitLocOpBuilder &b, Value lse, Value sinks) {
  Value sink = tw::broadcast(b, sinks, lse, {1});
  Value above = tw::MaximumOp::create(b, lse, sink), below = tw::MinimumOp::create(b, lse, sink);
  Value rest = tw::ExpOp::create(b, tw::SubOp::create(b, below, above));
  return tw::AddOp::create(b, above, tw::LogOp::create(b, tw::AddOp::create(b, tw::splat(b, 1.0, rest), rest)));
}

tw::AttentionOp makeAttentionCase(GoldenCase &c) {
  std::string causal = c.oneOf("causal", {"none", "end", "start"});
  std::string kvMap = c.oneOf("kv_map", {"group", "tile"});
  const std::string layout = StringRef(c.oneOf("layout", {"BHTD", "BTHD", "BT3HD"})).lower();
  auto span = [&](StringRef key) { return c.count(key, 1, 0, std::numeric_limits<int64_t>::max()); };
  const int64_t window = span("window"), chunk = span("chunk"); // 0: none
  double softcap = c.number("softcap", 0.0), scale = c.has("scale") ? c.number("scale") : 0.0;
  const bool hasScale = c.has("scale"), isPacked = layout == "bt3hd", headsFirst = layout == "bhtd";
  SmallVector<GoldenCase::Input> main = {{"q", 4}, {"k", 4}, {"v", 4}};
  if (isPacked)
    main = {{"qkv", 5}};
  if (!c.inputs(main, {{"mask"},
                       {"bias"},
                       {"sinks", 1},
                       {"prefix_len", 1},
                       {"kv_start", 1},
                       {"kv_end", 1},
                       {"cu_seqlens_q", 1},
                       {"cu_seqlens_kv", 1}}))
    return {};
  const int64_t headDim = headsFirst ? 1 : 2, rowDim = headsFirst ? 2 : 1;
  Value q = c.value(isPacked ? "qkv" : "q"), k = c.value("k"), v = c.value("v");
  RankedTensorType type = tw::tensorType(q);
  SmallVector<int64_t> shape(type.getShape()); // of the result, in the end
  if (isPacked)
    shape.erase(shape.begin() + 2); // each head has its own keys: tiled or grouped is one
  else if (kvMap == "tile") {
    k = tiledHeads(c, "k", headDim, shape[headDim]);
    v = tiledHeads(c, "v", headDim, shape[headDim]);
    if (!k || !v)
      return {};
  }
  if (!hasScale)
    scale = c.defaultScale(shape[3]);
  if (!isPacked)
    shape[3] = tw::tensorType(v).getDimSize(3);
  const int64_t batch = shape[0], heads = shape[headDim], rows = shape[rowDim],
                keys = isPacked ? rows : tw::tensorType(k).getDimSize(rowDim);
  SmallVector<Type> types = {type.clone(shape)};
  if (c.outputType("lse"))
    types.push_back(RankedTensorType::get({batch, heads, rows}, c.b.getF32Type()));
  if (c.outputType("weights"))
    types.push_back(type.clone({batch, heads, rows, keys}));

  OperationState state(c.b.getLoc(), tw::AttentionOp::getOperationName());
  tw::AttentionOp::build(c.b, state, types[0], q, k, v, scale);
  state.types.assign(types.begin(), types.end());
  auto op = cast<tw::AttentionOp>(c.b.create(state));
  op.setLayout(layout);
  op.setCausal(causal);
  if (window)
    op.setWindow(window);
  if (chunk)
    op.setChunk(chunk);
  if (softcap != 0)
    op.setSoftcapAttr(c.b.getF64FloatAttr(softcap));
  using Group = MutableOperandRange (tw::AttentionOp::*)();
  for (auto [name, group] : {std::pair<StringRef, Group>("mask", &tw::AttentionOp::getMaskMutable),
                             {"bias", &tw::AttentionOp::getBiasMutable},
                             {"sinks", &tw::AttentionOp::getSinksMutable},
                             {"prefix_len", &tw::AttentionOp::getPrefixLenMutable},
                             {"kv_start", &tw::AttentionOp::getKvStartMutable},
                             {"kv_end", &tw::AttentionOp::getKvEndMutable},
                             {"cu_seqlens_q", &tw::AttentionOp::getCuSeqlensQMutable},
                             {"cu_seqlens_kv", &tw::AttentionOp::getCuSeqlensKvMutable}})
    if (Value value = c.value(name))
      (op.*group)().assign(value);
  return op;
}

void giveAttentionCase(GoldenCase &c, ValueRange results, Value sinks) {
  c.output("o", results[0]);
  Value lse = c.outputType("lse") ? results[1] : Value();
  if (lse)
    c.output("lse", lse);
  if (c.outputType("weights"))
    c.output("weights", results.back());
  if (c.outputType("lse_with_sink"))
    c.output("lse_with_sink", withSink(c.b, lse, sinks));
}

} // namespace tilewright

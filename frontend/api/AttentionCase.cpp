// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/AttentionCase.h"

#include "ir/tw/Build.h"

#include <cmath>

using namespace mlir;

namespace tilewright {

/// K/V heads 0, 1, 0, 1, ... for the query heads in turn: key/value head h % Hkv, which is not GQA.
static Value tiledHeads(ImplicitLocOpBuilder &b, Value value, int64_t heads) {
  int64_t times = heads / tw::tensorType(value).getDimSize(1);
  return times == 1 ? value : tw::concat(b, 1, SmallVector<Value>(times, value));
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
  c.oneOf("layout", {"BHTD"});
  int64_t window = c.integer("window", 0), chunk = c.integer("chunk", 0);
  double softcap = c.number("softcap", 0.0), scale = c.has("scale") ? c.number("scale") : 0.0;
  const bool hasScale = c.has("scale");
  if (!c.inputs({{"q", 4}, {"k", 4}, {"v", 4}}, {{"mask"},
                                                 {"bias"},
                                                 {"sinks", 1},
                                                 {"prefix_len", 1},
                                                 {"kv_start", 1},
                                                 {"kv_end", 1},
                                                 {"cu_seqlens_q", 1},
                                                 {"cu_seqlens_kv", 1}}))
    return {};
  Value q = c.value("q"), k = c.value("k"), v = c.value("v");
  RankedTensorType type = tw::tensorType(q);
  if (kvMap == "tile") {
    k = tiledHeads(c.b, k, type.getDimSize(1));
    v = tiledHeads(c.b, v, type.getDimSize(1));
  }
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Type> types = {type.clone({shape[0], shape[1], shape[2], tw::tensorType(v).getDimSize(3)})};
  if (c.outputType("lse"))
    types.push_back(RankedTensorType::get({shape[0], shape[1], shape[2]}, c.b.getF32Type()));
  if (c.outputType("weights"))
    types.push_back(type.clone({shape[0], shape[1], shape[2], tw::tensorType(k).getDimSize(2)}));
  if (!hasScale)
    scale = 1 / std::sqrt(static_cast<double>(shape[3]));

  OperationState state(c.b.getLoc(), tw::AttentionOp::getOperationName());
  tw::AttentionOp::build(c.b, state, types[0], q, k, v, scale);
  state.types.assign(types.begin(), types.end());
  auto op = cast<tw::AttentionOp>(c.b.create(state));
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/rotary_embedding/RotaryEmbedding.h"
#include "plugins/rotary_embedding/Scaling.h"

#include "frontend/api/GoldenCase.h"

namespace tilewright::rotary_embedding {

using namespace mlir;

namespace {

/// The attributes of rotary_embedding.factors that the case's kind has.
SmallVector<NamedAttribute> readScaling(GoldenCase &c, StringRef kind) {
  SmallVector<NamedAttribute> read;
  auto set = [&](StringRef name, Attribute value) { read.push_back(c.b.getNamedAttr(name, value)); };
  auto number = [&](StringRef name) { set(name, c.b.getF64FloatAttr(c.number(name))); };
  auto original = [&](StringRef key) {
    set("original_max_position_embeddings", c.b.getI64IntegerAttr(c.integer(key)));
  };
  if (kind == "linear" || kind == "dynamic" || kind == "yarn" || kind == "llama3")
    number("factor");
  if (kind == "dynamic")
    original("max_pos");
  if (kind == "yarn" || kind == "llama3" || kind == "longrope")
    original("original_max_position_embeddings");
  if (kind == "llama3") {
    number("low_freq_factor");
    number("high_freq_factor");
  }
  if (kind == "yarn") {
    for (StringRef name : {"beta_fast", "beta_slow"})
      if (c.has(name))
        number(name);
    if (c.has("truncate"))
      set("truncate", c.b.getBoolAttr(c.flag("truncate")));
  }
  if (kind == "longrope")
    for (StringRef name : {"short_factor", "long_factor"})
      set(name, c.b.getDenseF64ArrayAttr(c.numbers(name)));
  return read;
}

/// A stated attention_factor takes the place of what the other parameters make.
double readAttentionFactor(GoldenCase &c, StringRef kind) {
  if (c.has("attention_factor")) {
    c.ignore({"factor", "mscale", "mscale_all_dim"});
    return c.number("attention_factor");
  }
  if (kind == "yarn")
    return yarnAttentionFactor(c.number("factor"), c.number("mscale", 0.0), c.number("mscale_all_dim", 0.0));
  if (kind == "longrope")
    return longropeAttentionFactor(c.number("factor"), c.number("original_max_position_embeddings"));
  return 1.0;
}

} // namespace

void buildGolden(GoldenCase &c) {
  std::string kind = c.oneOf("kind", {"default", "linear", "dynamic", "yarn", "longrope", "llama3", "mrope"});
  bool hasSections = kind == "mrope";
  double base = c.number("base", 10000.0), attentionFactor = readAttentionFactor(c, kind);
  int64_t rotaryDim = c.count("rotary_dim", 0, c.count("head_dim"));
  std::string layout = c.oneOf("layout", {"half", "interleaved"});
  SmallVector<NamedAttribute> scaling = readScaling(c, kind);
  DenseI64ArrayAttr sections;
  StringRef sectionLayout = "contiguous";
  if (hasSections) {
    sections =
        c.b.getDenseI64ArrayAttr(llvm::map_to_vector(c.numbers("sections"), [](double s) { return int64_t(s); }));
    if (c.flag("interleaved"))
      sectionLayout = "interleaved";
  }
  // The tensors' shapes, rotary_dim and the positions say the same.
  c.ignore({"partial_rotary_factor", "seq_len", "max_pos", "position_ids"});
  if (!c.inputs({{"q", 4}, {"k", 4}, {"position_ids", hasSections ? 3 : 2}}))
    return;
  Value positions = c.value("position_ids"), factors;
  if (kind != "default" && !hasSections) {
    scaling.push_back(c.b.getNamedAttr("kind", c.b.getStringAttr(kind)));
    scaling.push_back(c.b.getNamedAttr("base", c.b.getF64FloatAttr(base)));
    scaling.push_back(c.b.getNamedAttr("rotary_dim", c.b.getI64IntegerAttr(rotaryDim)));
    auto type = RankedTensorType::get({rotaryDim / 2}, c.b.getF64Type());
    SmallVector<Value> lengths; // one for all rows: []
    if (kind == "dynamic" || kind == "longrope") {
      auto number = RankedTensorType::get({}, c.b.getI32Type());
      auto length = DenseElementsAttr::get(number, int32_t(c.count("seq_len")));
      lengths.push_back(tw::ConstantOp::create(c.b, number, length));
    }
    factors = FactorsOp::create(c.b, TypeRange(type), lengths, scaling);
  }
  for (StringRef name : {"q", "k"}) {
    Value x = c.value(name);
    c.output(name, RotateOp::create(c.b, x.getType(), x, positions, factors, APFloat(base), rotaryDim,
                                    StringRef(layout), APFloat(attentionFactor), sections, sectionLayout));
  }
}

} // namespace tilewright::rotary_embedding

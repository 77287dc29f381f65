// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/grouped_query_attention/Repeat.h"

#include "ir/tw/Build.h"

#include "mlir/IR/Matchers.h"

namespace tilewright::grouped_query_attention {

using namespace mlir;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Head h of a value is head `head` of `source`.
struct Head {
  Value source;
  int64_t head;
};
using Heads = SmallVector<Head>;

/// `value` without reshapes that only add or drop dimensions of size 1, back to the last one of shape `wanted`;
/// null where there is none.
Value behindUnitReshapes(Value value, ArrayRef<int64_t> wanted) {
  auto withoutOnes = [](Value v) {
    SmallVector<int64_t> shape;
    for (int64_t size : typeOf(v).getShape())
      if (size != 1)
        shape.push_back(size);
    return shape;
  };
  Value found;
  while (true) {
    if (typeOf(value).getShape() == wanted)
      found = value;
    auto reshape = value.getDefiningOp<tw::ReshapeOp>();
    if (!reshape || withoutOnes(reshape.getInput()) != withoutOnes(reshape.getResult()))
      return found;
    value = reshape.getInput();
  }
}

std::optional<Heads> headsOf(Value value, int depth);

std::optional<Heads> headsBehindUnits(Value value, ArrayRef<int64_t> wanted, int depth) {
  Value inner = behindUnitReshapes(value, wanted);
  return inner ? headsOf(inner, depth + 1) : std::nullopt;
}

/// [.., Hkv, ..] -> [.., Hkv, G, ..] or [.., G, Hkv, ..] by broadcast or concat, -> [.., Hkv * G, ..].
std::optional<Heads> headsOfJoined(tw::ReshapeOp reshape, int depth) {
  RankedTensorType joined = reshape.getResult().getType(), wide = typeOf(reshape.getInput());
  const int64_t rank = joined.getRank();
  if (wide.getRank() != rank + 1)
    return std::nullopt;
  SmallVector<int64_t> wanted(wide.getShape());
  if (ShapedType::isDynamic(wanted[headDim]) || ShapedType::isDynamic(wanted[headDim + 1]))
    return std::nullopt;
  wanted[headDim] *= wanted[headDim + 1];
  wanted.erase(wanted.begin() + headDim + 1);
  if (joined.getShape() != ArrayRef<int64_t>(wanted))
    return std::nullopt;
  Heads heads;
  if (auto broadcast = reshape.getInput().getDefiningOp<tw::BroadcastOp>()) {
    if (broadcast.getDims().size() != size_t(rank))
      return std::nullopt;
    auto of = headsBehindUnits(broadcast.getInput(), typeOf(broadcast.getInput()).getShape(), depth);
    if (!of)
      return std::nullopt;
    auto allBut = [&](int64_t left) {
      SmallVector<int64_t> dims;
      for (int64_t d = 0; d <= rank; ++d)
        if (d != left)
          dims.push_back(d);
      return broadcast.getDims() == ArrayRef<int64_t>(dims);
    };
    if (allBut(headDim + 1)) { // each head G times
      for (const Head &head : *of)
        heads.append(wide.getDimSize(headDim + 1), head);
      return heads;
    }
    if (allBut(headDim)) { // the list G times
      for (int64_t i = 0; i < wide.getDimSize(headDim); ++i)
        llvm::append_range(heads, *of);
      return heads;
    }
    return std::nullopt;
  }
  auto concat = reshape.getInput().getDefiningOp<tw::ConcatOp>();
  if (!concat)
    return std::nullopt;
  SmallVector<Heads> parts;
  for (Value input : concat.getInputs()) { // [.., Hkv, 1, ..] or [.., 1, Hkv, ..]
    SmallVector<int64_t> shape(typeOf(input).getShape());
    const bool isUnit = shape[concat.getDim()] == 1;
    shape.erase(shape.begin() + concat.getDim());
    auto part = isUnit ? headsBehindUnits(input, shape, depth) : std::nullopt;
    if (!part)
      return std::nullopt;
    parts.push_back(std::move(*part));
  }
  if (int64_t(concat.getDim()) == headDim) {
    for (Heads &part : parts)
      llvm::append_range(heads, part);
    return heads;
  }
  if (int64_t(concat.getDim()) != headDim + 1)
    return std::nullopt;
  for (size_t h = 0; h < parts.front().size(); ++h)
    for (Heads &part : parts)
      heads.push_back(part[h]);
  return heads;
}

/// transpose, gather of rows by constant ids, the same transpose back.
std::optional<Heads> headsOfGather(tw::TransposeOp back, int depth) {
  auto gather = back.getInput().getDefiningOp<tw::GatherOp>();
  auto there = gather ? gather.getTable().getDefiningOp<tw::TransposeOp>() : nullptr;
  if (!there || back.getPerm() != there.getPerm())
    return std::nullopt;
  for (auto [d, p] : llvm::enumerate(back.getPerm()))
    if (p != (int64_t(d) == headDim ? 0 : d == 0 ? headDim : int64_t(d)))
      return std::nullopt;
  DenseElementsAttr ids;
  auto of = headsOf(there.getInput(), depth + 1);
  if (!of || !matchPattern(gather.getIds(), m_Constant(&ids)))
    return std::nullopt;
  Heads heads;
  for (const APInt &id : ids.getValues<APInt>()) {
    if (id.isNegative() || id.getZExtValue() >= of->size())
      return std::nullopt;
    heads.push_back((*of)[id.getZExtValue()]);
  }
  return heads;
}

std::optional<Heads> headsOf(Value value, int depth) {
  RankedTensorType type = typeOf(value);
  if (type.getRank() <= headDim || type.isDynamicDim(headDim) || depth > 16)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  std::optional<Heads> found;
  if (auto reshape = dyn_cast_or_null<tw::ReshapeOp>(op)) {
    found = headsOfJoined(reshape, depth);
  } else if (auto transpose = dyn_cast_or_null<tw::TransposeOp>(op)) {
    found = headsOfGather(transpose, depth);
  } else if (auto concat = dyn_cast_or_null<tw::ConcatOp>(op); concat && int64_t(concat.getDim()) == headDim) {
    found.emplace();
    for (Value input : concat.getInputs()) {
      auto part = headsOf(input, depth + 1);
      if (!part)
        return std::nullopt;
      llvm::append_range(*found, *part);
    }
  } else if (auto slice = dyn_cast_or_null<tw::SliceOp>(op); slice && int64_t(slice.getDim()) == headDim) {
    if (auto of = headsOf(slice.getInput(), depth + 1)) {
      const size_t start = slice.getStart();
      found = Heads(ArrayRef<Head>(*of).slice(start, type.getDimSize(headDim)));
    }
  }
  if (found)
    return found;
  Heads own;
  for (int64_t h = 0; h < type.getDimSize(headDim); ++h)
    own.push_back({value, h});
  return own;
}

} // namespace

Repeat matchRepeat(Value value) {
  std::optional<Heads> heads = headsOf(value, 0);
  if (!heads || heads->empty())
    return {};
  Value source = heads->front().source;
  for (const Head &head : *heads)
    if (head.source != source)
      return {};
  const int64_t sources = typeOf(source).getDimSize(headDim), count = heads->size(), times = count / sources;
  if (count <= sources)
    return {};
  auto all = [&](auto headOf) {
    for (int64_t h = 0; h < count; ++h)
      if ((*heads)[h].head != headOf(h))
        return false;
    return true;
  };
  if (count % sources == 0 && all([&](int64_t h) { return h / times; }))
    return {source, times, ""};
  if (all([&](int64_t h) { return h % sources; }))
    return {{},
            1,
            "the list of heads is repeated as a whole (head h is h % " + std::to_string(sources) +
                "), not head by head"};
  return {{}, 1, "the heads are not each there the same number of times in a row"};
}

} // namespace tilewright::grouped_query_attention

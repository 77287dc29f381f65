// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/ValueTags.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilewright {

static constexpr llvm::StringLiteral kTag = "tw.value";   // metadata of one op: its number
static constexpr llvm::StringLiteral kTags = "tw.values"; // of an op that stands for several: [number, result, ...]

template <typename Attr> static Attr metadata(Location location, StringRef name) {
  auto fused = dyn_cast<FusedLocWith<DictionaryAttr>>(location);
  return fused ? fused.getMetadata().getAs<Attr>(name) : Attr();
}

static Location withMetadata(Location location, StringRef name, Attribute value) {
  Builder b(location.getContext());
  return FusedLoc::get({withoutTag(location)}, b.getDictionaryAttr(b.getNamedAttr(name, value)), location.getContext());
}

void tagValues(ModuleOp module) {
  Builder b(module.getContext());
  int64_t next = 0;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() != 0)
      op->setLoc(withMetadata(op->getLoc(), kTag, b.getI64IntegerAttr(next++)));
  });
}

std::optional<int64_t> tagOf(Location location) {
  auto tag = metadata<IntegerAttr>(location, kTag);
  return tag ? std::optional<int64_t>(tag.getInt()) : std::nullopt;
}

std::optional<ValueTag> tagOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return std::nullopt;
  std::optional<int64_t> op = tagOf(result.getOwner()->getLoc());
  if (!op)
    return std::nullopt;
  // Made in place of one result of a decomposed op (ir/interfaces/Decompose.h).
  auto origin = result.getOwner()->getAttrOfType<IntegerAttr>("tw.origin_result");
  return ValueTag{*op, origin ? static_cast<unsigned>(origin.getInt()) : result.getResultNumber()};
}

Location withoutTag(Location location) {
  if (!metadata<Attribute>(location, kTag) && !metadata<Attribute>(location, kTags))
    return location;
  return FusedLoc::get(cast<FusedLoc>(location).getLocations(), Attribute(), location.getContext());
}

Location withTagsOf(Location location, ValueRange values) {
  SmallVector<int64_t> tags;
  bool any = false;
  for (Value value : values) {
    std::optional<ValueTag> tag = tagOf(value);
    any |= tag.has_value();
    tags.push_back(tag ? tag->op : -1);
    tags.push_back(tag ? tag->result : 0);
  }
  return any ? withMetadata(location, kTags, DenseI64ArrayAttr::get(location.getContext(), tags))
             : withoutTag(location);
}

SmallVector<std::optional<ValueTag>> resultTags(Operation *op) {
  SmallVector<std::optional<ValueTag>> tags(op->getNumResults());
  auto numbers = metadata<DenseI64ArrayAttr>(op->getLoc(), kTags);
  if (numbers && numbers.size() == 2 * static_cast<int64_t>(tags.size()))
    for (size_t i = 0; i < tags.size(); ++i)
      if (numbers[2 * i] >= 0)
        tags[i] = ValueTag{numbers[2 * i], static_cast<unsigned>(numbers[2 * i + 1])};
  return tags;
}

} // namespace tilewright

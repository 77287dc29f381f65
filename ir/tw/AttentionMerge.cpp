// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/AttentionMerge.h"

#include "ir/tw/Build.h"

#include <limits>

using namespace mlir;

namespace tilewright::tw {

PartialAttention mergeAttention(ImplicitLocOpBuilder &b, ArrayRef<PartialAttention> parts, Value sinks,
                                bool headsFirst) {
  if (parts.size() == 1 && !sinks)
    return parts.front();
  // exp(x - maximum)
  auto weight = [&](Value x, Value maximum) -> Value { return ExpOp::create(b, SubOp::create(b, x, maximum)); };
  auto add = [&](Value sum, Value x) -> Value { return sum ? AddOp::create(b, sum, x).getResult() : x; };
  // Not below the lowest number: -inf minus itself is none.
  Value first = parts.front().lse;
  Value maximum = splat(b, std::numeric_limits<float>::lowest(), first);
  for (const PartialAttention &part : parts)
    maximum = MaximumOp::create(b, maximum, part.lse);
  Value keys;
  for (const PartialAttention &part : parts)
    keys = add(keys, weight(part.lse, maximum));
  Value lse = AddOp::create(b, maximum, LogOp::create(b, keys));

  Value most = maximum, sum = keys;
  if (sinks) {
    Value sink = broadcast(b, castTo(b, sinks, tensorType(first).getElementType()), first, {1});
    most = MaximumOp::create(b, maximum, sink);
    sum = add(MulOp::create(b, keys, weight(maximum, most)), weight(sink, most));
  }
  // At least 1 where there is a key, or a sink; 0 gives 0.
  Value inverse = DivOp::create(b, splat(b, 1.0, sum), MaximumOp::create(b, sum, splat(b, 1e-30, sum)));
  Value out;
  for (const PartialAttention &part : parts) {
    Value share = MulOp::create(b, weight(part.lse, most), inverse);
    if (!headsFirst)
      share = transpose(b, share, {0, 2, 1});
    share = castTo(b, share, tensorType(part.out).getElementType());
    out = add(out, MulOp::create(b, part.out, broadcast(b, share, part.out, {0, 1, 2})));
  }
  return {out, lse};
}

std::pair<Value, Value> keyRange(ImplicitLocOpBuilder &b, int64_t batches, int64_t first, int64_t end, Value start,
                                 Value stop) {
  auto type = RankedTensorType::get({batches}, b.getI32Type());
  auto fixed = [&](int64_t n) -> Value {
    return ConstantOp::create(b, DenseElementsAttr::get(type, llvm::APInt(32, n)));
  };
  auto choose = [&](StringRef kind, Value x, Value y) -> Value {
    if (!y)
      return x;
    Value condition = CompareOp::create(b, type.clone(b.getI1Type()), b.getStringAttr(kind), x, y);
    return SelectOp::create(b, type, condition, x, y);
  };
  return {choose("gt", fixed(first), start), choose("lt", fixed(end), stop)};
}

} // namespace tilewright::tw

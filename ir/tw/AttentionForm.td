// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands, attributes, results and syntax of attention: of tw.attention, and of ops that compute it in another way.
#ifndef TILEWRIGHT_IR_TW_ATTENTIONFORM
#define TILEWRIGHT_IR_TW_ATTENTIONFORM

include "ir/tw/TwBase.td"

def Tw_CausalKind : Tw_OneOf<["none", "end", "start"]>;
def Tw_AttentionLayout : Tw_OneOf<["bhtd", "bthd", "bt3hd"]>;

// Operand groups are only ever added behind the others: a graph file that knows fewer leaves the last ones out.
class Tw_AttentionForm {
  dag operands = (ins
    Tw_FloatTensor:$query, Optional<Tw_FloatTensor>:$key, Optional<Tw_FloatTensor>:$value,
    Optional<Tw_StateType>:$state, Optional<Tw_I32Tensor>:$row_start, Optional<Tw_I32Tensor>:$kv_len, Optional<Tw_I32Tensor>:$positions,
    Optional<Tw_MaskTensor>:$mask, Optional<Tw_FloatTensor>:$bias, Optional<Tw_FloatTensor>:$sinks,
    Optional<Tw_I32Tensor>:$kv_start, Optional<Tw_I32Tensor>:$kv_end, Optional<Tw_I32Tensor>:$prefix_len,
    Optional<Tw_I32Tensor>:$cu_seqlens_q, Optional<Tw_I32Tensor>:$cu_seqlens_kv,
    F64Attr:$scale, DefaultValuedAttr<Tw_CausalKind, "\"none\"">:$causal, OptionalAttr<Tw_I64Attr>:$window, OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<Tw_I64Attr>:$offset, OptionalAttr<Tw_I64Attr>:$radius, OptionalAttr<Tw_I64Attr>:$chunk,
    DefaultValuedAttr<Tw_AttentionLayout, "\"bhtd\"">:$layout);
  dag outputs = (outs Tw_FloatTensor:$result, Variadic<Tw_FloatTensor>:$extra);
  dag scoreRegion = (region VariadicRegion<SizedRegion<1>>:$score);
  string syntax = [{ `query` `(` $query `:` type($query) `)` (`key` `(` $key^ `:` type($key) `)`)? (`value` `(` $value^ `:` type($value) `)`)?
    (`state` `(` $state^ `:` type($state) `)`)? (`row_start` `(` $row_start^ `:` type($row_start) `)`)? (`kv_len` `(` $kv_len^ `:` type($kv_len) `)`)?
    (`positions` `(` $positions^ `:` type($positions) `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)? (`kv_start` `(` $kv_start^ `:` type($kv_start) `)`)? (`kv_end` `(` $kv_end^ `:` type($kv_end) `)`)?
    (`prefix_len` `(` $prefix_len^ `:` type($prefix_len) `)`)? (`cu_seqlens_q` `(` $cu_seqlens_q^ `:` type($cu_seqlens_q) `)`)?
    (`cu_seqlens_kv` `(` $cu_seqlens_kv^ `:` type($cu_seqlens_kv) `)`)? (`score` $score^)? attr-dict `->` type($result) (`,` type($extra)^)? }];
  // What generated code has for an op with one result, and names for the others.
  code declarations = [{
    ::mlir::RankedTensorType getType() { return getResult().getType(); }
    /// The logarithm of the sum of exponentials; null when it is not a result.
    ::mlir::Value getLse() { return extraOfRank(3); }
    /// The softmax's values; null when they are not a result.
    ::mlir::Value getWeights() { return extraOfRank(4); }
    ::mlir::Value extraOfRank(int64_t rank) {
      for (::mlir::Value value : getExtra())
        if (::llvm::cast<::mlir::RankedTensorType>(value.getType()).getRank() == rank)
          return value;
      return {};
    }
  }];
}
def Tw_Attention : Tw_AttentionForm;

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_POSITION_ENCODING
#define TILEWRIGHT_PLUGINS_POSITION_ENCODING

include "ir/interfaces/Interfaces.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def PositionEncoding_Dialect : Dialect {
  let name = "position_encoding";
  let cppNamespace = "::tilewright::position_encoding";
  let summary = "Absolute and relative position encodings.";
  let description = [{
    What a model adds to rows by their position, or to scores by the positions of query and key. Positions are always given:
    `[T]` for all sequences or `[B, T]` for each, so that padding, packing and decoding need no form of their own.

    Encodings of scores meet `tw.attention` through its bias. Where an encoding depends on the distance of two positions, or
    on any other relation of two tokens, that relation is a matrix of small integers, which index a learned table:
    `position_encoding.offsets` and `position_encoding.t5_buckets` make it of positions, a host may give any
    other (distances in a syntax tree), and `position_encoding.relation_bias` and `position_encoding.relation_attention` take
    it, whoever made it.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

class PositionEncoding_Op<string mnemonic, list<Trait> traits = []> : Op<PositionEncoding_Dialect, mnemonic,
    !listconcat([Pure, DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>], traits)> {
  let hasVerifier = 1;
}

def PositionEncoding_SinusoidalOp : PositionEncoding_Op<"sinusoidal"> {
  let summary = "Sines and cosines of positions";
  let description = [{
    With `r_i = base^(-2i / dim)` (Vaswani et al., 2017), for position p: in layout `interleaved` `y[2i] = sin(p r_i)`,
    `y[2i+1] = cos(p r_i)`; in layout `half` first all sines (`ceil(dim / 2)` of them), then all cosines. Angles are formed in
    f64 from exact integers.

    Example:
    ```mlir
    %y = position_encoding.sinusoidal %p {dim = 512 : i64} : tensor<?xi32> -> tensor<?x512xf32>
    ```
    Constraints:
    - (C1) dim is at least 1, and the result has the positions' shape, then dim. (C2) base is finite and above 0.
  }];
  let arguments = (ins Tw_I32Tensor:$positions, Tw_I64Attr:$dim, DefaultValuedAttr<F64Attr, "10000.0">:$base,
    DefaultValuedAttr<Tw_OneOf<["interleaved", "half"]>, "\"interleaved\"">:$layout);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$positions attr-dict `:` type($positions) `->` type($result)";
}

def PositionEncoding_LearnedOp : PositionEncoding_Op<"learned"> {
  let summary = "Rows of a learned table by position";
  let description = [{
    `y[..., :] = table[positions[...], :]`. A position outside of the table is an error that names it and the table's length,
    found before any kernel runs where positions are an input; a compiled function that computes one reads the nearest row.

    Example:
    ```mlir
    %y = position_encoding.learned %table, %p : tensor<1024x768xf32>, tensor<?xi32> -> tensor<?x768xf32>
    ```
    Constraints:
    - (C1) the table has rank 2, positions have rank 1 or more. (C2) the result has the positions' shape, then the table's
      last dimension, and the table's element type.
  }];
  let arguments = (ins Tw_FloatTensor:$table, Tw_I32Tensor:$positions);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$table `,` $positions attr-dict `:` type($table) `,` type($positions) `->` type($result)";
}

// Positions of queries and keys: [T] and [S] for all sequences, or [B, T] and [B, S].
defvar PositionEncoding_Pair = (ins Tw_I32Tensor:$query_positions, Tw_I32Tensor:$key_positions);
defvar PositionEncoding_PairFormat =
  "$query_positions `,` $key_positions attr-dict `:` type($query_positions) `,` type($key_positions) `->` type($result)";

def PositionEncoding_OffsetsOp : PositionEncoding_Op<"offsets"> {
  let summary = "Clipped distances from queries to keys, as indices";
  let description = [{
    `y[t, s] = clamp(key[s] - query[t], -clip, clip) + clip`, from 0 to 2 clip: the rows of a table with one entry for each
    distance (Shaw et al., 2018).

    Example:
    ```mlir
    %r = position_encoding.offsets %p, %p {clip = 16 : i64} : tensor<?xi32>, tensor<?xi32> -> tensor<?x?xi32>
    ```
    Constraints:
    - (C1) positions are [T] and [S], the result is [T, S]; or [B, T] and [B, S], and it is [B, T, S].
    - (C2) clip is 0 to 2^30.
  }];
  let arguments = !con(PositionEncoding_Pair, (ins Tw_I64Attr:$clip));
  let results = (outs Tw_I32Tensor:$result);
  let assemblyFormat = PositionEncoding_PairFormat;
}

def PositionEncoding_T5BucketsOp : PositionEncoding_Op<"t5_buckets"> {
  let summary = "Buckets of distances that grow with the distance, as indices";
  let description = [{
    The bucket of `d = key[s] - query[t]` (Raffel et al., 2020). With `n = num_buckets`, of `a = -d` for keys before the query
    (0 for others): `a` itself while `a < n/2`, then buckets on a logarithmic scale up to `max_distance`, from where all is
    bucket `n - 1`: `min(n - 1, n/2 + trunc(ln(a / (n/2)) / ln(max_distance / (n/2)) (n - n/2)))` in f32, as in the released
    models. `bidirectional`: with `n = num_buckets / 2` and `a = |d|`, n more where d > 0.

    Example:
    ```mlir
    %r = position_encoding.t5_buckets %p, %p {bidirectional = true, num_buckets = 32 : i64, max_distance = 128 : i64}
         : tensor<?xi32>, tensor<?xi32> -> tensor<?x?xi32>
    ```
    Constraints:
    - (C1) shapes as of `position_encoding.offsets`.
    - (C2) num_buckets is 2 to 65536; bidirectional: even and at least 4. (C3) max_distance is above n/2 and at most 65536.
  }];
  let arguments = !con(PositionEncoding_Pair, (ins BoolAttr:$bidirectional, Tw_I64Attr:$num_buckets, Tw_I64Attr:$max_distance));
  let results = (outs Tw_I32Tensor:$result);
  let assemblyFormat = PositionEncoding_PairFormat;
}

def PositionEncoding_AlibiOp : PositionEncoding_Op<"alibi"> {
  let summary = "A bias that falls with the distance, by a slope for each head";
  let description = [{
    `y[b, h, t, s] = slope_h (key[s] - query[t])` (Press et al., 2022), with `symmetric` `-slope_h |key[s] - query[t]|`. With P
    the largest power of 2 up to `heads`, slopes of the first P heads are `2^(-8 h / P)`, h from 1 on; those of the others
    `2^(-8 h / (2P))`, h = 1, 3, 5, ...

    Example:
    ```mlir
    %b = position_encoding.alibi %p, %p {heads = 12 : i64} : tensor<?xi32>, tensor<?xi32> -> tensor<1x12x?x?xf32>
    ```
    Constraints:
    - (C1) positions are [T] and [S], the result is [1, heads, T, S]; or [B, T] and [B, S], and it is [B, heads, T, S].
    - (C2) heads is 1 to 65536.
  }];
  let arguments = !con(PositionEncoding_Pair, (ins Tw_I64Attr:$heads, DefaultValuedAttr<BoolAttr, "false">:$symmetric));
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = PositionEncoding_PairFormat;
}

def PositionEncoding_RelationBiasOp : PositionEncoding_Op<"relation_bias"> {
  let summary = "A learned bias for each head and relation of two tokens";
  let description = [{
    `y[b, h, t, s] = table[relation[b, t, s], h]`; one relation [T, S] for all sequences gives [1, H, T, S]. An index outside
    of the table is an error, found before any kernel runs where the relation is an input; a compiled function that computes
    one reads the nearest row.

    Example:
    ```mlir
    %b = position_encoding.relation_bias %r, %table : tensor<?x?xi32>, tensor<32x12xf32> -> tensor<1x12x?x?xf32>
    ```
    Constraints:
    - (C1) relation is [T, S] or [B, T, S], table [R, H] with H static. (C2) the result is [1, H, T, S] or [B, H, T, S], of
      the table's element type.
  }];
  let arguments = (ins Tw_I32Tensor:$relation, Tw_FloatTensor:$table);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$relation `,` $table attr-dict `:` type($relation) `,` type($table) `->` type($result)";
}

def PositionEncoding_RelationAttentionOp : PositionEncoding_Op<"relation_attention", [AttrSizedOperandSegments,
    AllElementTypesMatch<["query", "result"]>]> {
  let summary = "Attention with learned vectors for each relation of two tokens";
  let description = [{
    With `r = relation[b, t, s]` (Shaw et al., 2018; for any relation):

    `e[b, h, t, s] = scale q[b, h, t] . (k[b, g, s] + key_table[r]) + bias`, `w = softmax(e, masked)`,
    `y[b, h, t] = sum_s w[b, h, t, s] (v[b, g, s] + value_table[r])`,

    g = h / (H / Hkv) the key/value head. A table that is not given counts as zeros. Causal alignment, mask and rows without a
    visible key are those of `tw.attention`. The products with key_table are formed once for each of its rows and query, then
    gathered. Without value_table this is `tw.attention` with a bias; with it, the weights are kept.

    Example:
    ```mlir
    %y = position_encoding.relation_attention query(%q : tensor<?x8x?x64xf32>) key(%k : tensor<?x8x?x64xf32>) value(%v : tensor<?x8x?x64xf32>)
         relation(%r : tensor<?x?xi32>) key_table(%a : tensor<33x64xf32>) value_table(%c : tensor<33x64xf32>)
         {scale = 0.125 : f64} -> tensor<?x8x?x64xf32>
    ```
    Constraints:
    - (C1) query [B, H, T, D], key [B, Hkv, S, D], value [B, Hkv, S, Dv], result [B, H, T, Dv], with static H, Hkv, D and Dv, H a
      multiple of Hkv >= 1. (C2) relation is [T, S] or [B, T, S]. (C3) key_table is [R, D], value_table [R', Dv], at least one
      of them is given. (C4) bias is [1, H, T, S] or [B, H, T, S]; mask has the shape [T, S]. (C5) scale is finite.
  }];
  let arguments = (ins Tw_FloatTensor:$query, Tw_FloatTensor:$key, Tw_FloatTensor:$value, Tw_I32Tensor:$relation,
    Optional<Tw_FloatTensor>:$key_table, Optional<Tw_FloatTensor>:$value_table, Optional<Tw_FloatTensor>:$bias,
    Optional<Tw_MaskTensor>:$mask, F64Attr:$scale,
    DefaultValuedAttr<Tw_OneOf<["none", "end", "start"]>, "\"none\"">:$causal);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ `query` `(` $query `:` type($query) `)` `key` `(` $key `:` type($key) `)` `value` `(` $value `:` type($value) `)`
    `relation` `(` $relation `:` type($relation) `)` (`key_table` `(` $key_table^ `:` type($key_table) `)`)?
    (`value_table` `(` $value_table^ `:` type($value_table) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict `->` type($result) }];
}

#endif

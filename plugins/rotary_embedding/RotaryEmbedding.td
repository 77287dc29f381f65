// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_ROTARY_EMBEDDING
#define TILEWRIGHT_PLUGINS_ROTARY_EMBEDDING

include "ir/interfaces/Tiling.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RotaryEmbedding_Dialect : Dialect {
  let name = "rotary_embedding";
  let cppNamespace = "::tilewright::rotary_embedding";
  let summary = "Rotary position embedding (Su et al., 2021).";
  let description = [{
    Turns pairs of a head's elements by angles that grow with the row's position, so that the product of two turned vectors
    depends on the distance of their positions only.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
  let hasConstantMaterializer = 1;
}

def RotaryEmbedding_Layout : Tw_OneOf<["half", "interleaved"]>;
def RotaryEmbedding_SectionLayout : Tw_OneOf<["contiguous", "interleaved"]>;

def RotaryEmbedding_RotateOp : Op<RotaryEmbedding_Dialect, "rotate", !listconcat([Pure,
    AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<ReferenceLowering>,
    DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<TileLowering>,
    DeclareOpInterfaceMethods<FusionCandidate>], TiledByLoopMap.traits)> {
  let summary = "Rotation of pairs by position";
  let description = [{
    With `r = rotary_dim` and, for pair `i < r/2` of a row at position p, the angle
    `a_i = p * base^(-2i/r) / factors[i]` (factors 1 when absent; of one set for all rows, or one for each), and
    `m = attention_factor`:

    `y1 = m (x1 cos(a_i) - x2 sin(a_i))`, `y2 = m (x2 cos(a_i) + x1 sin(a_i))`.

    Pair i is elements `(i, i + r/2)` in layout `half` (GPT-NeoX), `(2i, 2i + 1)` in layout `interleaved` (GPT-J). Elements
    from r on pass unchanged. Angles are formed in f64 from exact integers; a 16-bit input is turned in f32 and rounded once.

    Forms: rows of all sequences `[N, H, D]` with positions `[N]`, and dense `[B, H, T, D]` with positions `[B, T]` or `[T]`.

    With `sections` `[s_0, ..., s_c]` a row has c + 1 positions (M-RoPE: time, height and width; Wang et al., 2024), which
    are the first dimension of positions, and each pair follows one of them: in layout `contiguous` the first s_0 pairs the
    first position, the next s_1 the second, and so on; in layout `interleaved` pair i follows position `k = i mod (c + 1)`
    where `i < (c + 1) s_k`, and the first position elsewhere.

    Example:
    ```mlir
    %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 64 : i64} : tensor<?x9x64xf32>, tensor<?xi32>
    %z = rotary_embedding.rotate %x, %p factors(%f : tensor<32xf32>) {base = 500000.0 : f64, rotary_dim = 64 : i64, layout = "interleaved"}
         : tensor<?x9x64xf32>, tensor<?xi32>
    %m = rotary_embedding.rotate %x, %q {base = 1000000.0 : f64, rotary_dim = 64 : i64, sections = array<i64: 8, 12, 12>}
         : tensor<?x9x64xf32>, tensor<3x?xi32>
    ```
    Constraints:
    - (C1) the input has rank 3 with positions of rank 1, or rank 4 with positions of rank 1 or 2; D is static. With
      sections, positions have one more dimension before, of one entry for each section.
    - (C2) positions have the input's row dimensions: [N]; [B, T] or [T].
    - (C3) rotary_dim is even, at least 0 and at most D. (C4) base is finite and above 0.
    - (C5) factors, if given, have shape [rotary_dim / 2], or the rows' dimensions before it: [N, rotary_dim / 2];
      [B, T, rotary_dim / 2] or [T, rotary_dim / 2]. (C6) attention_factor is finite and above 0.
    - (C7) sections, if given, are at least 1 number, none negative, with the sum rotary_dim / 2; in layout `interleaved`
      the pairs of every section lie below rotary_dim / 2.

    Folds: rotary_dim 0, and positions that are all constant 0 with attention_factor 1, are the identity.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Tw_I32Tensor:$positions, Optional<Tw_FloatTensor>:$factors,
    F64Attr:$base, I64Attr:$rotary_dim, DefaultValuedAttr<RotaryEmbedding_Layout, "\"half\"">:$layout,
    DefaultValuedAttr<F64Attr, "1.0">:$attention_factor, OptionalAttr<DenseI64ArrayAttr>:$sections,
    DefaultValuedAttr<RotaryEmbedding_SectionLayout, "\"contiguous\"">:$section_layout);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $input `,` $positions (`factors` `(` $factors^ `:` type($factors) `)`)? attr-dict
    `:` type($input) `,` type($positions) }];
  let extraClassDeclaration = [{
    /// Whether each row has factors of its own.
    bool hasFactorsOfRows() { return getFactors() && getFactors().getType().getRank() > 1; }
  }];
  let extraClassDefinition = TiledByLoopMap.methods;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def RotaryEmbedding_TablesOp : Op<RotaryEmbedding_Dialect, "tables", [Pure,
    AllTypesMatch<["cosine", "sine"]>, DeclareOpInterfaceMethods<ReferenceLowering>,
    DeclareOpInterfaceMethods<NumericsContract>]> {
  let summary = "Cosines and sines of the angles of positions";
  let description = [{
    The tables `[..., dim]` of positions `[...]` that `rotary_embedding.apply` takes: `attention_factor` times cosine and sine
    of the angle that `rotary_embedding.rotate` turns the pair of element j by. Both elements of a pair have the same. Angles
    are formed in f64 and the tables rounded once.

    Example:
    ```mlir
    %c, %s = rotary_embedding.tables %p {dim = 64 : i64} : tensor<?xi32> -> tensor<?x64xf32>
    ```
    Constraints:
    - (C1) dim is even and at least 2; the tables have the positions' shape (with sections without its first dimension, which
      has one entry for each section), then dim. (C2) base is finite and above 0; attention_factor is finite and above 0.
    - (C3) factors, if given, have shape [dim / 2], or the tables' dimensions of rows before it. (C4) sections as those of `rotary_embedding.rotate`, with rotary_dim = dim.
  }];
  let arguments = (ins Tw_I32Tensor:$positions, Optional<Tw_FloatTensor>:$factors, Tw_I64Attr:$dim,
    DefaultValuedAttr<F64Attr, "10000.0">:$base, DefaultValuedAttr<RotaryEmbedding_Layout, "\"half\"">:$layout,
    DefaultValuedAttr<F64Attr, "1.0">:$attention_factor, OptionalAttr<DenseI64ArrayAttr>:$sections,
    DefaultValuedAttr<RotaryEmbedding_SectionLayout, "\"contiguous\"">:$section_layout);
  let results = (outs Tw_FloatTensor:$cosine, Tw_FloatTensor:$sine);
  let assemblyFormat = [{ $positions (`factors` `(` $factors^ `:` type($factors) `)`)? attr-dict
    `:` type($positions) `->` type($cosine) }];
  let hasVerifier = 1;
}

def RotaryEmbedding_ApplyOp : Op<RotaryEmbedding_Dialect, "apply", [Pure, AllTypesMatch<["input", "result"]>,
    AllTypesMatch<["cosine", "sine"]>, DeclareOpInterfaceMethods<ReferenceLowering>,
    DeclareOpInterfaceMethods<NumericsContract>]> {
  let summary = "Rotation of pairs by tables";
  let description = [{
    For the pair (a, b) of elements of a row, which layout chooses as in `rotary_embedding.rotate`:

    `y_a = x_a cosine_a - x_b sine_a`, `y_b = x_b cosine_b + x_a sine_b`.

    Elements from the tables' last dimension on pass unchanged. A 16-bit input is turned in f32 and rounded once.
    `-rotary-embedding-fold-tables` makes `rotary_embedding.rotate` of it where the tables are those of
    `rotary_embedding.tables`.

    Example:
    ```mlir
    %y = rotary_embedding.apply %x, %c, %s : tensor<?x9x64xf32>, tensor<?x64xf32>
    ```
    Constraints:
    - (C1) input [N, H, D] with tables [N, r], or [B, H, T, D] with [B, T, r] or [T, r]; D is static.
    - (C2) r is static, even and at most D.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Tw_FloatTensor:$cosine, Tw_FloatTensor:$sine,
    DefaultValuedAttr<RotaryEmbedding_Layout, "\"half\"">:$layout);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$input `,` $cosine `,` $sine attr-dict `:` type($input) `,` type($cosine)";
  let hasVerifier = 1;
}

def RotaryEmbedding_FactorsOp : Op<RotaryEmbedding_Dialect, "factors", !listconcat([Pure,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>,
    DeclareOpInterfaceMethods<TileLowering>], TiledByLoopMap.traits)> {
  let summary = "What divides the angles of each pair to reach beyond the trained context";
  let description = [{
    The factors of `rotary_embedding.rotate` for a kind of scaling, with `r = rotary_dim`, `t_i = base^(-2i/r)`,
    `w_i = 2 pi / t_i` the wave length of pair i, `f = factor`, `L = original_max_position_embeddings` and n a length:

    - `default`: 1. `linear` (Chen et al., 2023): f.
    - `dynamic` (NTK): `s^(2i/(r-2))`, `s = f max(n, L) / L - (f - 1)`: the base grows with what is read.
    - `yarn` (Peng et al., 2023): `1 / (g/f + 1 - g)`, `g = clamp((i - low) / (high - low), 0, 1)`, where `low` and `high` are
      `r ln(L / (2 pi b)) / (2 ln base)` for b = beta_fast (32) and beta_slow (1), with `truncate` rounded down and up, kept
      within 0 and r - 1.
    - `longrope` (Ding et al., 2024): short_factor while n <= L, else long_factor.
    - `llama3`: f where `w_i > L / low_freq_factor`, 1 where `w_i < L / high_freq_factor`, between them `1 / ((1-s)/f + s)`,
      `s = (L / w_i - low_freq_factor) / (high_freq_factor - low_freq_factor)`.

    Kinds that also scale cosines and sines (yarn, longrope) do so by `attention_factor` of `rotary_embedding.rotate`
    (plugins/rotary_embedding/Scaling.h has the formulas).

    `lengths`, of any shape, hold n: a number for each row gives each row the factors of its own sequence, a single one
    the same to all. The step's argument `lengths` has them: for each row the largest position that its sequence has in
    the request, plus one. So what a row is turned by depends on no other sequence, nor on how a prompt is cut into steps.
    Keys that are kept were turned by what was chosen when they were appended. Of `longrope` they are made anew where a
    text grows past L, or is cut back: the graph's reread_length, L, has the session read again from its first token then
    (as Phi3ForCausalLM of Transformers does), so that a text is what it is read at once, and the token at the switch takes
    as long as a prompt. Of `dynamic`, whose base changes with each token past L, they stay: there a text that is read
    token by token differs from one read at once, as it does with caches of Transformers.

    Example:
    ```mlir
    %f = rotary_embedding.factors {kind = "linear", base = 10000.0 : f64, rotary_dim = 64 : i64, factor = 4.0 : f64} : tensor<32xf64>
    %g = rotary_embedding.factors lengths(%n : tensor<?xi32>) {kind = "dynamic", base = 10000.0 : f64, rotary_dim = 64 : i64,
           factor = 2.0 : f64, original_max_position_embeddings = 4096 : i64} : tensor<?x32xf64>
    ```
    Constraints:
    - (C1) kind is one of those above. (C2) the attributes are those of the kind: all that its formula names, others not.
    - (C3) lengths are given for dynamic and longrope alone. (C4) rotary_dim is even and at least 2; base is finite and
      above 0 (for yarn not 1). (C5) factor is finite and at least 1. (C6) original_max_position_embeddings is at least 1.
    - (C7) short_factor and long_factor are rotary_dim / 2 finite numbers above 0.
    - (C8) 0 < low_freq_factor < high_freq_factor, 0 < beta_slow < beta_fast, all finite.
    - (C9) the result has the lengths' shape, if any, then [rotary_dim / 2], and type f64 or f32.

    Folds: kinds that take no lengths are constants.
  }];
  let arguments = (ins Optional<Tw_I32Tensor>:$lengths, StrAttr:$kind, F64Attr:$base, Tw_I64Attr:$rotary_dim,
    OptionalAttr<F64Attr>:$factor, OptionalAttr<Tw_I64Attr>:$original_max_position_embeddings,
    OptionalAttr<F64Attr>:$low_freq_factor, OptionalAttr<F64Attr>:$high_freq_factor, OptionalAttr<F64Attr>:$beta_fast,
    OptionalAttr<F64Attr>:$beta_slow, OptionalAttr<BoolAttr>:$truncate, OptionalAttr<DenseF64ArrayAttr>:$short_factor,
    OptionalAttr<DenseF64ArrayAttr>:$long_factor);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "(`lengths` `(` $lengths^ `:` type($lengths) `)`)? attr-dict `:` type($result)";
  let extraClassDefinition = TiledByLoopMap.methods;
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif

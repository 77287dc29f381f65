// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel-level words that linalg lacks. See Rationale.md for what is here and what was left out.
#ifndef TILEWRIGHT_IR_TILE_TILE_TD
#define TILEWRIGHT_IR_TILE_TILE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilewright::tile";
  let summary = "Kernel-level words that linalg on tile-sized tensors lacks";
  let description = [{
    A kernel is `linalg` on tile-sized tensors. This dialect adds only what linalg cannot say: access to the fields of
    a packed weight block, whose bytes hold values of several types side by side.
  }];
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_LoadFieldOp : Tile_Op<"load_field", [Pure]> {
  let summary = "reads one field of a packed block as a typed tensor";
  let description = [{
    A packed weight is `[groups][blocks][bytes]`: the last dimension of `packed` is one block, in which fields of
    different types stand one after another (quants as bytes, scales as f16, ...; the layout descriptor says where).
    The op reads, from the block that `indices` name, the field that begins at byte `offset`, as a tensor of another
    element type.

    With `E` the bytes of a result element and `lin` the row-major linear index of `i` in the result's shape:

    ```
    result[i] = little-endian value of the E bytes packed[indices, offset + E * lin(i)] ...
    ```

    Example: the nibbles of a 16-row, 32-value block and, behind them, its 16 scales.

    ```mlir
    %q = tile.load_field %packed[%group, %block] at 0 : tensor<?x?x320xi8> -> tensor<4x16x4xi8>
    %s = tile.load_field %packed[%group, %block] at 256 : tensor<?x?x320xi8> -> tensor<16xf16>
    ```

    Constraints:

    * (C1) `packed` has rank >= 1, element type i8, and a static last dimension (the bytes of a block).
    * (C2) there is one index for every dimension of `packed` but the last, or for every dimension: the last one counts
      bytes then, which `offset` is added to.
    * (C3) the result has a static shape, rank >= 1, no zero extent, and an element type of whole bytes: i8, i16, i32,
      i64, f16, bf16, f32 or f64.
    * (C4) the field lies inside the block: `offset` >= 0 and `offset` + bytes of the result <= bytes of a block.

    Reading outside of `packed` is undefined, as for `tensor.extract`.
  }];
  let arguments = (ins AnyRankedTensor:$packed, Variadic<Index>:$indices, I64Attr:$offset);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $packed `[` $indices `]` `at` $offset attr-dict `:` type($packed) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes of the field, offset not included.
    int64_t getFieldBytes();
    /// Bytes of one packed block.
    int64_t getBlockBytes();
  }];
}

def Tile_LoadBitsOp : Tile_Op<"load_bits", [Pure]> {
  let summary = "reads items of 1, 2 or 4 bits of a packed block as bytes";
  let description = [{
    Like `tile.load_field`, for a field of bytes each of which holds 8 / `width` items; of these `count` are read, from number
    `first` on (0 is in the lowest bits): first item `first` of all bytes in order, then the next of all of them.

    With `lin` the row-major linear index of `i` in the result's shape, `n` the result's elements divided by `count`, and
    `part` = lin(i) / n:

    ```
    result[i] = (packed[indices, offset + lin(i) mod n] >> width * (first + part)) & (2^width - 1)
    ```

    So, in a block of 16 rows by 32 values whose byte `[q][row][j]` holds values `4 q + j` (low) and `16 + 4 q + j`
    (high) of the row, the result is `[value / 4][row][value % 4]`: the right operand of a product of bytes.

    ```mlir
    %w = tile.load_bits %packed[%group, %block] at 0 width 4 items 0, 2 : tensor<?x?x320xi8> -> tensor<8x16x4xi8>
    %low = tile.load_bits %packed[%group, %block] at 0 width 4 items 0, 1 : tensor<?x?x320xi8> -> tensor<4x16x4xi8>
    ```

    Constraints:

    * (C1) `packed` has rank >= 1, element type i8, and a static last dimension (the bytes of a block).
    * (C2) there is one index for every dimension of `packed` but the last, or for every dimension: the last one counts
      bytes then, which `offset` is added to.
    * (C3) the result has a static shape without zero extents, an outermost extent that is a multiple of `count`, and
      element type i8.
    * (C4) the field lies inside the block: `offset` >= 0 and `offset` + n <= bytes of a block.
    * (C5) `width` is 1, 2 or 4, and the items are in a byte: `first` >= 0, `count` >= 1, `first` + `count` <= 8 / `width`.

    Reading outside of `packed` is undefined, as for `tensor.extract`.
  }];
  let arguments = (ins AnyRankedTensor:$packed, Variadic<Index>:$indices, I64Attr:$offset, I64Attr:$width, I64Attr:$first,
                       I64Attr:$count);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $packed `[` $indices `]` `at` $offset `width` $width `items` $first `,` $count attr-dict `:` type($packed) `->`
    type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes the field has in its block.
    int64_t getFieldBytes();
  }];
}

#endif // TILEWRIGHT_IR_TILE_TILE_TD

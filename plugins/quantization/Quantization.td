// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_QUANTIZATION
#define TILEWRIGHT_PLUGINS_QUANTIZATION

include "ir/interfaces/Interfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Quantization_Dialect : Dialect {
  let name = "quantization";
  let cppNamespace = "::tilewright::quantization";
  let summary = "Storage types of weights: GGUF blocks, signed bytes and 16-bit floats.";
  let description = [{
    Each type is the element type of a weight, `tensor<1536x576x!quantization.q4_1>`, and says through the `StorageType`
    interface how its blocks are laid out in a file, what they decode to, and how they are packed for kernels. Values of
    these types are never computed with; `tw.linear` and `tw.gather` read them. Blocks run along the last dimension and
    never cross a row.

    Formats are those of ggml (ggml-common.h and ggml-quants.c of github.com/ggml-org/ggml); fields are little-endian.
    The plugin also attaches `StorageType` to the builtin types `f16` and `bf16`.
  }];
  let useDefaultTypePrinterParser = 1;
}

class Quantization_Type<string cppName, string typeMnemonic>
    : TypeDef<Quantization_Dialect, cppName, [DeclareTypeInterfaceMethods<StorageType>]> {
  let mnemonic = typeMnemonic;
}

def Quantization_Q4_0Type : Quantization_Type<"Q4_0", "q4_0"> {
  let summary = "4-bit blocks with a scale";
  let description = [{
    32 elements in 18 bytes: `d` (f16), then 16 bytes of nibbles. Element e < 16 is the low nibble of byte e, element e >= 16
    the high nibble of byte e - 16. `w = d * (q - 8)`.
  }];
}

def Quantization_Q4_1Type : Quantization_Type<"Q4_1", "q4_1"> {
  let summary = "4-bit blocks with a scale and a minimum";
  let description = [{
    32 elements in 20 bytes: `d` (f16), `m` (f16), then 16 bytes of nibbles as in `q4_0`. `w = d * q + m`.
  }];
}

def Quantization_Q8_0Type : Quantization_Type<"Q8_0", "q8_0"> {
  let summary = "8-bit blocks with a scale";
  let description = [{
    32 elements in 34 bytes: `d` (f16), then 32 signed bytes. `w = d * q`.
  }];
}

def Quantization_Int8Type : Quantization_Type<"Int8", "int8"> {
  let summary = "Signed bytes without a scale";
  let description = [{
    Elements of one byte, `w = q`; rows may have any length. A weight with one scale for each output channel is a linear map by
    such a weight, and then a product:
    ```mlir
    %q = tw.linear %x, %w : tensor<?x20xf32>, tensor<12x20x!quantization.int8> -> tensor<?x12xf32>
    %s = tw.broadcast %scale like %q dims [1] : tensor<12xf32>, tensor<?x12xf32> -> tensor<?x12xf32>
    %y = tw.mul %q, %s : tensor<?x12xf32>
    ```
    Made from floats, symmetric: `scale = max|w| / 127` over a channel, `q = w / scale` to nearest, halves to even, and all 0
    where the scale is 0.
  }];
}

#endif

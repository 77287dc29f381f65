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

    Formats are those of ggml (ggml-common.h and ggml-quants.c of github.com/ggml-org/ggml); fields are little-endian. Floats
    are made into `q4_0`, `q4_1`, `q5_0`, `q5_1` and `q8_0` bit for bit as ggml's own Python package does it, and into `int8`
    with one scale for each row.
    The plugin also attaches `StorageType` to the builtin types `f16` and `bf16`.
  }];
  let useDefaultTypePrinterParser = 1;
}

class Quantization_Type<string cppName, string typeMnemonic>
    : TypeDef<Quantization_Dialect, cppName, [DeclareTypeInterfaceMethods<StorageType, ["getRowEncoding", "encodeRow"]>]> {
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

def Quantization_Q5_0Type : Quantization_Type<"Q5_0", "q5_0"> {
  let summary = "5-bit blocks with a scale";
  let description = [{
    32 elements in 22 bytes: `d` (f16), 32 bits, then 16 bytes of nibbles as in `q4_0`. Bit e is the upper bit of element e:
    `w = d * ((q | bit << 4) - 16)`.
  }];
}

def Quantization_Q5_1Type : Quantization_Type<"Q5_1", "q5_1"> {
  let summary = "5-bit blocks with a scale and a minimum";
  let description = [{
    32 elements in 24 bytes: `d` (f16), `m` (f16), 32 bits and 16 bytes of nibbles as in `q5_0`. `w = d * (q | bit << 4) + m`.
  }];
}

def Quantization_Q8_0Type : Quantization_Type<"Q8_0", "q8_0"> {
  let summary = "8-bit blocks with a scale";
  let description = [{
    32 elements in 34 bytes: `d` (f16), then 32 signed bytes. `w = d * q`.
  }];
}

def Quantization_Q2_KType : Quantization_Type<"Q2_K", "q2_k"> {
  let summary = "2-bit quants, 256 elements to a block";
  let description = [{
    256 elements in 84 bytes: 16 bytes of which each has a 4-bit factor of the scale (low half) and of the minimum (high half)
    for 16 elements, 64 bytes of quants, `d` (f16), `dmin` (f16). Element e = 128 h + 32 j + l has quant bits 2 j and 2 j + 1 of
    byte 32 h + l. `w = d * scale * q - dmin * minimum`.
  }];
}

def Quantization_Q3_KType : Quantization_Type<"Q3_K", "q3_k"> {
  let summary = "3-bit quants, 256 elements to a block";
  let description = [{
    256 elements in 110 bytes: 32 bytes of upper bits, 64 bytes of lower bits as in `q2_k`, 12 bytes of 6-bit factors for 16
    elements each, `d` (f16). The upper bit of element e is bit e / 32 of byte e % 32. `w = d * (factor - 32) * (q - 4)`.
  }];
}

def Quantization_Q4_KType : Quantization_Type<"Q4_K", "q4_k"> {
  let summary = "4-bit quants, 256 elements to a block";
  let description = [{
    256 elements in 144 bytes: `d` (f16), `dmin` (f16), 12 bytes of 6-bit factors of the scale and of the minimum for 32 elements
    each, 128 bytes of nibbles. Element e = 64 c + 32 n + l is nibble n of byte 32 c + l.
    `w = d * scale * q - dmin * minimum`.
  }];
}

def Quantization_Q5_KType : Quantization_Type<"Q5_K", "q5_k"> {
  let summary = "5-bit quants, 256 elements to a block";
  let description = [{
    256 elements in 176 bytes: `d`, `dmin` and factors as in `q4_k`, 32 bytes of upper bits (bit e / 32 of byte e % 32), then
    nibbles as in `q4_k`. `w = d * scale * (q | bit << 4) - dmin * minimum`.
  }];
}

def Quantization_Q6_KType : Quantization_Type<"Q6_K", "q6_k"> {
  let summary = "6-bit quants, 256 elements to a block";
  let description = [{
    256 elements in 210 bytes: 128 bytes of lower nibbles, 64 bytes of upper pairs of bits, 16 signed factors for 16 elements
    each, `d` (f16). Element e = 128 h + 64 n + 32 c + l is nibble n of byte 64 h + 32 c + l, and its upper bits are 4 n + 2 c
    and the next of byte 32 h + l. `w = d * factor * (q - 32)`.
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

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rewrite_gguf.py IN.gguf OUT.gguf [ALIGNMENT]: the same model, with its norm weights stored as f16, or with its tensors as they are at
multiples of another alignment (and of no larger power of two)."""
import struct
import sys

from gguf_file import F16, F32, U32, GgufFile, Tensor, entry, write

source, target, *alignment = sys.argv[1:]
model = GgufFile(source)


def half(tensor):
    if not tensor.name.endswith("norm.weight") or tensor.kind != F32:
        return tensor
    (size,) = tensor.dims
    return Tensor(tensor.name, tensor.dims, F16, struct.pack(f"<{size}e", *struct.unpack_from(f"<{size}f", tensor.raw)))


if alignment:
    alignment = int(alignment[0])
    write(target, model.entries + [entry("general.alignment", U32, struct.pack("<I", alignment))], model.tensors, alignment, no_more=True)
else:
    write(target, model.entries, [half(tensor) for tensor in model.tensors])

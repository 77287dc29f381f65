# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a GGUF file with more layers than the one it reads: layer i is a copy of layer i modulo the old number.

deepen_gguf.py MODEL.gguf LAYERS OUT.gguf
"""
import struct
import sys

from gguf_file import U32, GgufFile, Tensor, entry, write

source, layers, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
model = GgufFile(source)
entries, tensors = [], []
for each in model.entries:
    if each.key.endswith(".block_count"):
        (old,) = struct.unpack("<I", each.value)
        each = entry(each.key, U32, struct.pack("<I", layers))
    entries.append(each)
for name, dims, kind, raw in model.tensors:
    copies = [name]
    if name.startswith("blk."):
        own, rest = name[4:].split(".", 1)
        copies = [f"blk.{i}.{rest}" for i in range(int(own), layers, old)]
    tensors += [Tensor(copy, dims, kind, raw) for copy in copies]
write(target, entries, tensors)

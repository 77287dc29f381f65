# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares an exported safetensors file with the GGUF file it came from, tensor by tensor and bit by bit.

exported.py MODEL.gguf EXPORTED.safetensors keep|f32|f16|bf16 GOLDEN [int8]

The GGUF file is read and its blocks are decoded here, by their description; "keep" wants floats as they are, all else in f32. With "int8"
each row of a matrix may be such numbers as signed bytes with one number of the row make, the nearest ones to the file's.
"""
import math
import os
import struct
import sys

from gguf_file import BF16, F16, F32, GgufFile

source, exported, dtype, golden = sys.argv[1:5]
rounded = sys.argv[5:] == ["int8"]
sys.path.insert(0, golden)
from fill import Case  # noqa: E402


def half(raw):
    return struct.unpack("<e", raw)[0]


def block(kind, raw):
    """The 32 numbers of a block, exact."""
    if kind == 8:  # Q8_0
        return [half(raw[:2]) * q for q in struct.unpack("<32b", raw[2:])]
    low, high = [b & 15 for b in raw[-16:]], [b >> 4 for b in raw[-16:]]
    if kind == 2:  # Q4_0
        return [half(raw[:2]) * (q - 8) for q in low + high]
    return [half(raw[:2]) * q + half(raw[2:4]) for q in low + high]  # Q4_1


WIDTH = {2: 18, 3: 20, 8: 34}
FLOATS = {F32: ("F32", 4), F16: ("F16", 2), BF16: ("BF16", 2)}


def numbers(kind, raw):
    if kind == F32:
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))
    if kind == F16:
        return list(struct.unpack(f"<{len(raw) // 2}e", raw))
    if kind == BF16:
        return [struct.unpack("<f", b"\0\0" + raw[i : i + 2])[0] for i in range(0, len(raw), 2)]
    return [x for i in range(0, len(raw), WIDTH[kind]) for x in block(kind, raw[i : i + WIDTH[kind]])]


def packed(values, name):
    if name == "F32":
        return struct.pack(f"<{len(values)}f", *values)
    values = struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}f", *values))  # through f32
    if name == "F16":
        return struct.pack(f"<{len(values)}e", *values)
    bits = [struct.unpack("<I", struct.pack("<f", x))[0] for x in values]
    return b"".join(struct.pack("<H", (x + 0x7FFF + (x >> 16 & 1)) >> 16) for x in bits)


def are_scaled_bytes(found, wanted):
    largest = max(map(abs, wanted))
    return all(abs(a - b) <= largest / 253 for a, b in zip(found, wanted)) and abs(max(map(abs, found)) - largest) <= 1e-6 * largest


tensors = GgufFile(source).tensors
case = Case(exported)
names = {tensor.name for tensor in tensors}
if set(case.entries) != names:
    sys.exit(f"other tensors: {sorted(set(case.entries) ^ names)}")
for name, dims, kind, raw in tensors:
    shape, elements = dims[::-1], math.prod(dims)
    length = elements * FLOATS[kind][1] if kind in FLOATS else elements // 32 * WIDTH[kind]
    raw = raw[:length]  # without what pads it
    wanted = dtype.upper() if dtype != "keep" else FLOATS.get(kind, ("F32",))[0]
    entry = case.entries[name]
    if entry["shape"] != shape or entry["dtype"] != wanted:
        sys.exit(f"{name} is {entry['dtype']} {entry['shape']}, wanted {wanted} {shape}")
    if rounded and len(shape) == 2:
        found, exact = numbers(F32, case.raw(name)), numbers(kind, raw)
        if not all(are_scaled_bytes(found[i : i + shape[1]], exact[i : i + shape[1]]) for i in range(0, elements, shape[1])):
            sys.exit(f"{name} has rows of other numbers")
    elif case.raw(name) != (raw if kind in FLOATS and wanted == FLOATS[kind][0] else packed(numbers(kind, raw), wanted)):
        sys.exit(f"{name} has other numbers")
offsets = sorted((e["data_offsets"], struct.calcsize({"F32": "f"}.get(e["dtype"], "e"))) for e in case.entries.values())
if any(begin % width for (begin, _), width in offsets) or offsets[-1][0][1] != len(case.bytes):
    sys.exit("a tensor is not aligned to its elements, or there are bytes behind the last")
print(f"{len(tensors)} tensors of {os.path.basename(os.path.dirname(source))} are equal")

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints, for each block type, a checksum of what 1,000 blocks of random bytes mean: the table of
DecodeTest.cpp, which makes the same bytes. Needs the PyPI packages `gguf` (made with 0.19) and `numpy`."""
import numpy
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

BLOCKS = 1000
MASK = (1 << 64) - 1


def random_bytes(seed, count):
    """SplitMix64 (Steele, Lea and Flood, 2014), the low byte of each number."""
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield (z ^ (z >> 31)) & 0xFF


for name in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"):
    kind = GGMLQuantizationType[name]
    elements, size = GGML_QUANT_SIZES[kind]
    data = numpy.frombuffer(bytes(random_bytes(kind.value, BLOCKS * size)), numpy.uint8).reshape(BLOCKS, size)
    with numpy.errstate(all="ignore"):
        values = quants.dequantize(data, kind).reshape(BLOCKS * elements).astype(numpy.float32)
    total = 0xCBF29CE484222325
    for bits, unordered in zip(values.view(numpy.uint32).tolist(), numpy.isnan(values).tolist()):
        total = ((total ^ (0x7FC00000 if unordered else bits)) * 0x100000001B3) & MASK
    print(f"    {{FormatKind::{name}, {kind.value}, 0x{total:016x}}},")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hand.py FOLDER: blocks made by hand whose elements can be told apart, and what they mean.

q4_1: scale 2, minimum -3, element e has quant e % 16 in the low half and 15 - e % 16 in the high half: w = 2 q - 3.
q4_0: scale 0.5, the same quants: w = (q - 8) / 2. q8_0: scale 0.25, element e is e - 16: w = (e - 16) / 4.
"""
import struct
import sys

quants = [e if e < 16 else 15 - e % 16 for e in range(32)]
nibbles = bytes(quants[e] | quants[e + 16] << 4 for e in range(16))
blocks = {
    "q4_1": (struct.pack("<ee", 2.0, -3.0) + nibbles, [2.0 * q - 3.0 for q in quants]),
    "q4_0": (struct.pack("<e", 0.5) + nibbles, [(q - 8) * 0.5 for q in quants]),
    "q8_0": (struct.pack("<e32b", 0.25, *range(-16, 16)), [(e - 16) * 0.25 for e in range(32)]),
}
for name, (block, values) in blocks.items():
    open(f"{sys.argv[1]}/{name}.raw", "wb").write(block)
    open(f"{sys.argv[1]}/{name}.values", "wb").write(struct.pack("<32f", *values))

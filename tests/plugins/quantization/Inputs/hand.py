# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hand.py FOLDER: blocks made by hand whose elements can be told apart, and what they mean.

q4_1: scale 2, minimum -3, element e has quant e % 16 in the low half and 15 - e % 16 in the high half: w = 2 q - 3.
q4_0: scale 0.5, the same quants: w = (q - 8) / 2. q8_0: scale 0.25, element e is e - 16: w = (e - 16) / 4.
int8: element e is 8 e - 128. f16 and bf16: element e is e / 8 - 2.
q5_1: scale 2, minimum -3, element e has quant e: w = 2 e - 3. q5_0: scale 0.5, the same quants: w = (e - 16) / 2.
q5_0_bits and q5_1_bits: of the upper bits those of elements 0 and 16 are set, all nibbles are 0.
q4_0_nibbles and q4_1_nibbles: byte 0 is 0x0F and the others 0, so that element 0 is the largest and all others, 16 among
them, are the smallest; then byte 0 is 0xF0, and element 16 is. Byte 0 alone holds elements 0 and 16, not 0 and 1.
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
counted = struct.pack("<I", 0xFFFF0000) + bytes(e | e << 4 for e in range(16))  # upper bits, then nibbles
blocks["q5_1"] = (struct.pack("<ee", 2.0, -3.0) + counted, [2.0 * e - 3.0 for e in range(32)])
blocks["q5_0"] = (struct.pack("<e", 0.5) + counted, [(e - 16) * 0.5 for e in range(32)])
for name, header, low, high in (("q5_0", struct.pack("<e", 1.0), -16.0, 0.0), ("q5_1", struct.pack("<ee", 2.0, -3.0), -3.0, 29.0)):
    block = header + struct.pack("<I", 1 | 1 << 16) + bytes(16)
    blocks[name + "_bits"] = (block, [high if e in (0, 16) else low for e in range(32)])
eighths = [e / 8 - 2 for e in range(32)]
blocks["int8"] = (struct.pack("<32b", *range(-128, 128, 8)), [8.0 * e - 128 for e in range(32)])
blocks["f16"] = (struct.pack("<32e", *eighths), eighths)
blocks["bf16"] = (b"".join(struct.pack("<f", value)[2:] for value in eighths), eighths)
for name, header, low, high in (("q4_0", struct.pack("<e", 1.0), -8.0, 7.0), ("q4_1", struct.pack("<ee", 2.0, -3.0), -3.0, 27.0)):
    both = b"".join(header + bytes([byte] + [0] * 15) for byte in (0x0F, 0xF0))
    blocks[name + "_nibbles"] = (both, [high if e in (0, 32 + 16) else low for e in range(64)])
for name, (block, values) in blocks.items():
    open(f"{sys.argv[1]}/{name}.raw", "wb").write(block)
    open(f"{sys.argv[1]}/{name}.values", "wb").write(struct.pack(f"<{len(values)}f", *values))

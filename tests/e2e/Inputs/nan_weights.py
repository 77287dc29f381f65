#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nan_weights.py IN.gguf OUT.gguf NAME:BYTE:HEX...: the same model with the bytes HEX from byte BYTE of tensor NAME on."""
import struct
import sys

from rewrite_gguf import Reader, padded


def main():
    with open(sys.argv[1], "rb") as file:
        data = bytearray(file.read())
    reader = Reader(bytes(data))
    reader.at = 8
    tensors, pairs = reader.number("Q"), reader.number("Q")
    for _ in range(pairs):
        reader.string()
        reader.skip(reader.number("I"))
    offsets = {}
    for _ in range(tensors):
        name, rank = reader.string().decode(), reader.number("I")
        reader.at += 8 * rank + struct.calcsize("<I")
        offsets[name] = reader.number("Q")
    body = len(padded(bytes(data[: reader.at])))
    for change in sys.argv[3:]:
        name, at, new = change.split(":")
        first = body + offsets[name] + int(at)
        data[first : first + len(new) // 2] = bytes.fromhex(new)
    with open(sys.argv[2], "wb") as file:
        file.write(data)


main()

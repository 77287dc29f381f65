#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nan_weights.py IN.gguf OUT.gguf NAME:BYTE:HEX...: the same model with the bytes HEX from byte BYTE of tensor NAME on."""
import sys

from gguf_file import GgufFile

model = GgufFile(sys.argv[1])
data = bytearray(model.data)
for change in sys.argv[3:]:
    name, at, new = change.split(":")
    first = model.places[name] + int(at)
    data[first : first + len(new) // 2] = bytes.fromhex(new)
with open(sys.argv[2], "wb") as file:
    file.write(data)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""retype_golden.py IN FOLDER TENSOR TYPE...: a golden case for each type, FOLDER/TYPE.safetensors, in which the tensor of
truth values is of that type: true is 200, or -3 where there is a sign; exact values are left out."""
import json
import os
import struct
import sys

CODES = {"U8": "B", "I8": "b", "U16": "H", "I16": "h", "U32": "I", "I32": "i", "I64": "q", "F16": "e", "F32": "f", "F64": "d"}

source, folder, tensor, *types = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read()
size = struct.unpack("<Q", data[:8])[0]
entries = json.loads(data[8 : 8 + size])
body = data[8 + size :]
metadata = entries.pop("__metadata__")
os.makedirs(folder)
for kind in types:
    kept, tensors = {"__metadata__": dict(metadata, case=kind)}, b""
    for name, entry in entries.items():
        if not name.startswith(("in.", "out.")):
            continue
        begin, end = entry["data_offsets"]
        raw = body[begin:end]
        if name == tensor:
            true = 200 if kind.startswith("U") else -3
            raw = struct.pack(f"<{len(raw)}{CODES[kind]}", *(true * byte for byte in raw))
            entry = dict(entry, dtype=kind)
        kept[name] = dict(entry, data_offsets=[len(tensors), len(tensors) + len(raw)])
        tensors += raw
    header = json.dumps(kept).encode()
    with open(os.path.join(folder, kind + ".safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + tensors)

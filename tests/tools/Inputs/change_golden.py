#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""change_golden.py IN OUT [KEY=TEXT...]: a golden case whose first output value is another, with these attributes set to
texts; gradients and exact values are left out."""
import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
size = struct.unpack("<Q", data[:8])[0]
entries = json.loads(data[8 : 8 + size])
body = data[8 + size :]
metadata = entries.pop("__metadata__")
metadata["attrs"] = json.dumps(json.loads(metadata["attrs"]) | dict(argument.split("=") for argument in sys.argv[3:]))
kept, tensors = {"__metadata__": metadata}, b""
for name, entry in entries.items():
    if not name.startswith(("in.", "out.")):
        continue
    begin, end = entry["data_offsets"]
    raw = body[begin:end]
    if name.startswith("out."):
        raw = struct.pack("<f", struct.unpack("<f", raw[:4])[0] + 1.0) + raw[4:]
    kept[name] = dict(entry, data_offsets=[len(tensors), len(tensors) + len(raw)])
    tensors += raw
header = json.dumps(kept).encode()
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + tensors)

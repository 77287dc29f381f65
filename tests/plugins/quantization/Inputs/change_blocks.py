#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""change_blocks.py BLOCKS OUT TENSOR=COUNT|nan...: the tensors of Q4_0 in a golden case of blocks; of TENSOR only COUNT elements, or
all of it with NaN in front."""
import json
import struct
import sys

source, target = sys.argv[1:3]
changes = dict(argument.split("=") for argument in sys.argv[3:])
with open(source, "rb") as file:
    data = file.read()
size = struct.unpack("<Q", data[:8])[0]
entries = json.loads(data[8 : 8 + size])
metadata = entries["__metadata__"]
metadata["attrs"] = json.dumps({"Q4_0": json.loads(metadata["attrs"])["Q4_0"]})
kept, tensors = {"__metadata__": metadata}, b""
for name, entry in entries.items():
    if not name.startswith("Q4_0."):
        continue
    begin, end = entry["data_offsets"]
    raw, shape = data[8 + size + begin : 8 + size + end], entry["shape"]
    how = changes.get(name)
    if how == "nan":
        raw = struct.pack("<f", float("nan")) + raw[4:]
    elif how:
        raw, shape = raw[: int(how) * (4 if entry["dtype"] == "F32" else 1)], [1, int(how)]
    kept[name] = dict(entry, shape=shape, data_offsets=[len(tensors), len(tensors) + len(raw)])
    tensors += raw
header = json.dumps(kept).encode()
with open(target, "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + tensors)

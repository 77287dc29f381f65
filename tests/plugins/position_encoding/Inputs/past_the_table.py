#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""past_the_table.py IN OUT: the golden case of a learned table with the last position one past the table's end."""
import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
size = struct.unpack("<Q", data[:8])[0]
entries = json.loads(data[8 : 8 + size])
end = 8 + size + entries["in.position_ids"]["data_offsets"][1]
data[end - 8 : end] = struct.pack("<q", entries["in.table"]["shape"][0])
with open(sys.argv[2], "wb") as file:
    file.write(data)

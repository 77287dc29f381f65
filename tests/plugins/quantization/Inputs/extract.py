# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""extract.py FILE TENSOR OUT: writes the bytes of one tensor of a safetensors file."""
import json
import struct
import sys

path, name, out = sys.argv[1:]
data = open(path, "rb").read()
size = struct.unpack("<Q", data[:8])[0]
begin, end = json.loads(data[8 : 8 + size])[name]["data_offsets"]
open(out, "wb").write(data[8 + size + begin : 8 + size + end])

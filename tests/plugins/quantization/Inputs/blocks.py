# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""blocks.py DECODE FILE FOLDER: runs `DECODE kind raw values` on every pair of blocks and values in a safetensors file
(TYPE.raw with TYPE.dequant, TYPE.random_raw with TYPE.random_dequant), through files in FOLDER, and `DECODE --encode kind raw values`
on those whose blocks were made from what is stored too (TYPE.source), but for floats."""
import json
import os
import struct
import subprocess
import sys

program, path, folder = sys.argv[1:]
data = open(path, "rb").read()
size = struct.unpack("<Q", data[:8])[0]
tensors = json.loads(data[8 : 8 + size])


def write(name):
    begin, end = tensors[name]["data_offsets"]
    target = os.path.join(folder, name)
    open(target, "wb").write(data[8 + size + begin : 8 + size + end])
    return target


failed = False
for name in sorted(tensors):
    kind, _, part = name.partition(".")
    if part in ("raw", "random_raw"):
        values = write(kind + "." + part.replace("raw", "dequant"))
        print(part, end=" ", flush=True)
        failed |= subprocess.run([program, kind.lower(), write(name), values]).returncode != 0
    if part == "source" and not kind.endswith("F16"):
        failed |= subprocess.run([program, "--encode", kind.lower(), write(kind + ".raw"), write(name)]).returncode != 0
sys.exit(failed)

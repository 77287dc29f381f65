# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""blocks.py GOLDEN DECODE FILE FOLDER: runs `DECODE kind raw values` on every pair of blocks and values in a safetensors file
(TYPE.raw with TYPE.dequant, TYPE.random_raw with TYPE.random_dequant), through files in FOLDER, and `DECODE --encode kind raw values`
on those whose blocks were made from what is stored too (TYPE.source), but for floats."""
import os
import subprocess
import sys

golden, program, path, folder = sys.argv[1:]
sys.path.insert(0, golden)
from fill import Case  # noqa: E402

case = Case(path)


def write(name):
    target = os.path.join(folder, name)
    with open(target, "wb") as file:
        file.write(case.raw(name))
    return target


failed = False
for name in sorted(case.entries):
    kind, _, part = name.partition(".")
    if part in ("raw", "random_raw"):
        values = write(kind + "." + part.replace("raw", "dequant"))
        print(part, end=" ", flush=True)
        failed |= subprocess.run([program, kind.lower(), write(name), values]).returncode != 0
    if part == "source" and not kind.endswith("F16"):
        failed |= subprocess.run([program, "--encode", kind.lower(), write(kind + ".raw"), write(name)]).returncode != 0
sys.exit(failed)

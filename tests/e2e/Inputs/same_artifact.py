# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_artifact.py FOLDER FOLDER: the two compiled models consist of the same files with the same bytes."""
import os
import sys

one, other = sys.argv[1:]
names = sorted(os.listdir(one))
if names != sorted(os.listdir(other)) or "model.so" not in names:
    sys.exit(f"error: {one} has {names}, {other} {sorted(os.listdir(other))}")
for name in names:
    with open(f"{one}/{name}", "rb") as first, open(f"{other}/{name}", "rb") as second:
        a, b = first.read(), second.read()
    if a != b:
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        sys.exit(f"error: {name} differs at byte {at}: {a[at - 40 : at + 40]!r} in {one}, {b[at - 40 : at + 40]!r} in {other}")

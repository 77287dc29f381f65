# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_weights.py TILEWRIGHT GRAPH GGUF: the weights of a graph that `import --quantize` wrote are, type by type and bit for bit, those of
a GGUF file in which another implementation quantised the same numbers."""
import json
import os
import subprocess
import sys

tilewright, made, golden = sys.argv[1:]


def weights(path):
    """(type, bytes) by name."""
    text = subprocess.run([tilewright, "inspect", path, "--json"], check=True, capture_output=True, text=True).stdout
    found = {}
    for weight in json.loads(text)["weights"]:
        place = os.path.join(os.path.dirname(path), weight["file"])
        with open(place, "rb") as file:
            file.seek(weight["offset"])
            found[weight["name"]] = (json.dumps(weight["type"]), file.read(weight["bytes"]))
    return found


ours, theirs = weights(made), weights(golden)
if ours.keys() != theirs.keys():
    sys.exit(f"weights differ: {sorted(ours.keys() ^ theirs.keys())}")
for name, found in ours.items():
    if found[0] != theirs[name][0]:
        sys.exit(f"{name} is {found[0]}, wanted {theirs[name][0]}")
    if found[1] != theirs[name][1]:
        sys.exit(f"the bytes of {name} differ")
print(f"{len(ours)} weights are equal, {sum('quantization' in kind for kind, _ in ours.values())} of them blocks")

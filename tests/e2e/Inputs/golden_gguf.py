# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a compiled model on a golden case's inputs and compares the logits with its outputs.

golden_gguf.py TILEWRIGHT ARTIFACT IO.SAFETENSORS SCRATCH ABSOLUTE [options of run]

Prints the largest difference; exit code 1 when it is above ABSOLUTE. Rows padded left and right must give what they give alone, and rows of pads nothing.
"""
import array
import json
import struct
import subprocess
import sys

tilewright, artifact, golden, scratch, limit, *options = sys.argv[1:]


def read(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        values = array.array({"F32": "f", "I64": "q"}[entry["dtype"]])
        values.frombytes(data[begin:end])
        tensors[name] = (entry["shape"], values)
    return tensors


def write(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        header[name] = {"dtype": "I64", "shape": shape, "data_offsets": [len(data), len(data) + 8 * len(values)]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def run(inputs):
    write(scratch + ".in", inputs)
    subprocess.run([tilewright, "run", artifact, "--inputs", scratch + ".in", "--outputs", scratch + ".out", *options], check=True)
    return read(scratch + ".out")["logits"][1]


cases = read(golden)
(batch, length), ids = cases["plain.input_ids"]
(_, _, vocab), wanted = cases["plain.logits"]
found = run({"input_ids": ([batch, length], ids)})
worst = max(abs(a - b) for a, b in zip(found, wanted))
print(f"plain: largest difference {worst:.3g}")

# The same rows, the first padded on the left, the others on the right.
pad = 3
padded, mask = array.array("q"), array.array("q")
for b in range(batch):
    row = ids[b * length : (b + 1) * length]
    fill, hidden, shown = array.array("q", [1] * pad), array.array("q", [0] * pad), array.array("q", [1] * length)
    padded += fill + row if b == 0 else row + fill
    mask += hidden + shown if b == 0 else shown + hidden
found = run({"input_ids": ([batch, length + pad], padded), "attention_mask": ([batch, length + pad], mask)})
for b in range(batch):
    start = pad if b == 0 else 0
    for t in range(length + pad):
        row = found[(b * (length + pad) + t) * vocab : (b * (length + pad) + t + 1) * vocab]
        if start <= t < start + length:
            truth = wanted[(b * length + t - start) * vocab : (b * length + t - start + 1) * vocab]
            worst = max(worst, max(abs(x - y) for x, y in zip(row, truth)))
        elif any(row):
            sys.exit(f"padded: row {b}, place {t} is a pad, but its logits are not zero")
print(f"padded: largest difference {worst:.3g}")

# A row of nothing but pads in front of them: its logits are zeros, the others keep every bit. And no rows at all.
extra = run({"input_ids": ([batch + 1, length + pad], array.array("q", [1] * (length + pad)) + padded),
             "attention_mask": ([batch + 1, length + pad], array.array("q", [0] * (length + pad)) + mask)})
if any(extra[: (length + pad) * vocab]) or extra[(length + pad) * vocab :] != found:
    sys.exit("a row of pads has logits, or changes those of others")
if run({"input_ids": ([0, length], array.array("q"))}):
    sys.exit("no rows have logits")

# Turned positions: only their distances count. The pads' own ones do not matter.
shape, shift = ([batch, length + pad], 7)
count = array.array("q")
for b in range(batch):
    hidden, shown = array.array("q", [0] * pad), array.array("q", range(shift, shift + length))
    count += hidden + shown if b == 0 else shown + hidden
inputs = {"input_ids": (shape, padded), "attention_mask": (shape, mask)}
moved = run({**inputs, "position_ids": (shape, count)})
gap = max(abs(x - y) for x, y in zip(found, moved))
print(f"moved by {shift}: largest difference {gap:.3g}")
worst = max(worst, gap)
if gap == 0:
    sys.exit("moved positions gave the very same numbers: they were not used")
# Positions twice as far apart are another sentence.
spread = array.array("q", [2 * x for x in count])
if max(abs(x - y) for x, y in zip(found, run({**inputs, "position_ids": (shape, spread)}))) < 0.01:
    sys.exit("spread positions changed nothing")

for wrong in (-1, 1 << 40):
    count[pad + 1] = wrong
    write(scratch + ".in", {**inputs, "position_ids": (shape, count)})
    command = [tilewright, "run", artifact, "--inputs", scratch + ".in", "--outputs", scratch + ".none"]
    refused = subprocess.run(command, capture_output=True, text=True)
    if refused.returncode != 3 or f"position_ids[0, {pad + 1}] is {wrong}; the model has positions 0 to" not in refused.stderr:
        sys.exit(f"position {wrong}: exit code {refused.returncode}, {refused.stderr}")
sys.exit(0 if worst <= float(limit) else f"the largest difference is above {limit}")

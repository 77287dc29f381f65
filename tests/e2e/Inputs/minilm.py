#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""all-MiniLM-L6-v2's vectors of sentences against Transformers' in f64.

minilm.py GOLDEN TILEWRIGHT ARTIFACT SCRATCH    from texts: token ids, and vectors as `run --text` makes them; from token ids:
hidden rows, which are pooled and normalised here
"""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
from fill import Case  # noqa: E402
from write import save  # noqa: E402

golden, tilewright, artifact, scratch = sys.argv[1:5]
reference = Case(os.path.join(golden, "minilm", "reference.safetensors"))
batch, length = shape = reference.entries["input_ids"]["shape"]
ids, mask = ([int(x) for x in reference.values(name)] for name in ("input_ids", "attention_mask"))
sentences = json.load(open(os.path.join(golden, "minilm", "sentences.json")))
wanted = list(reference.values("embeddings"))
width = len(wanted) // batch
LIMIT = 1e-5  # vectors of length 1; attention of numerics precise alone may be off by 1e-4 of its largest number (ir/tw/Numerics.cpp)


def tell(*words):
    return json.loads(subprocess.run([tilewright, *words, "--json"], check=True, capture_output=True).stdout)


for b, sentence in enumerate(sentences):
    path = os.path.join(scratch, "sentence.txt")
    with open(path, "w", encoding="utf-8") as text:
        text.write(sentence)
    found, expected = tell("tokenize", artifact, "--file", path)["ids"], [ids[b * length + t] for t in range(length) if mask[b * length + t]]
    if found != expected:
        sys.exit(f"sentence {b}: {found}, wanted {expected}")
vectors = tell("run", artifact, "--pool", "mean", "--normalize", *(word for s in sentences for word in ("--text", s)))["embeddings"]
worst = max(abs(x - wanted[b * width + e]) for b in range(batch) for e, x in enumerate(vectors[b]))
print(f"{len(vectors)} texts, largest difference {worst:.3g}")
if worst > LIMIT:
    sys.exit(1)
save(os.path.join(scratch, "in.safetensors"), {"input_ids": ("I64", shape, ids), "attention_mask": ("I64", shape, mask)})
files = ["--inputs", os.path.join(scratch, "in.safetensors"), "--outputs", os.path.join(scratch, "out.safetensors")]
subprocess.run([tilewright, "run", artifact, *files], check=True)
out = Case(os.path.join(scratch, "out.safetensors"))
rows = list(out.values("hidden"))
worst = 0
for b in range(batch):
    shown = [t for t in range(length) if mask[b * length + t]]
    mean = [math.fsum(rows[(b * length + t) * width + e] for t in shown) / len(shown) for e in range(width)]
    norm = math.sqrt(math.fsum(x * x for x in mean))
    worst = max(worst, max(abs(x / norm - wanted[b * width + e]) for e, x in enumerate(mean)))
print(f"{batch} vectors, largest difference {worst:.3g}")
sys.exit(0 if worst <= LIMIT else 1)

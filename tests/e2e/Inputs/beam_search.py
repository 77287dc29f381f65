#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Beam search against all texts there are.

beam_search.py GOLDEN TILEWRIGHT ARTIFACT SCRATCH encoder-decoder|decoder STOP|second LENGTH_PENALTY

A vocabulary of V tokens and V beams: nothing is cut in texts of two tokens, so the search must find the best of all of them, which
are scored one by one by forward passes. STOP ends a text; "second" is the second best beginning, so that a penalty of length makes it the
best text where greedy choice goes on.
"""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
from fill import Case  # noqa: E402
from write import save  # noqa: E402

tilewright, artifact, scratch, kind, stop, penalty = *sys.argv[2:7], float(sys.argv[7])
SOURCE, START = [7, 31, 2, 40, 11], 3


def log_probabilities(texts):
    """Of what follows each text, all of one length."""
    inputs, length = {}, len(texts[0])
    if kind == "encoder-decoder":
        inputs["input_ids"] = ("I64", [len(texts), len(SOURCE)], SOURCE * len(texts))
    name = "decoder_input_ids" if kind == "encoder-decoder" else "input_ids"
    inputs[name] = ("I64", [len(texts), length], [token for text in texts for token in text])
    save(os.path.join(scratch, "in.safetensors"), inputs)
    files = ["--inputs", os.path.join(scratch, "in.safetensors"), "--outputs", os.path.join(scratch, "out.safetensors")]
    subprocess.run([tilewright, "run", artifact, *files], check=True)
    out = Case(os.path.join(scratch, "out.safetensors"))
    values, size = list(out.values("logits")), out.entries["logits"]["shape"][2]
    rows = [values[(i * length + length - 1) * size : (i + 1) * length * size] for i in range(len(texts))]
    return [[x - max(row) - math.log(sum(math.exp(y - max(row)) for y in row)) for x in row] for row in rows]


prompt = [START] if kind == "encoder-decoder" else SOURCE
(first,) = log_probabilities([prompt])
stop = sorted(range(len(first)), key=first.__getitem__)[-2] if stop == "second" else int(stop)
second = log_probabilities([prompt + [token] for token in range(len(first))])
scores = {}
for a, p in enumerate(first):
    if a == stop:
        scores[(a,)] = p
        continue
    for b, q in enumerate(second[a]):
        scores[(a, b)] = (p + q) / 2**penalty
wanted = max(scores, key=scores.get)

options = ["--prompt-ids", ",".join(map(str, SOURCE)), "--num-beams", str(len(first)), "--length-penalty", str(penalty), "--max-tokens", "2",
           "--stop-id", str(stop), "--ids-out", os.path.join(scratch, "ids.json"), "--quiet"]
subprocess.run([tilewright, "generate", artifact, *options], check=True, stdout=subprocess.DEVNULL)
with open(os.path.join(scratch, "ids.json")) as file:
    found = tuple(json.load(file)["ids"])
runner_up = sorted(scores.values())[-2]
print(f"wanted {wanted} with {scores[wanted]:.6f}, the next has {runner_up:.6f}; found {found}")
greedy = (max(range(len(first)), key=first.__getitem__),)
print("greedy begins alike" if greedy[0] == wanted[0] else "greedy begins otherwise")
if found != wanted and scores.get(found, -1e9) < scores[wanted] - 1e-6:
    sys.exit(1)

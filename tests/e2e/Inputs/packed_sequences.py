#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sequences of different lengths, padded, against each of them alone.

packed_sequences.py GOLDEN TILEWRIGHT ARTIFACT SCRATCH encoder|encoder-decoder RESULT

Pads are at the right, at the left and inside; their results must be zeros, and no number of the others may depend on them.
"""
import os
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
from fill import Case  # noqa: E402
from write import save  # noqa: E402

tilewright, artifact, scratch, kind, result = sys.argv[2:7]
LENGTHS, WIDTH, VOCABULARY = [1, 3, 64, 70, 149], 149, 50


def run(inputs):
    save(os.path.join(scratch, "in.safetensors"), inputs)
    files = ["--inputs", os.path.join(scratch, "in.safetensors"), "--outputs", os.path.join(scratch, "out.safetensors")]
    subprocess.run([tilewright, "run", artifact, *files, "--output", result], check=True)
    out = Case(os.path.join(scratch, "out.safetensors"))
    return list(out.values(result)), out.entries[result]["shape"][-1]


def rows(seed, length, limit):
    return [(seed * 31 + i * i * 7 + i * 3) % limit for i in range(length)]


def padded(values, places):
    row = [1] * WIDTH
    for place, value in zip(places, values):
        row[place] = value
    return row


def places(number, length):
    """At the right, at the left, and every second place as far as there is room."""
    if number % 3 == 2 and 2 * length <= WIDTH:
        return list(range(0, 2 * length, 2))
    return list(range(length)) if number % 3 == 0 else list(range(WIDTH - length, WIDTH))


reads = kind == "encoder-decoder"
tokens = [rows(i, length, VOCABULARY) for i, length in enumerate(LENGTHS)]
types = [rows(i + 5, length, 2) for i, length in enumerate(LENGTHS)]
texts = [rows(i + 9, length, VOCABULARY) for i, length in enumerate(reversed(LENGTHS))] if reads else tokens
at = [places(i, length) for i, length in enumerate(LENGTHS)]
shown = [places(i + 1, len(text)) for i, text in enumerate(texts)] if reads else at


def together(ids, where):
    shape = [len(ids), WIDTH]
    return (("I64", shape, [x for row, p in zip(ids, where) for x in padded(row, p)]),
            ("I64", shape, [int(i in p) for p in map(set, where) for i in range(WIDTH)]))


inputs = {}
inputs["input_ids"], inputs["attention_mask"] = together(tokens, at)
inputs["token_type_ids"], _ = together(types, at)
if reads:
    inputs["decoder_input_ids"], inputs["decoder_attention_mask"] = together(texts, shown)
found, size = run(inputs)
worst = 0
for number, (row, kinds, text) in enumerate(zip(tokens, types, texts)):
    single = {"input_ids": ("I64", [1, len(row)], row), "token_type_ids": ("I64", [1, len(row)], kinds)}
    if reads:
        single["decoder_input_ids"] = ("I64", [1, len(text)], text)
    alone, _ = run(single)
    for i in range(WIDTH):
        values = found[(number * WIDTH + i) * size : (number * WIDTH + i + 1) * size]
        if i not in shown[number]:
            if any(values):
                sys.exit(f"sequence {number}, place {i} is a pad, but its results are not zero")
            continue
        t = shown[number].index(i)
        worst = max(worst, max(abs(a - b) for a, b in zip(values, alone[t * size : (t + 1) * size])))
print(f"largest difference {worst:.3g}")
del inputs["token_type_ids"]
without, _ = run(inputs)
if max(abs(a - b) for a, b in zip(found, without)) < 1e-3:
    sys.exit("token types changed nothing")
sys.exit(0 if worst <= 1e-5 else 1)  # a tenth of what the contract of attention allows numerics precise

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rounding_cases.py FOLDER GOLDEN: golden cases of RMS norms in bf16 whose results differ with the order of rounding.

A thousand rows each. Llama rounds the normalised value before it multiplies by the weight; Gemma adds one to the weight and
multiplies in f32, and rounds once. Weights of 0.00390625 (1 + w is 1 in bf16) and 15.8125 (1 + w is 16.75) would be lost if
one were added in bf16. `*_swapped` has the results of another order: it has to differ."""
import os
import random
import sys

sys.path.insert(0, sys.argv[2])
from write import bf16, near_tie, write  # noqa: E402

EPSILON, WIDTH, ROWS = 1e-6, 16, 1000


def llama(normal, weight):
    return bf16(bf16(normal) * weight)


def gemma(normal, weight):
    return bf16(normal * (1 + weight))


def make(name, unit_offset, result):
    random.seed(7)
    weights = [0.00390625, 15.8125] + [bf16(random.gauss(0 if unit_offset else 1, 0.3)) for _ in range(WIDTH - 2)]
    xs, ys = [], []
    while len(ys) < ROWS * WIDTH:
        row = [bf16(random.gauss(0, 1)) for _ in range(WIDTH)]
        root = (sum(x * x for x in row) / WIDTH + EPSILON) ** 0.5
        normal = [x / root for x in row]
        if any(near_tie(n) or near_tie(n * w) or near_tie(n * (1 + w)) for n, w in zip(normal, weights)):
            continue
        xs += row
        ys += [result(n, w) for n, w in zip(normal, weights)]
    xs += [0.0] * WIDTH  # a row of zeros stays one
    ys += [0.0] * WIDTH
    write(sys.argv[1], name, "rms_norm", {"eps": EPSILON, "plus_one": unit_offset, "storage": "bf16"},
          {"in.x": ("BF16", [ROWS + 1, WIDTH], xs), "in.weight": ("BF16", [WIDTH], weights),
           "out.y": ("BF16", [ROWS + 1, WIDTH], ys)})


os.makedirs(sys.argv[1], exist_ok=True)
make("llama_order", False, llama)
make("gemma_order", True, gemma)
make("llama_swapped", False, lambda n, w: bf16(n * w))
make("gemma_swapped", True, lambda n, w: bf16(bf16(n) * bf16(1 + w)))

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_cases.py FOLDER: golden cases of differential attention, computed by plain Python in f64.

An implementation that is not yours is better: store what the authors' model computes.
"""
import json
import math
import os
import random
import struct
import sys


def save(path, tensors, metadata):
    """As save_file(tensors, path, metadata) of the package safetensors: name -> (dtype, shape, numbers)."""
    header, data = {"__metadata__": metadata}, b""
    for name, (dtype, shape, numbers) in tensors.items():
        new = struct.pack(f"<{len(numbers)}{'d' if dtype == 'F64' else 'f'}", *numbers)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(new)]}
        data += new
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def attend(q, k, v, causal):
    """softmax(q kᵀ / √d) v of one head; lists of rows."""
    rows = []
    for i, query in enumerate(q):
        visible = range(min(len(k), i + 1 + len(k) - len(q)) if causal else len(k))
        scores = [sum(x * y for x, y in zip(query, k[j])) / math.sqrt(len(query)) for j in visible]
        weights = [math.exp(score - max(scores)) for score in scores]
        rows.append([sum(w * v[j][d] for w, j in zip(weights, visible)) / sum(weights) for d in range(len(v[0]))])
    return rows


def case(folder, name, heads, queries, keys, width, weighted, **attrs):
    draw = random.Random(name)

    def numbers(count):  # exact in f32
        return [draw.randrange(-128, 128) / 64 for _ in range(count)]

    def rows(flat, head, count, size):
        return [flat[(head * count + i) * size : (head * count + i + 1) * size] for i in range(count)]

    shapes = {"q1": [1, heads, queries, width], "k1": [1, heads, keys, width], "v": [1, heads, keys, 2 * width]}
    shapes |= {"q2": shapes["q1"], "k2": shapes["k1"], "lambda": [heads]}
    if weighted:
        shapes["weight"] = [2 * width]
    x = {key: numbers(math.prod(shape)) for key, shape in shapes.items()}
    y = []
    for head in range(heads):
        v = rows(x["v"], head, keys, 2 * width)
        halves = [
            attend(rows(x["q" + n], head, queries, width), rows(x["k" + n], head, keys, width), v, attrs["causal"])
            for n in "12"
        ]
        for positive, negative in zip(*halves):
            z = [p - x["lambda"][head] * n for p, n in zip(positive, negative)]
            norm = math.sqrt(sum(e * e for e in z) / len(z) + attrs["epsilon"])
            gain = x["weight"] if weighted else [1.0] * len(z)
            y += [(1 - attrs["lambda_init"]) * g * e / norm for g, e in zip(gain, z)]
    tensors = {"in." + key: ("F32", shape, x[key]) for key, shape in shapes.items()}
    tensors["f64.out.y"] = ("F64", [1, heads, queries, 2 * width], y)
    tensors["out.y"] = ("F32", [1, heads, queries, 2 * width], y)
    metadata = {"case": name, "technique": "differential_attention", "attrs": json.dumps(attrs)}
    save(os.path.join(folder, name + ".safetensors"), tensors, metadata)


os.makedirs(sys.argv[1], exist_ok=True)
case(sys.argv[1], "diff_plain", 2, 5, 7, 4, weighted=False, causal=False, epsilon=1e-5, lambda_init=0.8)
case(sys.argv[1], "diff_causal", 3, 9, 9, 8, weighted=True, causal=True, epsilon=1e-5, lambda_init=0.2)
case(sys.argv[1], "diff_decode", 4, 1, 33, 16, weighted=True, causal=True, epsilon=0.0, lambda_init=0.5)

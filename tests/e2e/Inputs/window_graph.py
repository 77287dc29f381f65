#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""window_graph.py FOLDER WINDOW [SOFTCAP]: writes FOLDER/model.json (a graph file as JSON, for flatc), a model of two layers of
attention whose queries see WINDOW keys each, with made-up weights; with a soft cap the heads have sinks as well."""
import random
import struct
import sys

from graph_json import Function, state, tensor, write

folder, window = sys.argv[1], int(sys.argv[2])
capped = {"softcap": float(sys.argv[3])} if len(sys.argv) > 3 else {}
vocabulary, width, heads, dim = 50, 24, 3, 8
weights, f = [], Function({"name": "step"})
tokens, positions, row_start, kv_len, logit_rows = f.step_arguments().values()
cached = state(*[tensor("f32", [None, 1, dim])] * 2)
caches = [f.argument(f"cache.{layer}", cached) for layer in range(2)]
numbers = random.Random(5)


def weight(name, rows, *columns):
    count = rows * (columns or [1])[0]
    values = [numbers.uniform(-2, 2) / (count / rows) ** 0.5 for _ in range(count)]
    return f.weight(weights, name, tensor("f32", [rows, *columns]), struct.pack(f"<{count}f", *values))


def linear(x, name, rows, columns, count="N"):
    return f.op("tw.linear", [x, weight(name, rows, columns)], tensor("f32", [count, rows]))


x, states = f.op("tw.gather", [weight("table", vocabulary, width), tokens], tensor("f32", ["N", width])), []
for layer, cache in enumerate(caches):
    q, k, v = (f.op("tw.reshape", [linear(x, f"{layer}.{name}", count * dim, width)], tensor("f32", ["N", count, dim]))
               for name, count in (("q", heads), ("k", 1), ("v", 1)))
    states.append(f.op("tw.append", [cache, row_start, k, v], cached))
    sinks = [weight(f"{layer}.sinks", heads)] if capped else []
    o = f.op("tw.attention", [q, states[-1], row_start, kv_len, positions, *sinks], tensor("f32", ["N", heads, dim]),
             segments=[1, 0, 0, 1, 1, 1, 1, 0, 0, len(sinks)] + [0] * 5, scale=dim ** -0.5, causal="end", window=window, **capped)
    o = linear(f.op("tw.reshape", [o], tensor("f32", ["N", heads * dim])), f"{layer}.o", width, heads * dim)
    x = f.op("tw.add", [x, o], tensor("f32", ["N", width]))
x = f.op("tw.gather", [x, logit_rows], tensor("f32", ["R", width]))
f.data.update(results=[linear(x, "head", vocabulary, width, "R"), *states], result_names=["logits", "cache.0", "cache.1"])
write(folder, {"name": "windows", "functions": [f.data], "entry": "step", "weights": weights, "required_plugins": [],
               "context_length": 256, "vocab_size": vocabulary, "producer": "window_graph.py"})

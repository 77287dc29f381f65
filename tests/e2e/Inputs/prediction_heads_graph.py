#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small language model with prediction heads, and with its hidden states as a further output.

prediction_heads_graph.py GOLDEN FOLDER HEADS CONTEXT RIGHT [NAME=FAULT...]
writes FOLDER/model.json (a graph file as JSON, for flatc). 32 tokens, "a" to "z" and what fills up; attention over a cache of one
head. The text goes mostly on to the next letter, and attention over what was written before moves it elsewhere at times. Head i
looks for the letter i places behind that: always (RIGHT "all"), never ("none"), or behind every other letter ("half").
Further words are results that no step may have: NAME=N has a row for each token. check=FILE compares the logits and hidden states of
FILE, which `run` wrote, instead.
"""
import os
import random
import struct
import sys

from graph_json import Function, state, tensor, write

sys.path.insert(0, sys.argv[1])
from fill import Case  # noqa: E402
from write import save  # noqa: E402

V = E = 32
folder, heads, context, right, faults = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6:]
noise = random.Random(11)
weights, numbers_of, f = [], {}, Function({"name": "step"})


def weight(name, shape, numbers):
    numbers_of[name] = numbers
    return f.weight(weights, name, tensor("f32", shape), struct.pack(f"<{len(numbers)}f", *numbers))


def some(count, size):
    return [noise.uniform(-size, size) for _ in range(count)]


def following(distance, size):
    """[V, E]: row t looks for the letter `distance` before t."""
    rows = some(V * E, size)
    for t in range(V):
        wrong = right == "none" or right == "half" and t % 2
        rows[t * E + (t - distance - (5 if distance > 1 and wrong else 0)) % V] += 8
    return rows


def linear(x, name, rows, numbers):
    return f.op("tw.linear", [x, weight(name, [E, E], numbers)], tensor("f32", [rows, E]))


def head_function():
    """One head: its matrix on h + SiLU(A h + a)."""
    g = Function({"name": "head"})
    x, a, bias, w = (g.argument(name, tensor("f32", shape)) for name, shape in (("x", ["R", E]), ("a", [E, E]), ("bias", [E]), ("w", [V, E])))
    row = tensor("f32", ["R", E])
    moved = g.op("tw.linear", [x, a, bias], row)
    moved = g.op("tw.mul", [moved, g.op("tw.sigmoid", [moved], row)], row)
    y = g.op("tw.linear", [g.op("tw.add", [x, moved], row), w], tensor("f32", ["R", V]))
    g.data.update(results=[y], result_names=["y"])
    return g


tokens, positions, row_start, kv_len, logit_rows = f.step_arguments().values()
cached = state(*[tensor("f32", [None, 1, E])] * 2)
cache = f.argument("cache", cached)
x = f.op("tw.gather", [weight("table", [V, E], [float(t == e) for t in range(V) for e in range(E)]), tokens], tensor("f32", ["N", E]))
q, k, v = (f.op("tw.reshape", [linear(x, name, "N", some(E * E, size))], tensor("f32", ["N", 1, E]))
           for name, size in (("q", 0.6), ("k", 0.6), ("v", 1.3)))
grown = f.op("tw.append", [cache, row_start, k, v], cached)
o = f.op("tw.attention", [q, grown, row_start, kv_len, positions], tensor("f32", ["N", 1, E]), segments=[1, 0, 0, 1, 1, 1, 1] + [0] * 8,
         scale=1.0, causal="end")
y = f.op("tw.add", [x, f.op("tw.reshape", [o], tensor("f32", ["N", E]))], tensor("f32", ["N", E]))
hidden = f.op("tw.gather", [y, logit_rows], tensor("f32", ["R", E]))
named = {"logits": linear(hidden, "head_0", "R", following(1, 0.5))}
for i in range(1, heads + 1):
    operands = [hidden] + [weight(f"{name}_{i}", shape, numbers) for name, shape, numbers in (
        ("matrix", [E, E], some(E * E, 0.1)), ("vector", [E], some(E, 0.1)), ("head", [V, E], following(i + 1, 0.1)))]
    named[f"prediction_head_{i}"] = f.op("call", operands, tensor("f32", ["R", V]), callee="head")
named["hidden"] = hidden
if faults and faults[0].startswith("check="):
    found = Case(faults[0][6:])
    for row in range(0, len(found.values("hidden")), E):
        x = found.values("hidden")[row:row + E]
        wanted = [sum(w * e for w, e in zip(numbers_of["head_0"][v * E:v * E + E], x)) for v in range(V)]
        worst = max(abs(a - b) for a, b in zip(wanted, found.values("logits")[row:row + V]))
        if not worst <= 1e-4 * (1 + max(map(abs, wanted))) or (row == 4 * E) != (not any(x)):
            sys.exit(f"row {row // E}: logits are off by {worst}")
    sys.exit(print("logits agree with the hidden states"))
for word in faults:
    name, what = word.split("=")
    named[name] = {"N": y, "twice": hidden, "i32": logit_rows}[what]
f.data.update(results=list(named.values()) + [grown], result_names=list(named) + ["cache"])
graph = {"name": "prediction heads", "functions": [head_function().data, f.data], "entry": "step", "weights": weights,
         "required_plugins": [], "context_length": context, "vocab_size": V, "producer": "prediction_heads_graph.py",
         "tokenizer": {"kind": "gpt2", "pre": "default", "tokens": [chr(97 + t) for t in range(26)] + [f"<{t}>" for t in range(26, V)],
                       "token_types": [1] * 26 + [3] * (V - 26)}}
write(folder, graph)
save(os.path.join(folder, "in.safetensors"), {"input_ids": ("I64", [2, 4], range(8)), "attention_mask": ("I64", [2, 4], [1, 1, 1, 1, 0, 1, 1, 1])})

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""add_experts.py IN.json OUT.json: a graph file of a Llama-like model, as flatc writes JSON, with experts beside each feed-forward
block, which becomes a shared expert behind a sigmoid gate. The experts' weights are the block's own bytes cut into EXPERTS matrices."""
import json
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "e2e", "Inputs"))
from graph_json import Function, attribute, tensor  # noqa: E402

EXPERTS, TOP_K = 5, 2
graph = json.load(open(sys.argv[1]))
functions = {f["name"]: Function(f) for f in graph["functions"]}
layer, step = functions["layer"], functions["step"]
values, body = layer.data["values"], layer.data["body"]
weights = {w["name"]: w for w in graph["weights"]}
shape_of = lambda t: [d["size"] for d in t["shape"]]


def cut(shape, kind):
    """[F, E] as [EXPERTS, F / EXPERTS, E]; [E, F] as [EXPERTS, E, F / EXPERTS]."""
    rows, columns = shape
    return [EXPERTS, rows, columns // EXPERTS] if kind == "down" else [EXPERTS, rows // EXPERTS, columns]


# The layer: what it takes besides, and the ops between the feed-forward block and the residual.
names = {v["name"]: i for i, v in enumerate(values)}
norm, dense, residual = names["f"], names["d"], names["x1"]
width = shape_of(values[norm]["type"])[1]
taken = {}
for kind in ("gate", "up", "down"):
    t = values[names["w_" + kind]]["type"]
    taken[kind] = layer.argument("experts_" + kind, tensor(t["element"], cut(shape_of(t), kind)))
taken["router"] = layer.argument("router", tensor("f32", [EXPERTS, width]))
taken["open"] = layer.argument("shared_gate", tensor("f32", [1, width]))
end = body.pop()
assert end["name"] == "tw.add" and end["operands"] == [residual, dense]

rows = tensor("f32", ["N", width])
logits = layer.op("tw.linear", [norm, taken["router"]], tensor("f32", ["N", EXPERTS]))
chosen = layer.op("mixture_of_experts.route", [logits], tensor("f32", ["N", TOP_K]), gating="softmax", top_k=TOP_K, renormalize=True)
indices = layer.value("indices", tensor("i32", ["N", TOP_K]))
body[-1]["results"].append(indices)
routed = layer.op("mixture_of_experts.experts", [norm, chosen, indices, taken["up"], taken["down"], taken["gate"]], rows,
                  [1, 1, 1, 1, 1, 1, 0, 0, 0], activation="silu")
gate = layer.op("tw.linear", [norm, taken["open"]], tensor("f32", ["N", 1]))
gate = layer.op("tw.sigmoid", [gate], tensor("f32", ["N", 1]))
gate = layer.op("tw.reshape", [gate], tensor("f32", ["N"]))
gate = layer.op("tw.broadcast", [gate, dense], rows, dims=[0])
shared = layer.op("tw.mul", [dense, gate], rows)
both = layer.op("tw.add", [shared, routed], rows)
body.append({**end, "operands": [residual, both]})

# Each call hands over weights of its own.
body, number = [], 0
for called in step.data["body"]:
    if called["name"] == "call":
        for kind, value in taken.items():
            type = values[value]["type"]
            name = "blk.%d.experts_%s.weight" % (number, kind)
            if kind in ("router", "open"):
                numbers = random.Random(name)
                data = b"".join(struct.pack("<f", numbers.uniform(-0.3, 0.3)) for _ in range(math.prod(shape_of(type))))
                weight = {"inline_data": list(data), "length": len(data)}
            else:
                stored = weights["blk.%d.ffn_%s.weight" % (number, kind)]
                weight = {key: stored[key] for key in ("file", "offset", "length", "hash")}
            graph["weights"].append({"name": name, "type": type, **weight})
            result = step.value(name, type)
            body.append({"name": "weight", "results": [result], "attrs": [attribute("name", name)]})
            called["operands"].append(result)
        number += 1
    body.append(called)
step.data["body"] = body
graph["required_plugins"] = sorted(graph["required_plugins"] + ["mixture_of_experts"])
json.dump(graph, open(sys.argv[2], "w"))

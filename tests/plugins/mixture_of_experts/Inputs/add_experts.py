# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""add_experts.py IN.json OUT.json: a graph file of a Llama-like model, as flatc writes JSON, with experts beside each feed-forward
block, which becomes a shared expert behind a sigmoid gate. The experts' weights are the block's own bytes cut into EXPERTS matrices."""
import json
import random
import struct
import sys

EXPERTS, TOP_K = 5, 2
graph = json.load(open(sys.argv[1]))
functions = {f["name"]: f for f in graph["functions"]}
layer, step = functions["layer"], functions["step"]
weights = {w["name"]: w for w in graph["weights"]}
shape_of = lambda t: [d["size"] for d in t["shape"]]
tensor = lambda element, shape: {"element": element, "shape": [{"size": -1, "symbol": s} if isinstance(s, str) else {"size": s} for s in shape]}


def attribute(name, value):
    kind = {bool: "BoolAttr", int: "IntAttr", str: "StringAttr"}.get(type(value), "IntsAttr")
    return {"name": name, "value_type": kind, "value": {"value": value}}


def new_value(function, name, element, shape):
    function["values"].append({"name": name, "type_type": "TensorType", "type": tensor(element, shape)})
    return len(function["values"]) - 1


def cut(shape, kind):
    """[F, E] as [EXPERTS, F / EXPERTS, E]; [E, F] as [EXPERTS, E, F / EXPERTS]."""
    rows, columns = shape
    return [EXPERTS, rows, columns // EXPERTS] if kind == "down" else [EXPERTS, rows // EXPERTS, columns]


# The layer: what it takes besides, and the ops between the feed-forward block and the residual.
names = {v["name"]: i for i, v in enumerate(layer["values"])}
norm, dense, residual = names["f"], names["d"], names["x1"]
width = shape_of(layer["values"][norm]["type"])[1]
taken = {}
for kind in ("gate", "up", "down"):
    t = layer["values"][names["w_" + kind]]["type"]
    taken[kind] = new_value(layer, "experts_" + kind, t["element"], cut(shape_of(t), kind))
taken["router"] = new_value(layer, "router", "f32", [EXPERTS, width])
taken["open"] = new_value(layer, "shared_gate", "f32", [1, width])
layer["arguments"] += taken.values()
end = layer["body"].pop()
assert end["name"] == "tw.add" and end["operands"] == [residual, dense]


def op(name, operands, element, shape, attributes=(), segments=None):
    result = new_value(layer, "e%d" % len(layer["values"]), element, shape)
    made = {"name": name, "operands": operands, "results": [result], "attrs": list(attributes)}
    if segments:
        made["operand_segments"] = segments
    layer["body"].append(made)
    return result


logits = op("tw.linear", [norm, taken["router"]], "f32", ["N", EXPERTS])
chosen = op("mixture_of_experts.route", [logits], "f32", ["N", TOP_K],
            [attribute("gating", "softmax"), attribute("top_k", TOP_K), attribute("renormalize", True)])
indices = new_value(layer, "indices", "i32", ["N", TOP_K])
layer["body"][-1]["results"].append(indices)
routed = op("mixture_of_experts.experts", [norm, chosen, indices, taken["up"], taken["down"], taken["gate"]], "f32", ["N", width],
            [attribute("activation", "silu")], [1, 1, 1, 1, 1, 1, 0, 0, 0])
gate = op("tw.linear", [norm, taken["open"]], "f32", ["N", 1])
gate = op("tw.sigmoid", [gate], "f32", ["N", 1])
gate = op("tw.reshape", [gate], "f32", ["N"])
gate = op("tw.broadcast", [gate, dense], "f32", ["N", width], [attribute("dims", [0])])
shared = op("tw.mul", [dense, gate], "f32", ["N", width])
both = op("tw.add", [shared, routed], "f32", ["N", width])
layer["body"].append({**end, "operands": [residual, both]})

# Each call hands over weights of its own.
body, number = [], 0
for called in step["body"]:
    if called["name"] == "call":
        for kind, value in taken.items():
            element, shape = layer["values"][value]["type"]["element"], shape_of(layer["values"][value]["type"])
            name = "blk.%d.experts_%s.weight" % (number, kind)
            if kind in ("router", "open"):
                numbers = random.Random(name)
                data = b"".join(struct.pack("<f", numbers.uniform(-0.3, 0.3)) for _ in range(shape[0] * shape[1]))
                weight = {"inline_data": list(data), "length": len(data)}
            else:
                stored = weights["blk.%d.ffn_%s.weight" % (number, kind)]
                weight = {key: stored[key] for key in ("file", "offset", "length", "hash")}
            graph["weights"].append({"name": name, "type": tensor(element, shape), **weight})
            result = new_value(step, name, element, shape)
            body.append({"name": "weight", "results": [result], "attrs": [attribute("name", name)]})
            called["operands"].append(result)
        number += 1
    body.append(called)
step["body"] = body
graph["required_plugins"] = sorted(graph["required_plugins"] + ["mixture_of_experts"])
json.dump(graph, open(sys.argv[2], "w"))

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models for kinds of receipts that the usual models do not have.

kinds_graph.py softmax|joint-softmax|negated-sum|negated FOLDER writes FOLDER/model.json, a graph file as JSON, for flatc.
"""
import json
import os
import struct
import sys

case, folder = sys.argv[1:]
WIDTH = 8
values, body, weights = [], [], []


def tensor(element, *shape):
    return {"element": element, "shape": [{"symbol": d} if isinstance(d, str) else {"size": d} for d in shape]}


def value(type):
    values.append({"name": f"v{len(values)}", "type_type": "TensorType", "type": type})
    return len(values) - 1


def op(name, operands, type, /, **attributes):
    kinds = {str: "StringAttr", list: "IntsAttr"}
    attrs = [{"name": key, "value_type": kinds[x.__class__], "value": {"value": x}} for key, x in attributes.items()]
    body.append({"name": name, "operands": operands, "results": [value(type)], "attrs": attrs})
    return body[-1]["results"][0]


def weight(name, rows):
    numbers = [((7 * i) % 13 - 6) / 8 for i in range(rows * WIDTH)]
    type = tensor("f32", rows, WIDTH)
    weights.append({"name": name, "type": type, "inline_data": list(struct.pack(f"<{len(numbers)}f", *numbers))})
    return op("weight", [], type, name=name)


names = {"tokens": "N", "positions": "N", "row_start": "B1", "kv_len": "B", "logit_rows": "R"}
arguments = {}
for name, symbol in names.items():
    arguments[name] = value(tensor("i32", symbol))
    values[-1]["name"] = name
rows = tensor("f32", "N", WIDTH)
x = op("tw.gather", [weight("table", WIDTH), arguments["tokens"]], rows)
if case == "softmax":
    column = tensor("f32", "N")
    largest = op("tw.broadcast", [op("tw.reduce", [x], column, kind="max", dims=[1]), x], rows, dims=[0])
    e = op("tw.exp", [op("tw.sub", [x, largest], rows)], rows)
    total = op("tw.broadcast", [op("tw.reduce", [e], column, kind="sum", dims=[1]), e], rows, dims=[0])
    y = op("tw.div", [e, total], rows)
elif case == "joint-softmax":  # over two dimensions together
    pairs, column = tensor("f32", "N", 2, WIDTH // 2), tensor("f32", "N")
    e = op("tw.exp", [op("tw.reshape", [x], pairs)], pairs)
    total = op("tw.broadcast", [op("tw.reduce", [e], column, kind="sum", dims=[1, 2]), e], pairs, dims=[0])
    y = op("tw.reshape", [op("tw.div", [e, total], pairs)], rows)
elif case == "negated-sum":  # of a linear map: its epilogue
    y = op("tw.neg", [op("tw.linear", [x, weight("w", WIDTH)], rows)], rows)
else:
    y = op("tw.neg", [x], rows)
logits = op("tw.gather", [y, arguments["logit_rows"]], tensor("f32", "R", WIDTH))
graph = {"name": case, "entry": "step", "weights": weights, "context_length": 16, "vocab_size": WIDTH, "producer": "kinds_graph.py",
         "functions": [{"name": "step", "values": values, "arguments": list(arguments.values()), "results": [logits],
                        "result_names": ["logits"], "body": body}]}
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "model.json"), "w") as file:
    json.dump(graph, file)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model whose logits are its token's row of one table plus its position's row of another.

learned_positions_graph.py FOLDER VOCABULARY CONTEXT TOKEN_ROWS POSITION_ROWS POSITION...
writes FOLDER/model.json (a graph file as JSON, for flatc), in.safetensors with a token 1 at each of the positions, and prints
the logits that they have.
"""
import json
import os
import struct
import sys

folder, (vocabulary, context, token_rows, position_rows, *places) = sys.argv[1], map(int, sys.argv[2:])


def tensor(element, *shape):
    return {"element": element, "shape": [{"symbol": d} if isinstance(d, str) else {"size": d} for d in shape]}


values, body, weights = [], [], []


def value(type):
    values.append({"name": f"v{len(values)}", "type_type": "TensorType", "type": type})
    return len(values) - 1


def op(name, operands, type, attrs=()):
    body.append({"name": name, "operands": operands, "results": [value(type)], "attrs": list(attrs)})
    return body[-1]["results"][0]


def weight(name, rows, first):
    numbers = [first + 10 * row + column for row in range(rows) for column in range(vocabulary)]
    weights.append({"name": name, "type": tensor("f32", rows, vocabulary), "inline_data": list(struct.pack(f"<{len(numbers)}f", *numbers))})
    return op("weight", [], tensor("f32", rows, vocabulary), [{"name": "name", "value_type": "StringAttr", "value": {"value": name}}])


names = {"tokens": "N", "positions": "N", "row_start": "B1", "kv_len": "B", "logit_rows": "R"}
arguments = {}
for name, symbol in names.items():
    arguments[name] = value(tensor("i32", symbol))
    values[-1]["name"] = name
x = op("tw.gather", [weight("table", token_rows, 0), arguments["tokens"]], tensor("f32", "N", vocabulary))
e = op("position_encoding.learned", [weight("positions_table", position_rows, 1000), arguments["positions"]], tensor("f32", "N", vocabulary))
y = op("tw.add", [x, e], tensor("f32", "N", vocabulary))
logits = op("tw.gather", [y, arguments["logit_rows"]], tensor("f32", "R", vocabulary))
graph = {"name": "learned positions", "entry": "step", "weights": weights, "required_plugins": ["position_encoding"],
         "context_length": context, "vocab_size": vocabulary, "producer": "learned_positions_graph.py",
         "functions": [{"name": "step", "values": values, "arguments": list(arguments.values()), "results": [logits],
                        "result_names": ["logits"], "body": body}]}
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "model.json"), "w") as file:
    json.dump(graph, file)
header, data = {}, b""
for name, ids in (("input_ids", [1] * len(places)), ("position_ids", places)):
    raw = struct.pack(f"<{len(ids)}q", *ids)
    header[name] = {"dtype": "I64", "shape": [1, len(ids)], "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(header).encode()
with open(os.path.join(folder, "in.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
print([1010 + 10 * place + 2 * column for place in places for column in range(vocabulary)])

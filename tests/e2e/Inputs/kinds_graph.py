# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models for kinds of receipts that the usual models do not have.

kinds_graph.py softmax|joint-softmax|negated-sum|maxout|scaled|negated|negated-twice FOLDER writes FOLDER/model.json, a graph file as JSON, for flatc.
"""
import struct
import sys

from graph_json import Function, tensor, write

case, folder = sys.argv[1:]
WIDTH = 8
weights, f = [], Function({"name": "step"})
op = f.op


def weight(name):
    numbers = [((7 * i) % 13 - 6) / 8 for i in range(WIDTH * WIDTH)]
    return f.weight(weights, name, tensor("f32", [WIDTH, WIDTH]), struct.pack(f"<{len(numbers)}f", *numbers))


arguments = f.step_arguments()
rows, column = tensor("f32", ["N", WIDTH]), tensor("f32", ["N"])
x = op("tw.gather", [weight("table"), arguments["tokens"]], rows)
if case == "softmax":
    largest = op("tw.broadcast", [op("tw.reduce", [x], column, kind="max", dims=[1]), x], rows, dims=[0])
    e = op("tw.exp", [op("tw.sub", [x, largest], rows)], rows)
    total = op("tw.broadcast", [op("tw.reduce", [e], column, kind="sum", dims=[1]), e], rows, dims=[0])
    y = op("tw.div", [e, total], rows)
elif case == "joint-softmax":  # over two dimensions together
    pairs = tensor("f32", ["N", 2, WIDTH // 2])
    e = op("tw.exp", [op("tw.reshape", [x], pairs)], pairs)
    total = op("tw.broadcast", [op("tw.reduce", [e], column, kind="sum", dims=[1, 2]), e], pairs, dims=[0])
    y = op("tw.reshape", [op("tw.div", [e, total], pairs)], rows)
elif case == "negated-sum":  # of a linear map: its epilogue
    y = op("tw.neg", [op("tw.linear", [x, weight("w")], rows)], rows)
elif case == "maxout":
    y = op("my_technique.maxout", [x], tensor("f32", ["N", WIDTH // 2]), pieces=2)
elif case == "scaled":  # by a broken plugin
    y = op("broken.scale", [x, op("tw.compare", [x, x], tensor("i1", ["N", WIDTH]), kind="eq")], rows, factor=2.0)
else:
    y = op("tw.neg", [x], rows)
    if case == "negated-twice":
        y = op("tw.neg", [y], rows)
vocabulary = WIDTH // 2 if case == "maxout" else WIDTH
logits = op("tw.gather", [y, arguments["logit_rows"]], tensor("f32", ["R", vocabulary]))
f.data.update(results=[logits], result_names=["logits"])
write(folder, {"name": case, "entry": "step", "weights": weights, "context_length": 16, "vocab_size": vocabulary, "producer": "kinds_graph.py",
               "required_plugins": {"maxout": ["my_technique"], "scaled": ["broken"]}.get(case, []), "functions": [f.data]})

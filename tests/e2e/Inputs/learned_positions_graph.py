#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model whose logits are its token's row of one table plus its position's row of another.

learned_positions_graph.py GOLDEN FOLDER VOCABULARY CONTEXT TOKEN_ROWS POSITION_ROWS POSITION...
writes FOLDER/model.json (a graph file as JSON, for flatc), in.safetensors with a token 1 at each of the positions, and prints
the logits that they have.
"""
import os
import struct
import sys

from graph_json import Function, tensor, write

sys.path.insert(0, sys.argv[1])
from write import save  # noqa: E402

folder, (vocabulary, context, token_rows, position_rows, *places) = sys.argv[2], map(int, sys.argv[3:])
weights, f = [], Function({"name": "step"})


def weight(name, rows, first):
    numbers = [first + 10 * row + column for row in range(rows) for column in range(vocabulary)]
    return f.weight(weights, name, tensor("f32", [rows, vocabulary]), struct.pack(f"<{len(numbers)}f", *numbers))


arguments = f.step_arguments()
rows = tensor("f32", ["N", vocabulary])
x = f.op("tw.gather", [weight("table", token_rows, 0), arguments["tokens"]], rows)
e = f.op("position_encoding.learned", [weight("positions_table", position_rows, 1000), arguments["positions"]], rows)
y = f.op("tw.add", [x, e], rows)
logits = f.op("tw.gather", [y, arguments["logit_rows"]], tensor("f32", ["R", vocabulary]))
f.data.update(results=[logits], result_names=["logits"])
write(folder, {"name": "learned positions", "entry": "step", "weights": weights, "required_plugins": ["position_encoding"],
               "context_length": context, "vocab_size": vocabulary, "producer": "learned_positions_graph.py",
               "functions": [f.data]})
shape = [1, len(places)]
save(os.path.join(folder, "in.safetensors"), {"input_ids": ("I64", shape, [1] * len(places)), "position_ids": ("I64", shape, places)})
print([1010 + 10 * place + 2 * column for place in places for column in range(vocabulary)])

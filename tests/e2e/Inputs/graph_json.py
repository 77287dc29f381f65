# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graph files as the JSON that flatc turns into them (frontend/graph/graph.fbs)."""
import json
import os

KINDS = {bool: "BoolAttr", int: "IntAttr", float: "FloatAttr", str: "StringAttr", list: "IntsAttr"}


def tensor(element, shape):
    """The type of a tensor; dimensions are numbers, names of symbols, or None where nothing is known."""
    return {"element": element, "shape": [{"symbol": d} if isinstance(d, str) else {} if d is None else {"size": d} for d in shape]}


def state(*buffers):
    return {"buffers": list(buffers)}


def attribute(name, value):
    return {"name": name, "value_type": KINDS[type(value)], "value": {"value": value}}


class Function:
    """A function, new or one of a file; `data` is what the file has. Values are known by their numbers."""

    def __init__(self, data):
        self.data = data
        for key in ("values", "arguments", "results", "body"):
            data.setdefault(key, [])

    def value(self, name, type):
        self.data["values"].append({"name": name, "type_type": "StateType" if "buffers" in type else "TensorType", "type": type})
        return len(self.data["values"]) - 1

    def argument(self, name, type):
        self.data["arguments"].append(self.value(name, type))
        return self.data["arguments"][-1]

    def step_arguments(self, without=()):
        """What every step gets, by name."""
        symbols = {"tokens": "N", "positions": "N", "row_start": "B1", "kv_len": "B", "logit_rows": "R"}
        return {name: self.argument(name, tensor("i32", [symbol])) for name, symbol in symbols.items() if name not in without}

    def op(self, op_name, operands, type, segments=None, **attributes):
        result = self.value(f"v{len(self.data['values'])}", type)
        made = {"name": op_name, "operands": operands, "results": [result], "attrs": [attribute(*each) for each in attributes.items()]}
        if segments:
            made["operand_segments"] = segments
        self.data["body"].append(made)
        return result

    def weight(self, weights, name, type, data):
        """A weight with its bytes in the file, added to the graph's list."""
        weights.append({"name": name, "type": type, "inline_data": list(data)})
        return self.op("weight", [], type, name=name)


def write(folder, graph):
    """FOLDER/model.json"""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.json"), "w") as file:
        json.dump(graph, file)

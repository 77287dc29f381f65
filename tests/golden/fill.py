#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fills a test's MLIR with golden data and prints it.

fill.py CASES TEST   replaces in the file TEST, with NAME a file CASES/NAME.safetensors:
  {{NAME:TENSOR}}            by  dense<...> : tensor<SHAPExTYPE>
  {{NAME:TENSOR as i32}}     by the same, integers converted
  {{NAME:limit OUTPUT}}      by the absolute error that a single-precision implementation may have: 20 times what a plain
                             one has (metadata f32_err), and at least 2e-5 of the largest value
"""
import json
import os
import re
import struct
import sys

TYPES = {"F32": ("f32", 4, "f"), "F64": ("f64", 8, "d"), "BF16": ("bf16", 2, None), "F16": ("f16", 2, "e"),
         "I64": ("i64", 8, "q"), "I32": ("i32", 4, "i"), "U8": ("i8", 1, "B"), "BOOL": ("i1", 1, "?")}


class Case:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        size = struct.unpack("<Q", data[:8])[0]
        self.entries = json.loads(data[8 : 8 + size])
        self.metadata = self.entries.pop("__metadata__", {})
        self.bytes = data[8 + size :]

    def raw(self, name):
        begin, end = self.entries[name]["data_offsets"]
        return self.bytes[begin:end]

    def values(self, name):
        _, width, code = TYPES[self.entries[name]["dtype"]]
        raw = self.raw(name)
        if code is None:  # bf16: the upper half of an f32
            return [struct.unpack("<f", b"\0\0" + raw[i : i + 2])[0] for i in range(0, len(raw), 2)]
        return list(struct.unpack(f"<{len(raw) // width}{code}", raw))

    def constant(self, name, wanted=None):
        entry = self.entries[name]
        element, raw = TYPES[entry["dtype"]][0], self.raw(name)
        if wanted == "i32":
            element, raw = "i32", struct.pack(f"<{len(raw) // 8}i", *self.values(name))
        shape = "".join(f"{size}x" for size in entry["shape"])
        if element == "i1":
            text = nested(["true" if value else "false" for value in self.values(name)], entry["shape"])
        else:
            text = f'"0x{raw.hex().upper()}"'
        return f"dense<{text}> : tensor<{shape}{element}>"

    def limit(self, name):
        plain = json.loads(self.metadata["f32_err"]).get(name, [0, 0])[0]
        return repr(max(20 * plain, 2e-5 * max(abs(value) for value in self.values(name))))


def nested(words, shape):
    if not shape:
        return words[0]
    step = len(words) // shape[0]
    return "[" + ", ".join(nested(words[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


def main():
    folder, test = sys.argv[1:]
    cases = {}

    def fill(match):
        name, what = match[1], match[2]
        if name not in cases:
            cases[name] = Case(os.path.join(folder, name + ".safetensors"))
        case = cases[name]
        if what.startswith("limit "):
            return case.limit(what.split()[1])
        return case.constant(*what.split(" as "))

    with open(test, encoding="utf-8") as file:
        print(re.sub(r"\{\{([\w.-]+):([^}]+)\}\}", fill, file.read()))


if __name__ == "__main__":
    main()

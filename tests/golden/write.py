# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes golden cases that a test makes up: write(folder, name, technique, attributes, tensors), where tensors maps
"in.x", "out.y" and the like to (type, shape, flat values), type one of F32, BF16, I64, U8. Limits are 2e-5 of the largest
value (no f32_err). save(path, tensors, metadata) writes such tensors alone, or with metadata of one's own."""
import json
import math
import os
import struct

CODES = {"F32": "f", "I64": "q", "U8": "B"}


def bf16(value):
    """`value` rounded to bf16, half to even. Of doubles: to f32 first would round twice."""
    if value == 0 or value != value or abs(value) == float("inf"):
        return value
    mantissa, exponent = math.frexp(value)
    return round(mantissa * 256) / 256 * 2.0**exponent  # 8 bits; round() is half to even


def near_tie(value, relative=1e-6):
    """Whether `value` lies on the edge between two bf16 numbers, so that rounding of what it is computed from decides."""
    mantissa = abs(math.frexp(value)[0]) * 256
    return abs(mantissa - int(mantissa) - 0.5) < relative * 256


def save(path, tensors, metadata=None):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for key, (kind, shape, values) in tensors.items():
        if kind == "BF16":
            raw = b"".join(struct.pack("<f", value)[2:] for value in values)  # exact: they are bf16 already
        else:
            raw = struct.pack(f"<{len(values)}{CODES[kind]}", *values)
        header[key] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def write(folder, name, technique, attributes, tensors):
    save(os.path.join(folder, name + ".safetensors"), tensors,
         {"case": name, "technique": technique, "attrs": json.dumps(attributes), "oracle": "the test", "notes": "",
          "f32_err": json.dumps({key: [0.0, 0.0] for key in tensors if key.startswith("out.")})})

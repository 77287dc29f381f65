#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rewrite_gguf.py IN.gguf OUT.gguf [ALIGNMENT]: the same model, with its norm weights stored as f16, or with its tensors as they are at
multiples of another alignment (and of no larger power of two)."""
import struct
import sys

F32, F16, STRING, ARRAY = 0, 1, 8, 9
WIDTH = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # of metadata values
U32 = 4


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, code):
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def string(self):
        length = self.number("Q")
        self.at += length
        return self.data[self.at - length : self.at]

    def skip(self, kind):
        if kind == STRING:
            self.string()
        elif kind == ARRAY:
            element, count = self.number("I"), self.number("Q")
            for _ in range(count):
                self.skip(element)
        else:
            self.at += WIDTH[kind]


def padded(data, alignment=32):
    return data + b"\0" * (-len(data) % alignment)


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    reader = Reader(data)
    reader.at = 8
    tensors, pairs = reader.number("Q"), reader.number("Q")
    for _ in range(pairs):
        reader.string()
        reader.skip(reader.number("I"))
    head = data[: reader.at]
    alignment = int(sys.argv[3]) if len(sys.argv) > 3 else None
    if alignment:
        key = b"general.alignment"
        entry = struct.pack("<Q", len(key)) + key + struct.pack("<II", U32, alignment)
        head = head[:16] + struct.pack("<Q", pairs + 1) + head[24:] + entry
    infos = []
    for _ in range(tensors):
        name, rank = reader.string(), reader.number("I")
        dims = [reader.number("Q") for _ in range(rank)]
        infos.append((name, dims, reader.number("I"), reader.number("Q")))
    body = len(padded(data[: reader.at]))
    offsets = sorted(offset for _, _, _, offset in infos) + [len(data) - body]
    table = values = b""
    start = len(padded(head + bytes(sum(24 + len(name) + 8 * len(dims) for name, dims, _, _ in infos)), alignment or 32))
    for name, dims, kind, offset in infos:
        raw = data[body + offset : body + offsets[offsets.index(offset) + 1]]
        if not alignment and name.endswith(b"norm.weight") and kind == F32:
            raw, kind = struct.pack(f"<{dims[0]}e", *struct.unpack_from(f"<{dims[0]}f", raw)), F16
        values = padded(values, alignment or 32)
        if alignment and (start + len(values)) % (2 * alignment) == 0:
            values += bytes(alignment)
        table += struct.pack("<Q", len(name)) + name + struct.pack("<I", len(dims))
        table += struct.pack(f"<{len(dims)}QIQ", *dims, kind, len(values))
        values += raw
    with open(sys.argv[2], "wb") as file:
        file.write(padded(head + table, alignment or 32) + values)


if __name__ == "__main__":
    main()

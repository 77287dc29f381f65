# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GGUF files of version 3, read and written (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md)."""
import collections
import struct

U32, FLOAT, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9  # kinds of metadata
WIDTH = {0: 1, 1: 1, 2: 2, 3: 2, U32: 4, 5: 4, FLOAT: 4, BOOL: 1, 10: 8, 11: 8, 12: 8}
F32, F16, Q8_0, BF16 = 0, 1, 8, 30  # kinds of tensors
ALIGNMENT = 32

Entry = collections.namedtuple("Entry", "key kind value all")  # bytes of the value, and of all of it
Tensor = collections.namedtuple("Tensor", "name dims kind raw")  # the innermost dimension first; bytes with what pads them


def padded(data, alignment=ALIGNMENT):
    return data + b"\0" * (-len(data) % alignment)


class GgufFile:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at = 0
        _, _, count, entries = self.take("4sIQQ")
        self.entries = [self.entry() for _ in range(entries)]
        infos = []
        for _ in range(count):
            name, rank = self.text(), self.take("I")
            infos.append((name, [self.take("Q") for _ in range(rank)], *self.take("IQ")))
        body = len(padded(self.data[: self.at]))
        self.places = {name: body + offset for name, _, _, offset in infos}  # in the file
        ends = sorted(self.places.values()) + [len(self.data)]
        self.tensors = []
        for name, dims, kind, _ in infos:
            place = self.places[name]
            self.tensors.append(Tensor(name, dims, kind, self.data[place : ends[ends.index(place) + 1]]))

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def text(self):
        length = self.take("Q")
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def skip(self, kind):
        if kind == STRING:
            self.text()
        elif kind == ARRAY:
            element, count = self.take("IQ")
            for _ in range(count):
                self.skip(element)
        else:
            self.at += WIDTH[kind]

    def entry(self):
        begin, key, kind = self.at, self.text(), self.take("I")
        value = self.at
        self.skip(kind)
        return Entry(key, kind, self.data[value : self.at], self.data[begin : self.at])


def string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def entry(key, kind, value):
    return Entry(key, kind, value, string(key) + struct.pack("<I", kind) + value)


def write(path, entries, tensors, alignment=ALIGNMENT, no_more=False):
    """With `no_more` no tensor is at a multiple of a larger power of two than the alignment."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(each.all for each in entries)
    start = len(padded(head + bytes(sum(len(string(t.name)) + 8 * len(t.dims) + 16 for t in tensors)), alignment))
    table, body = b"", bytearray()
    for name, dims, kind, raw in tensors:
        body = padded(body, alignment)
        if no_more and (start + len(body)) % (2 * alignment) == 0:
            body += bytes(alignment)
        table += string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, len(body))
        body += raw
    with open(path, "wb") as file:
        file.write(padded(head + table, alignment) + body)

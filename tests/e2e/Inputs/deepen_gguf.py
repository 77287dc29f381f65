# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a GGUF file with more layers than the one it reads: layer i is a copy of layer i modulo the old number.

deepen_gguf.py MODEL.gguf LAYERS OUT.gguf
"""
import struct
import sys

source, layers, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
data = open(source, "rb").read()
at = 0


def take(form):
    global at
    values = struct.unpack_from("<" + form, data, at)
    at += struct.calcsize("<" + form)
    return values[0] if len(values) == 1 else values


def text():
    global at
    length = take("Q")
    at += length
    return data[at - length : at].decode()


def skip(kind):
    """A value of the metadata."""
    global at
    if kind == 8:
        text()
    elif kind == 9:
        inner, count = take("IQ")
        for _ in range(count):
            skip(inner)
    else:
        at += {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}[kind]


def named(name):
    return struct.pack("<Q", len(name)) + name.encode()


_, version, tensor_count, entries = take("4sIQQ")
metadata, old = b"", None
for _ in range(entries):
    begin, key = at, text()
    kind = take("I")
    value = at
    skip(kind)
    if key.endswith(".block_count"):
        old = struct.unpack_from("<I", data, value)[0]
        metadata += named(key) + struct.pack("<II", 4, layers)
    else:
        metadata += data[begin:at]
tensors = []
for _ in range(tensor_count):
    name, rank = text(), take("I")
    shape = [take("Q") for _ in range(rank)]
    kind, offset = take("IQ")
    tensors.append((name, shape, kind, offset))
start = (at + 31) // 32 * 32
ends = sorted([t[3] for t in tensors] + [len(data) - start])

out, blob = [], b""
for name, shape, kind, offset in tensors:
    content = data[start + offset : start + ends[ends.index(offset) + 1]]
    copies = [name]
    if name.startswith("blk."):
        own, rest = name[4:].split(".", 1)
        copies = [f"blk.{i}.{rest}" for i in range(int(own), layers, old)]
    for copy in copies:
        blob += b"\0" * (-len(blob) % 32)
        out.append(named(copy) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", kind, len(blob)))
        blob += content
head = struct.pack("<4sIQQ", b"GGUF", version, len(out), entries) + metadata + b"".join(out)
with open(target, "wb") as file:
    file.write(head + b"\0" * (-len(head) % 32) + blob)

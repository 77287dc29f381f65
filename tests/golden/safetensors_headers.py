# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes safetensors/headers.safetensors: 10,000 small files, most of them spoilt, and which of them the format's reference
reader (Python package safetensors 0.8.0) accepts. Same seed, same files.

safetensors_headers.py OUT.safetensors

`bytes` has the files one behind another without their data, which are zeros; `sizes` has for each its bytes there and
the zeros that follow; `accepted` the verdicts."""
import random
import re
import struct
import sys

import safetensors
from write import save

FILES = 10_000
BITS = {"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F4": 4, "F6_E2M3": 6,
        "F6_E3M2": 6, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64}
NUMBERS = ["0", "1", "-1", "-0", "2", "3", "4", "7", "8", "9", "16", "1.0", "8.0", "0.5", "1e0", "1e1", "08", "+8", "0x8", "4294967296",
           "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e400", "NaN", "null", "true",
           '"4"', "[4]", "{}"]
WORDS = ['"dtype"', '"shape"', '"data_offsets"', '"__metadata__"', '"F32"', '"F4"', '"F23"', '"f32"', '"a"', '"w"', '""', '"\\u0000"',
         '"\\u001f"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u0061"', '"\u00e9"', '"\\x41"', '"a\tb"', '"more"', '{"F32": null}']
PUNCTUATION = ["{", "}", "[", "]", ",", ":", " ", "\n", "\t", "\r", "\x0b", "\x00", "\ufeff", "//", "null", "true", '"']
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[-\w.+]+|\s+|.', re.S)


def well_formed(rng):
    """Tokens of a header, and the bytes of its data."""
    entries, at = [], 0
    if rng.random() < 0.4:
        entries.append('"__metadata__":{' + ",".join(f'"k{i}":"v"' for i in range(rng.randrange(3))) + "}")
    for name in rng.sample(["w", "a", "b.0", "layer"], rng.randrange(4)):
        dtype = rng.choice(list(BITS) + ["F32"] * 10)
        shape = [rng.choice([0, 1, 2, 3, 4, 8]) for _ in range(rng.randrange(4))]
        bits = BITS[dtype]
        for size in shape:
            bits *= size
        if bits % 8:
            shape, bits = shape + [8], bits * 8
        fields = [f'"dtype":"{dtype}"', f'"shape":[{",".join(map(str, shape))}]', f'"data_offsets":[{at},{at + bits // 8}]']
        rng.shuffle(fields)
        entries.append(f'"{name}":{{{",".join(fields)}}}')
        at += bits // 8
    rng.shuffle(entries)
    return TOKEN.findall("{" + ",".join(entries) + "}"), at


def number_places(tokens):
    return [i for i, token in enumerate(tokens) if token[0].isdigit()]


def change_number(rng, tokens):
    if places := number_places(tokens):
        tokens[rng.choice(places)] = rng.choice(NUMBERS)


def nudge_number(rng, tokens):
    if places := number_places(tokens):
        place = rng.choice(places)
        if tokens[place].isdecimal():
            tokens[place] = str(max(0, int(tokens[place]) + rng.choice([-8, -4, -1, 1, 4, 8])))


def wrap_shape(rng, tokens):
    starts = [i for i, token in enumerate(tokens) if token == '"shape"' and tokens[i + 1:i + 3] == [":", "["]]
    if starts:
        tokens[rng.choice(starts) + 2] = "[" + rng.choice(["4294967296,4294967296,", "9223372036854775808,2,", "9223372036854775808,", "0,"])


def change_word(rng, tokens):
    places = [i for i, token in enumerate(tokens) if token[0] == '"']
    if places:
        tokens[rng.choice(places)] = rng.choice(WORDS)


def copy_span(rng, tokens):
    """Of an entry or a field, or of anything."""
    start = rng.randrange(len(tokens))
    end = min(len(tokens), start + rng.choice([1, 2, 4, 9, 25]))
    place = rng.randrange(len(tokens) + 1)
    tokens[place:place] = tokens[start:end]


def drop_span(rng, tokens):
    start = rng.randrange(len(tokens))
    del tokens[start:start + rng.choice([1, 1, 2, 4, 9])]


def insert(rng, tokens):
    tokens.insert(rng.randrange(len(tokens) + 1), rng.choice(PUNCTUATION + WORDS + NUMBERS))


def space(rng, tokens):
    tokens.insert(rng.randrange(len(tokens) + 1), rng.choice([" ", "\n", "\t", "\r"]) * rng.randrange(1, 4))


def repeat_entry(rng, tokens):
    """An entry with a key of its own, or with the same again."""
    text = "".join(tokens)
    if found := re.search(r'"[^"]*":\{[^{}]*\}', text):
        key = rng.choice(['"c"', found[0].split(":")[0]])
        tokens[:] = TOKEN.findall("{" + key + found[0][found[0].index(":"):] + "," + text[1:])


def repeat_field(rng, tokens):
    fields = re.findall(r'"(?:dtype|shape|data_offsets)":(?:"[^"]*"|\[[^\]]*\])', "".join(tokens))
    places = [i + 1 for i, token in enumerate(tokens[1:-1], 1) if token == "{"]
    if fields and places:
        tokens.insert(rng.choice(places), rng.choice(fields + ['"more":1']) + ",")


def entry_as_list(rng, tokens):
    text = "".join(tokens)
    changed = re.sub(r'\{("dtype":"\w+"),("shape":\[[^\]]*\]),("data_offsets":\[[^\]]*\])\}',
                     lambda m: "[" + ",".join(field.split(":", 1)[1] for field in m.groups()) + "]", text, count=1)
    tokens[:] = TOKEN.findall(changed)


def metadata_value(rng, tokens):
    text = "".join(tokens)
    value = rng.choice(["null", "{}", "[]", "1", '{"k":1}', '{"k":null}', '{"k":"v","k":"w"}', '{"k":{}}', '""'])
    text = re.sub(r'"__metadata__":\{[^}]*\},?', "", text)
    tokens[:] = TOKEN.findall('{"__metadata__":' + value + ("," if '"' in text else "") + text[1:])


CHANGES = [change_number, change_number, nudge_number, nudge_number, wrap_shape, change_word, copy_span, drop_span, insert, space, space,
           repeat_entry, repeat_field, entry_as_list, metadata_value]


def spoil_bytes(rng, header):
    header = bytearray(header)
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(header)) if header else 0
        kind = rng.randrange(4)
        if kind == 0 and header:
            header[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            header[at:at] = bytes([rng.randrange(256)])
        elif kind == 2:
            del header[at:at + 1]
        elif header:
            header[at] = rng.choice(b'{}[]",:0123456789 \x00\xff')
    return bytes(header)


def file_of(rng):
    """What a file begins with, and how many zeros follow."""
    tokens, data = well_formed(rng)
    kind = rng.random()
    if kind < 0.75:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            rng.choice(CHANGES)(rng, tokens)
            tokens = tokens or ["{}"]
    header = "".join(tokens).encode()
    if kind > 0.7 and rng.random() < 0.5:
        header = spoil_bytes(rng, header)
    header += rng.choice([b"", b" " * (-len(header) % 8), b"\n", b"\x00"] if rng.random() < 0.3 else [b""])
    length = len(header)
    if rng.random() < 0.06:
        length = rng.choice([0, 1, 7, length - 1, length + 1, length + data, length + data + 1, 100_000_000, 100_000_001, 2**63, 2**64 - 8, 2**64 - 1])
    if rng.random() < 0.04:
        data = max(0, data + rng.choice([-8, -1, 1, 8]))
    start = struct.pack("<Q", max(0, length)) + header
    if rng.random() < 0.01:
        start, data = start[:rng.randrange(len(start))], 0
    return start, data


def accepts(file):
    try:
        safetensors.deserialize(file)
    except safetensors.SafetensorError:
        return 0
    return 1


if __name__ == "__main__":
    assert safetensors.__version__ == "0.8.0", f"found safetensors {safetensors.__version__}, wanted 0.8.0"
    rng = random.Random(77)
    starts, sizes, verdicts = [], [], []
    while len(starts) < FILES:
        start, data = file_of(rng)
        starts.append(start)
        sizes += [len(start), data]
        verdicts.append(accepts(start + bytes(data)))
    text = b"".join(starts)
    save(sys.argv[1], {"sizes": ("I64", [FILES, 2], sizes), "accepted": ("U8", [FILES], verdicts), "bytes": ("U8", [len(text)], list(text))})
    print(f"{FILES} files, {sum(verdicts)} accepted, {len(text)} bytes")

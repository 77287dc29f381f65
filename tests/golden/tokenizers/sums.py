#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checksums of the ids that independent libraries give for 100,000 random texts and for long runs, for each tokenizer here.

    sums.py                          writes sums.json
    sums.py --block N --out FOLDER   writes block N's texts and ids as make.py writes cases; TILEWRIGHT_GOLDEN_TOKENIZERS=FOLDER
                                     runs the tests of cases on them

The texts are made by the same rules here and in tests/unit/tokenizers/SumsTest.cpp, from what sums.json says; they need the packages
that make.py needs. What a tokenizer is not asked for (`alphabet`): characters of later Unicode tables than its library has, clusters
of characters that its library normalizes as one (docs/tokenizers.md), and user-defined tokens in GGUF's SentencePiece models.
It takes minutes.
"""
import argparse
import base64
import functools
import json
import pathlib
import unicodedata

import sentencepiece
from make import ASSIGNED, HERE, LLAMA, LONG_ASSIGNED, POOLS, T5, library_case, proto_of, sentencepiece_model, write_cases, write_json
from tokenizers import Tokenizer

BLOCKS, TEXTS, RUN = 200, 500, 10_000
MASK = (1 << 64) - 1
RUNS = ["A", "^", " ", "\n", " \n", "1", "'s", "\u65e5", "\u0301", "\u0307\u0323", "\u200d", "\u2029", "<", "a "]


def simple(characters):
    """Those that are never a cluster with their neighbours."""
    return [c for c in characters if unicodedata.category(chr(c)) not in ("Mn", "Mc", "Me", "Cf", "Cc") and not unicodedata.decomposition(chr(c))
            and not 0x1100 <= c < 0x1200 and not 0xA960 <= c < 0xA980 and not 0xAC00 <= c < 0xD800 and not 0x1F1E6 <= c < 0x1F200
            and not 0x1F3FB <= c < 0x1F400]


def ranges(characters):
    found = []
    for c in characters:
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def pools(fits=lambda piece: True):
    return [[piece for piece in pool if fits(piece)] for pool in POOLS if any(fits(piece) for piece in pool)]


SIMPLE = {chr(c) for c in simple(LONG_ASSIGNED)}
# Libraries that go by categories, or that bring marks into order, have old tables of Unicode.
STABLE = [c for c in LONG_ASSIGNED if unicodedata.combining(chr(c)) == unicodedata.ucd_3_2_0.combining(chr(c))]
ALPHABETS = {
    "assigned": {"ranges": ranges(ASSIGNED), "pools": pools()},
    "stable": {"ranges": ranges(STABLE), "pools": pools()},
    "simple": {"ranges": ranges(simple(LONG_ASSIGNED)), "pools": pools(lambda piece: piece in SIMPLE or len(piece) > 1)},
    "text": {"ranges": ranges(ASSIGNED), "pools": pools(lambda piece: piece != "<tool>")},
}


class Random:
    """SplitMix64 (Steele, Lea and Flood, 2014)."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % n


@functools.cache
def characters_of(alphabet):
    return [c for first, last in ALPHABETS[alphabet]["ranges"] for c in range(first, last + 1)]


@functools.cache
def text_of(alphabet, number):
    random, text = Random(number), ""
    characters, pools = characters_of(alphabet), ALPHABETS[alphabet]["pools"]
    for _ in range(1 + random.below(20)):
        if random.below(4) == 0:
            text += chr(characters[random.below(len(characters))])
        else:
            pool = pools[random.below(len(pools))]
            text += pool[random.below(len(pool))]
    return text


def add(total, ids):
    """FNV-1a over the number of ids and the ids, four bytes each."""
    for number in (len(ids), *ids):
        for byte in number.to_bytes(4, "little"):
            total = ((total ^ byte) * 0x100000001B3) & MASK
    return total


SUM_OF_NONE = 0xCBF29CE484222325


class Library:
    """A tokenizer here, as its library has it: `case(text, parse)` is one of make.py's cases."""

    def __init__(self, name):
        self.name, self.folder = name, HERE / name
        # Whether special tokens are read, in turn. Unigram models find their spelling in the vocabulary either way.
        self.alphabet, self.parses = "assigned", (True, False)
        if name in ("bert", "bert_cased", "unigram", "qwen2", "word_level"):
            self.alphabet = "stable"
        if name == "t5":
            self.alphabet, self.parses = "simple", (True,)
        if not (self.folder / "gguf.json").exists():
            tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
            self.case = lambda text, parse: library_case(tokenizer, text, parse)
            return
        self.alphabet, self.parses = "text", (False,)
        table = {key.rsplit(".", 1)[1]: value for key, value in json.loads((self.folder / "gguf.json").read_text()).items()}
        bpe = table["model"] == "llama"
        proto = proto_of(sentencepiece_model("bpe" if bpe else "unigram", **(LLAMA if bpe else T5)))
        del proto.pieces[:]
        for piece, score, kind in zip(table["tokens"], table["scores"], table["token_type"]):
            proto.pieces.add(piece=piece, score=score, type=kind)
        proto.normalizer_spec.precompiled_charsmap = base64.b64decode(table.get("precompiled_charsmap", ""))
        processor = sentencepiece.SentencePieceProcessor(model_proto=proto.SerializeToString())

        def case(text, parse):
            ids = processor.encode(text)
            whole = [processor.bos_id()] + ids if bpe else ids + [processor.eos_id()]
            return {"text": text, "ids": ids, "whole": whole, "decoded": processor.decode(ids) if bpe and 0 not in ids else None}

        self.case = case

    def block(self, number):
        for text in range(number * TEXTS, (number + 1) * TEXTS):
            parse = self.parses[text % len(self.parses)]
            yield {"parse": parse, **self.case(text_of(self.alphabet, text), parse)}

    def sums(self):
        for number in range(BLOCKS):
            total = SUM_OF_NONE
            for case in self.block(number):
                total = add(total, case["ids"])
            yield f"{total:016x}"

    def runs(self):
        for piece in RUNS:
            text = piece * (RUN // len(piece)) + "x"
            yield f"{add(SUM_OF_NONE, self.case(text, self.parses[-1])['ids']):016x}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--block", type=int)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or sorted(p.parent.name for p in HERE.glob("*/cases.json") if p.parent.name != "gguf_bert")
    if options.block is not None:
        for name in names:
            (options.out / name).mkdir(parents=True, exist_ok=True)
            for file in HERE.glob(name + "/*.json"):
                (options.out / name / file.name).write_bytes(file.read_bytes())
            write_cases(options.out / name / "cases.json", Library(name).block(options.block))
        return
    table = {"texts": TEXTS, "run": RUN, "runs": [{"piece": piece, "characters": len(piece)} for piece in RUNS], "alphabets": ALPHABETS, "tokenizers": {}}
    for name in names:
        library = Library(name)
        table["tokenizers"][name] = {"alphabet": library.alphabet, "parses": list(library.parses), "runs": list(library.runs()),
                                     "sums": list(library.sums())}
    write_json(HERE / "sums.json", table)


if __name__ == "__main__":
    main()

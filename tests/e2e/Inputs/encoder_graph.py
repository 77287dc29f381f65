#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny models that read whole sequences.

encoder_graph.py encoder|masked-encoder|encoder-decoder|read-again|decoder|FAULT FOLDER    writes FOLDER/model.json (a graph file as JSON, for flatc)

encoder: three layers that share one transient state: full attention, a window on both sides, a bias by distance; it gives
hidden rows alone, from tokens and token types. masked-encoder: logits as well. encoder-decoder: that encoder as the encode
entry, which fills the states of two decoder layers that read their sources. read-again: the same, whose texts are read
again as they grow past 26 tokens. decoder: its layers without sources. Faults: what must be refused.
"""
import random
import struct
import sys

from graph_json import Function, state, tensor, write

EMBEDDING, HEADS, KV_HEADS, DEPTH, INNER, VOCABULARY, CONTEXT, REACH = 24, 4, 2, 6, 40, 50, 150, 5
kind, folder = sys.argv[1:]
numbers = random.Random(7)
weights, functions = [], []


def weight(f, name, *shape, scale=None):
    count = 1
    for extent in shape:
        count *= extent
    scale = scale or 1.3 / shape[-1] ** 0.5
    values = [numbers.gauss(0, scale) for _ in range(count)]
    if name not in [each["name"] for each in weights]:
        return f.weight(weights, name, tensor("f32", shape), struct.pack(f"<{count}f", *values))
    return f.op("weight", [], tensor("f32", shape), name=name)


def group(name):
    made = state(*[tensor("f32", [None, KV_HEADS, DEPTH])] * 2)
    return {**made, "group": name} if name else made


class Layer(Function):
    """Rows of one sequence each; attention and a feed-forward part, each with a norm before and what came in behind it."""

    def __init__(self, name):
        super().__init__({"name": name})
        functions.append(self.data)
        self.parameters = []
        self.rows = tensor("f32", ["N", EMBEDDING])
        self.x = self.argument("x", self.rows)
        self.positions = self.argument("positions", tensor("i32", ["N"]))
        self.row_start = self.argument("row_start", tensor("i32", ["B1"]))
        self.kv_len = self.argument("kv_len", tensor("i32", ["B"]))

    def parameter(self, name, *shape):
        self.parameters.append((name, shape))
        return self.argument(name, tensor("f32", shape))

    def norm(self, x, name):
        w = self.parameter(name, EMBEDDING)
        return self.op("rms_norm.norm", [x, w], self.rows, segments=[1, 1, 0], epsilon=1e-5)

    def linear(self, x, name, rows, columns):
        return self.op("tw.linear", [x, self.parameter(name, rows, columns)], tensor("f32", ["N", rows]))

    def heads(self, x, name, count):
        flat = self.linear(x, name, count * DEPTH, EMBEDDING)
        return self.op("tw.reshape", [flat], tensor("f32", ["N", count, DEPTH]))

    def append(self, x, cache, type, prefix=""):
        keys, values = self.heads(x, prefix + "wk", KV_HEADS), self.heads(x, prefix + "wv", KV_HEADS)
        return self.op("tw.append", [cache, self.row_start, keys, values], type)

    def attend(self, x, cache, lengths, prefix="", bias=None, **attributes):
        query = self.heads(x, prefix + "wq", HEADS)
        operands = [query, cache, self.row_start, lengths, self.positions] + ([] if bias is None else [bias])
        segments = [1, 0, 0, 1, 1, 1, 1, 0, int(bias is not None), 0, 0, 0, 0, 0, 0]
        out = self.op("tw.attention", operands, tensor("f32", ["N", HEADS, DEPTH]), segments=segments, scale=DEPTH**-0.5, **attributes)
        flat = self.op("tw.reshape", [out], tensor("f32", ["N", HEADS * DEPTH]))
        return self.linear(flat, prefix + "wo", EMBEDDING, HEADS * DEPTH)

    def add(self, x, y):
        return self.op("tw.add", [x, y], self.rows)

    def feed_forward(self, x):
        inner = self.linear(self.norm(x, "norm2"), "w1", INNER, EMBEDDING)
        return self.add(x, self.linear(self.op("tw.tanh", [inner], tensor("f32", ["N", INNER])), "w2", EMBEDDING, INNER))


def encoder_layer(name, biased=False, **attributes):
    f = Layer(name)
    cache = f.argument("cache", group("transient"))
    bias = f.argument("bias", tensor("f32", [HEADS, 2 * REACH + 1])) if biased else None
    a = f.norm(f.x, "norm1")
    grown = f.append(a, cache, group("transient"))
    y = f.feed_forward(f.add(f.x, f.attend(a, grown, f.kv_len, bias=bias, causal="none", **attributes)))
    f.data.update(results=[y, grown])
    return f


def decoder_layer(reads):
    f = Layer("decoder")
    if reads:
        source_len = f.argument("source_len", tensor("i32", ["B"]))
    cache = f.argument("cache", group(""))
    if reads:
        source = f.argument("source", group("source"))
    a = f.norm(f.x, "norm1")
    grown = f.append(a, cache, group(""))
    x = f.add(f.x, f.attend(a, grown, f.kv_len, causal="end"))
    if reads:
        x = f.add(x, f.attend(f.norm(x, "norm3"), source, source_len, prefix="cross_", causal="none"))
    f.data.update(results=[f.feed_forward(x), grown])
    return f


def call(f, layer, prefix, operands, types):
    operands = operands + [weight(f, f"{prefix}.{name}", *shape) for name, shape in layer.parameters]
    results = [f.value(f"{prefix}.{i}", type) for i, type in enumerate(types)]
    f.data["body"].append({"name": "call", "operands": operands, "results": results,
                           "attrs": [{"name": "callee", "value_type": "StringAttr", "value": {"value": layer.data["name"]}}]})
    return results


def embedded(f, arguments, types=None):
    rows = tensor("f32", ["N", EMBEDDING])
    x = f.op("tw.gather", [weight(f, "tokens_table", VOCABULARY, EMBEDDING, scale=1), arguments["tokens"]], rows)
    p = f.op("tw.gather", [weight(f, "positions_table", CONTEXT, EMBEDDING, scale=0.5), arguments["positions"]], rows)
    x = f.op("tw.add", [x, p], rows)
    if types is None:
        return x
    return f.op("tw.add", [x, f.op("tw.gather", [weight(f, "types_table", 2, EMBEDDING, scale=1), types], rows)], rows)


def encoded(f, layers, arguments, x, cache):
    for number, layer in enumerate(layers):
        bias = [weight(f, "bias", HEADS, 2 * REACH + 1, scale=1)] if layer.data["name"] == "biased" else []
        operands = [x, arguments["positions"], arguments["row_start"], arguments["kv_len"], cache] + bias
        x, cache = call(f, layer, f"encoder.{number}", operands, [tensor("f32", ["N", EMBEDDING]), group("transient")])
    return x, cache


def wanted(f, arguments, x, size):
    return f.op("tw.gather", [x, arguments["logit_rows"]], tensor("f32", ["R", size]))


def logits(f, rows):
    head = weight(f, "head", VOCABULARY, EMBEDDING, scale=0.3)
    return f.op("tw.linear", [rows, head], tensor("f32", ["R", VOCABULARY]))


def encoder_step(layers, with_logits):
    f = Function({"name": "step"})
    functions.append(f.data)
    arguments = f.step_arguments()
    types = f.argument("token_type_ids", tensor("i32", ["N"]))
    cache = f.argument("cache", group("transient"))
    x, cache = encoded(f, layers, arguments, embedded(f, arguments, types), cache)
    rows = wanted(f, arguments, x, EMBEDDING)
    results = [logits(f, rows)] if with_logits else []
    hidden = f.op("tw.tanh", [rows], tensor("f32", ["R", EMBEDDING]))
    f.data.update(results=results + [hidden, cache], result_names=["logits"] * with_logits + ["hidden", "cache"])


def encode_entry(layers, count, fault):
    f = Function({"name": "encode"})
    functions.append(f.data)
    arguments = f.step_arguments(without=["logit_rows"])
    types = f.argument("token_type_ids", tensor("i32", ["N"]))
    cache = f.argument("cache", group("transient"))
    sources = [f.argument(f"source.{i}", group("source")) for i in range(count)]
    x, cache = encoded(f, layers, arguments, embedded(f, arguments, types), cache)
    filled = []
    for number, source in enumerate(sources):
        flat = [f.op("tw.linear", [x, weight(f, f"cross.{number}.{name}", KV_HEADS * DEPTH, EMBEDDING)], tensor("f32", ["N", KV_HEADS * DEPTH]))
                for name in ("wk", "wv")]
        keys, values = (f.op("tw.reshape", [each], tensor("f32", ["N", KV_HEADS, DEPTH])) for each in flat)
        filled.append(f.op("tw.append", [source, arguments["row_start"], keys, values], group("source")))
    rows = [f.op("tw.tanh", [x], tensor("f32", ["N", EMBEDDING]))] if fault == "encode-gives-rows" else []
    f.data.update(results=rows + [cache] + filled, result_names=["hidden"] * len(rows) + ["cache"] + [f"source.{i}" for i in range(count)])


def decoder_step(count, fault):
    reads = fault != "decoder"
    layer = decoder_layer(reads)
    f = Function({"name": "step"})
    functions.append(f.data)
    arguments = f.step_arguments()
    source_len = [f.argument("source_len", tensor("i32", ["B"]))] if reads else []
    caches = [f.argument(f"cache.{i}", group("")) for i in range(count)]
    sources = [f.argument(f"source.{i}", group("source")) for i in range(count)] if reads else []
    x = embedded(f, arguments)
    for number in range(count):
        source = sources[number] if reads else None
        if fault == "fills-in-step":
            keys = f.op("tw.reshape", [x], tensor("f32", ["N", KV_HEADS * 2, DEPTH]))
            keys = f.op("tw.slice", [keys], tensor("f32", ["N", KV_HEADS, DEPTH]), dim=1, start=0, size=KV_HEADS)
            source = f.op("tw.append", [source, arguments["row_start"], keys, keys], group("source"))
        operands = [x, arguments["positions"], arguments["row_start"], arguments["kv_len"], *source_len, caches[number]]
        operands += [source] if reads else []
        x, caches[number] = call(f, layer, f"decoder.{number}", operands, [tensor("f32", ["N", EMBEDDING]), group("")])
    f.data.update(results=[logits(f, wanted(f, arguments, x, EMBEDDING))] + caches,
                  result_names=["logits"] + [f"cache.{i}" for i in range(count)])


layers = []
if kind not in ("decoder", "no-encode"):
    layers = [encoder_layer("full"), encoder_layer("near", radius=3), encoder_layer("biased", biased=True)]
graph = {"name": kind, "entry": "step", "weights": weights, "required_plugins": ["rms_norm"], "context_length": CONTEXT,
         "vocab_size": VOCABULARY, "producer": "encoder_graph.py", "functions": functions}
if kind in ("encoder", "masked-encoder"):
    encoder_step(layers, kind == "masked-encoder")
else:
    if layers:
        encode_entry(layers, 2, kind)
        graph.update(encode_entry="encode", generation={"decoder_start_id": 3})
    if kind == "read-again":
        graph.update(reread_length=26)
    decoder_step(2, kind)
write(folder, graph)

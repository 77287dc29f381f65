#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A golden case of attention of low rank as a model that decodes over a cache of latents.

low_rank_graph.py GOLDEN make CASE FOLDER    writes FOLDER/model.json (a graph file as JSON, for flatc) and in.safetensors
low_rank_graph.py GOLDEN check CASE FILE     compares FILE's logits with the case's outputs
                        [--relative R]       ... allows R of the largest output instead of the case's limit

The embedding table holds the case's inputs, row by row, and the model's logits are what the layer makes of them.
"""
import json
import os
import sys

from graph_json import Function, state, tensor, write

sys.path.insert(0, sys.argv[1])
from fill import Case  # noqa: E402
from write import save  # noqa: E402


def make(case, folder):
    a = json.loads(case.metadata["attrs"])
    batch, length, width = case.entries["in.x"]["shape"]
    heads, nope, rope, dv, rank = (a[k] for k in ("H", "d_nope", "d_rope", "d_v", "kv_rank"))
    weights, f = [], Function({"name": "step"})
    tokens, positions, row_start, kv_len, logit_rows = f.step_arguments().values()
    cached = state(tensor("f32", [None, 1, rank + rope]))
    cache = f.argument("cache", cached)

    def weight(name):
        shape, raw = case.entries["in." + name]["shape"], case.raw("in." + name)
        if name == "x":  # a row for each token of the vocabulary
            shape, raw = [width, width], (raw * width)[: width * width * 4]
        return f.weight(weights, name, tensor("f32", shape), raw), shape

    def linear(x, name, rows="N"):
        w, shape = weight(name)
        return f.op("tw.linear", [x, w], tensor("f32", [rows, shape[0]]))

    def norm(x, name, columns):
        w, _ = weight(name)
        return f.op("rms_norm.norm", [x, w], tensor("f32", ["N", columns]), segments=[1, 1, 0], epsilon=a["lora_eps"])

    def part(x, dim, start, size, shape):
        return f.op("tw.slice", [x], tensor("f32", shape), dim=dim, start=start, size=size)

    def rotate(x, count):
        layout = "interleaved" if a["interleave"] else "half"
        return f.op("rotary_embedding.rotate", [x, positions], tensor("f32", ["N", count, rope]), base=a["base"], rotary_dim=rope,
                    layout=layout)

    table, _ = weight("x")
    x = f.op("tw.gather", [table, tokens], tensor("f32", ["N", width]))
    q = linear(norm(linear(x, "q_a"), "q_a_norm", a["q_rank"]), "q_b") if a["q_rank"] else linear(x, "q")
    q = f.op("tw.reshape", [q], tensor("f32", ["N", heads, nope + rope]))
    q_nope = part(q, 2, 0, nope, ["N", heads, nope])
    q_rope = rotate(part(q, 2, nope, rope, ["N", heads, rope]), heads)
    down = linear(x, "kv_a")
    latent = norm(part(down, 1, 0, rank, ["N", rank]), "kv_a_norm", rank)
    key = f.op("tw.reshape", [part(down, 1, rank, rope, ["N", rope])], tensor("f32", ["N", 1, rope]))
    latent = f.op("tw.reshape", [latent], tensor("f32", ["N", 1, rank]))
    row = f.op("tw.concat", [latent, rotate(key, 1)], tensor("f32", ["N", 1, rank + rope]), dim=2)
    grown = f.op("tw.append", [cache, row_start, row], cached)
    up, _ = weight("kv_b")
    o = f.op("latent_attention.attention", [q_nope, q_rope, up, grown, row_start, kv_len, positions],
             tensor("f32", ["N", heads, dv]), segments=[1, 1, 1, 0, 0, 1, 1, 1, 1, 0], scale=a["scale"], causal="end")
    o = f.op("tw.reshape", [o], tensor("f32", ["N", heads * dv]))
    logits = linear(f.op("tw.gather", [o, logit_rows], tensor("f32", ["R", heads * dv])), "o", "R")
    f.data.update(results=[logits, grown], result_names=["logits", "cache"])
    graph = {"name": "low rank", "functions": [f.data], "entry": "step", "weights": weights,
             "required_plugins": ["latent_attention", "rms_norm", "rotary_embedding"], "context_length": 64,
             "vocab_size": width, "producer": "low_rank_graph.py"}
    write(folder, graph)
    save(os.path.join(folder, "in.safetensors"), {"input_ids": ("I64", [batch, length], range(batch * length))})


def check(case, path, relative):
    found, wanted = Case(path).values("logits"), case.values("out.y")
    limit = relative * max(map(abs, wanted)) if relative else float(case.limit("out.y"))
    worst = max(abs(a - b) for a, b in zip(found, wanted, strict=True))
    if not worst <= limit:
        sys.exit(f"logits are off by {worst}, allowed {limit}")
    print(f"{len(found)} logits within {limit}")


case = Case(os.path.join(sys.argv[1], "cases", sys.argv[3] + ".safetensors"))
if sys.argv[2] == "make":
    make(case, sys.argv[4])
else:
    check(case, sys.argv[4], float(sys.argv[6]) if len(sys.argv) > 5 else None)

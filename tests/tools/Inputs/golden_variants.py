#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""golden_variants.py OUT GOLDEN: stored golden cases in other words, OUT/good (the values stay what independent implementations
computed, or are worked out here), and in words that mean nothing, OUT/bad."""
import json
import math
import os
import random
import struct
import sys

out, golden = sys.argv[1:]
sys.path.insert(0, golden)
from write import save  # noqa: E402

CODES = {"F32": "f", "F64": "d", "I64": "q", "I8": "b", "BOOL": "?"}
for kind in ("good", "bad"):
    os.makedirs(os.path.join(out, kind))
random.seed(5)


def load(name):
    with open(os.path.join(golden, "cases", name + ".safetensors"), "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    entries = json.loads(data[8 : 8 + size])
    metadata, tensors = entries.pop("__metadata__"), {}
    for key, entry in entries.items():
        if key.startswith(("in.", "out.", "aux.")):
            begin, end = entry["data_offsets"]
            code, raw = CODES[entry["dtype"]], data[8 + size + begin : 8 + size + end]
            values = struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw)
            # I8, as write.py has no signed bytes, in what it has.
            tensors[key] = ("U8" if entry["dtype"] in ("I8", "BOOL") else entry["dtype"], entry["shape"], [v % 256 if entry["dtype"] == "I8" else v for v in values])
    return metadata, json.loads(metadata["attrs"]), tensors


def write(kind, name, metadata, attributes, tensors):
    save(os.path.join(out, kind, name + ".safetensors"), tensors, metadata | {"case": name, "attrs": json.dumps(attributes)})


def floats(shape, values):
    return ("F32", shape, values)


def made_up(name, technique, attributes, tensors):
    write("good", name, {"technique": technique, "f32_err": "{}"}, attributes, tensors)


def swapped(tensor):
    """Heads and rows: [B, H, T, D] -> [B, T, H, D]."""
    kind, (b, h, t, d), values = tensor
    return kind, [b, t, h, d], [values[((i * h + k) * t + j) * d + n] for i in range(b) for j in range(t) for k in range(h) for n in range(d)]


def softmax(scores):
    top = max(scores)
    weights = [math.exp(x - top) for x in scores]
    return [weight / sum(weights) for weight in weights]


def numbers(*shape):
    return [random.randint(-1024, 1023) / 512 for _ in range(math.prod(shape))]


def matrix(values, columns):
    return [values[i : i + columns] for i in range(0, len(values), columns)]


def product(rows, weight):
    """x W^T."""
    return [[sum(a * b for a, b in zip(row, other)) for other in weight] for row in rows]


def flat(rows):
    return [value for row in rows for value in row]


# Layouts of attention.
for name in ("attn_gqa_6_2", "attn_tile_order_not_gqa", "attn_sinks"):
    metadata, attributes, tensors = load(name)
    for key in ("in.q", "in.k", "in.v", "out.o"):
        tensors[key] = swapped(tensors[key])
    write("good", name + "_bthd", metadata, attributes | {"layout": "BTHD"}, tensors)
    if name == "attn_gqa_6_2":
        write("good", name + "_flash_bthd", metadata | {"technique": "flash_attention"}, attributes | {"layout": "BTHD"}, tensors)
metadata, attributes, tensors = load("attn_plain")
q, k, v = (swapped(tensors.pop(key)) for key in ("in.q", "in.k", "in.v"))
row = q[1][2] * q[1][3]
joined = [value for at in range(0, len(q[2]), row) for part in (q, k, v) for value in part[2][at : at + row]]
tensors |= {"in.qkv": floats(q[1][:2] + [3] + q[1][2:], joined), "out.o": swapped(tensors["out.o"])}
write("good", "attn_plain_bt3hd", metadata, attributes | {"layout": "BT3HD"}, tensors)

# The same under another technique's name.
for name, technique in (("gqa_qk_norm_layer", "grouped_query_attention"), ("mha_qk_norm_rms", "grouped_query_attention"),
                        ("gqa_module", "multi_head_attention")):
    metadata, attributes, tensors = load(name)
    write("good", name + "_renamed", metadata | {"technique": technique}, attributes, tensors)

# A relation that is the same for each of a batch.
metadata, attributes, tensors = load("pos_relation_shared_T5_S8")
kind, shape, values = tensors["in.relation"]
write("good", "relation_of_one_batch", metadata, attributes, tensors | {"in.relation": (kind, [1] + shape, values)})

# Causal modules: two query heads on one of keys and values.
rows, width, length = 2, 3, 4
x = [numbers(length, 4), numbers(length, 4)]
weights = {"q": matrix(numbers(2 * width, 4), 4), "k": matrix(numbers(width, 4), 4), "v": matrix(numbers(width, 4), 4),
           "o": matrix(numbers(4, 2 * width), 2 * width)}
y = []
for each in x:
    query, key, value = (product(matrix(each, 4), weights[part]) for part in "qkv")
    heads = []
    for t in range(length):
        heads.append([])
        for h in (0, 1):
            mine = query[t][h * width : (h + 1) * width]
            seen = softmax([sum(a * b for a, b in zip(mine, key[j])) / math.sqrt(width) for j in range(t + 1)])
            heads[-1] += [sum(p * value[j][d] for j, p in enumerate(seen)) for d in range(width)]
    y += flat(product(heads, weights["o"]))
tensors = {"in.w_" + part: floats([len(weight), len(weight[0])], flat(weight)) for part, weight in weights.items()}
tensors |= {"in.x": floats([rows, length, 4], flat(x)), "out.y": floats([rows, length, 4], y)}
for technique in ("grouped_query_attention", "multi_head_attention"):
    made_up("causal_" + technique, technique, {"H": 2, "Hkv": 1, "D": width, "causal": True}, tensors)

# Self-attention that is not trained, that is not scaled, and of no token.
unscaled = {"causal": False, "fused": False, "scale": "1", "weight_layout": "[C,E]"}
x = matrix(numbers(5, 3), 3)
seen = [softmax(scores) for scores in product(x, x)]
context = [[sum(p * x[j][e] for j, p in enumerate(row)) for e in range(3)] for row in seen]
tensors = {"in.x": floats([5, 3], flat(x)), "out.context": floats([5, 3], flat(context)), "out.weights": floats([5, 5], flat(seen))}
made_up("untrained", "trainable_self_attention", unscaled, tensors)
same = floats([3, 3], [1, 0, 0, 0, 1, 0, 0, 0, 1])
made_up("unscaled", "trainable_self_attention", unscaled, tensors | {"in.w_" + part: same for part in "qkv"})
made_up("no_token", "trainable_self_attention", unscaled,
        {"in.x": floats([2, 0, 3], []), "out.context": floats([2, 0, 3], []), "out.weights": floats([2, 0, 0], [])})

# Drafts that stand by a threshold.
metadata, attributes, tensors = load("spec_sampling")
p, draft, resample = tensors["in.p"], tensors["in.draft"][2], tensors["in.u_resample"][2]
rounds, places, vocabulary = p[1]
accepted, following = [], []
for r in range(rounds):
    at = [p[2][(r * places + i) * vocabulary :][:vocabulary] for i in range(places)]
    stands = next((i for i in range(places - 1) if at[i][draft[r * (places - 1) + i]] < 0.1), places - 1)
    total = 0.0
    for token, probability in enumerate(at[stands]):
        total += probability
        if total > resample[r] * sum(at[stands]):
            break
    accepted.append(stands)
    following.append(token)
assert len(set(accepted)) > 2
threshold = {"K": places - 1, "mode": "threshold", "threshold": 0.1}
tensors |= {"out.accepted": ("I64", [rounds], accepted), "out.next_token": ("I64", [rounds], following)}
write("good", "threshold", metadata, threshold, tensors)
write("bad", "threshold_0", metadata, threshold | {"threshold": 0}, tensors)

# What means nothing: attributes, and tensors of other sizes (cut, or continued with zeros).
HUGE = 2**62
for source, name, changed, sizes in [
        ("cross_attention", "cross_H0", {"H": 0}, {}), ("mha_bias", "mha_H0", {"H": 0}, {}),
        ("encoder_layer_pre_gelu", "encoder_H0", {"H": 0}, {}), ("decoder_layer_post", "decoder_H0", {"H": 0}, {}),
        ("gqa_module", "gqa_H0", {"H": 0}, {}), ("gqa_module", "gqa_Hkv0", {"Hkv": 0}, {}),
        ("gqa_module", "gqa_Hkv4", {"Hkv": 4}, {"in.w_k": [20, 20], "in.b_k": [20]}),
        ("mla_lowrank", "mla_H0", {"H": 0}, {}), ("mla_lowrank", "mla_d_rope", {"d_rope": 10}, {}),
        ("mtp_sequential", "mtp_H0", {"H": 0}, {}), ("mtp_sequential", "mtp_n0", {"n": 0}, {}),
        ("mtp_sequential", "mtp_n-1", {"n": -1}, {}), ("mtp_sequential", "mtp_n_huge", {"n": HUGE}, {}),
        ("mtp_sequential", "mtp_n9", {"n": 9}, {}),
        ("pos_sin_half", "sin_n-1", {"n": -1}, {}), ("pos_sin_half", "sin_n_huge", {"n": HUGE}, {}),
        ("pos_sin_half", "sin_n7", {"n": 7}, {}),
        ("pos_t5_bidirectional_12_20", "t5_table", {}, {"in.table": [0, 4]}), ("pos_shaw", "shaw_table", {}, {"in.rel_k": [0, 8]}),
        ("attn_tile_order_not_gqa", "tile_of_0", {}, {"in.k": [2, 0, 7, 8]}),
        ("attn_tile_order_not_gqa", "tile_to_0", {}, {"in.q": [2, 0, 7, 8]}),
        ("attn_tile_order_not_gqa", "tile_to_1", {}, {"in.q": [2, 1, 7, 8]}),
        ("attn_plain", "window0", {"window": 0}, {}), ("attn_plain", "chunk0", {"chunk": 0}, {}),
        ("attn_plain", "D0", {}, {"in.q": [2, 3, 7, 0], "in.k": [2, 3, 7, 0]}),
        ("ring_partials_P3", "ring_weights", {}, {"out.weights": [2, 3, 17, 17]}),
        ("ring_partials_P3", "ring_packed", {}, {"in.cu_seqlens_q": [2], "in.cu_seqlens_kv": [2]}),
        ("ring_partials_P3", "ring_bthd", {"layout": "BTHD"}, {}),
        ("quant_int8_channel", "int8_scale", {}, {"in.scale": [5]}), ("quant_int8_channel", "int8_qweight", {}, {"in.qweight": [5, 20]}),
        ("moe_softmax_topk_renorm", "moe_top_k", {"top_k": -1}, {}),
        ("rope_linear", "rope_no_factor", {"factor": None}, {}),
        ("spec_sampling", "spec_p", {}, {"in.p": [40, 2, 9]}), ("spec_sampling", "spec_p_V0", {}, {"in.p": [40, 5, 0]}),
        ("spec_sampling", "spec_q", {}, {"in.q": [40, 4, 5]}), ("spec_sampling", "spec_u_accept", {}, {"in.u_accept": [3, 4]}),
        ("spec_sampling", "spec_u_resample", {}, {"in.u_resample": [0]}), ("spec_sampling", "spec_draft", {"K": 3}, {}),
        ("spec_greedy", "spec_logits", {}, {"in.target_logits": [20, 5, 0]}),
        ("tsa_single", "tsa_rank", {}, {"in.x": [1, 1, 6, 10]}),
        ("samp_topk", "sampling_history", {}, {"in.history": [1, 2]})]:
    metadata, attributes, tensors = load(source)
    for key, shape in sizes.items():
        kind, _, values = tensors.get(key, ("I64" if "cu_seqlens" in key else "F32", [], []))
        count = math.prod(shape)
        tensors[key] = (kind, shape, (list(values) + [0] * count)[:count])
    write("bad", name, metadata, attributes | changed, tensors)
metadata, attributes, tensors = load("spec_greedy")
tensors["in.draft"][2][6] = 11
write("bad", "spec_token", metadata, attributes, tensors)
metadata, attributes, tensors = load("spec_sampling")
kind, shape, values = tensors["in.q"]
write("bad", "spec_kind", metadata, attributes, tensors | {"in.q": ("I64", shape, [int(value) for value in values])})

# Cases whose builders end their process (ending_builder.cpp), between others.
os.makedirs(os.path.join(out, "ending"))
metadata, attributes, tensors = load("rms_weight")
for name, technique in (("1", "rms_norm"), ("2", "aborts"), ("3", "exits"), ("4", "rms_norm")):
    write("ending", name, metadata | {"technique": technique}, attributes, tensors)

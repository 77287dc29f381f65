#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""odd_cases.py FOLDER GOLDEN: golden cases of every position encoding with sizes 0 and 1, odd sizes, more queries than keys and
several key heads, computed here by plain loops in double precision."""
import json
import math
import os
import random
import sys

sys.path.insert(0, sys.argv[2])
from write import save  # noqa: E402

random.seed(7)
folder = sys.argv[1]


class Tensor:
    """Numbers in row-major order; t[i, j, ...] reads one."""

    def __init__(self, shape, values=None, integer=False):
        self.shape, self.integer = list(shape), integer
        count = math.prod(shape)
        # f32 holds these exactly.
        self.values = [random.randint(-1024, 1023) / 512 for _ in range(count)] if values is None else values
        assert len(self.values) == count

    def __getitem__(self, place):
        at = 0
        for index, extent in zip(place, self.shape):
            at = at * extent + index
        return self.values[at]


def relations(shape, rows):
    return Tensor(shape, [random.randrange(rows) for _ in range(math.prod(shape))], True)


def write(name, technique, attributes, inputs, outputs):
    tensors = {kind + key: ("I64" if tensor.integer else "F32", tensor.shape, tensor.values)
               for kind, named in (("in.", inputs), ("out.", outputs)) for key, tensor in named.items()}
    save(os.path.join(folder, name + ".safetensors"), tensors,
         {"case": name, "technique": technique, "attrs": json.dumps(attributes), "f32_err": "{}"})


def attention(q, k, v, scale, causal, bias=lambda b, h, t, s: 0.0, key=None, value=None, vectors=None):
    """key(b, t, s) and value(b, t, s) are rows of the two tables in `vectors`."""
    (B, H, T, D), (S, Dv) = q.shape, (k.shape[2], v.shape[3])
    out = []
    for b in range(B):
        for h in range(H):
            g = h // (H // k.shape[1])
            for t in range(T):
                shown = [s for s in range(S) if causal == "none" or s <= t + S - T]
                scores = []
                for s in shown:
                    dot = sum(q[b, h, t, d] * (k[b, g, s, d] + (vectors[0][key(b, t, s), d] if key else 0)) for d in range(D))
                    scores.append(scale * dot + bias(b, h, t, s))
                top = max(scores, default=0.0)
                weights = [math.exp(x - top) for x in scores]
                for d in range(Dv):
                    mix = sum(w * (v[b, g, s, d] + (vectors[1][value(b, t, s), d] if value else 0)) for w, s in zip(weights, shown))
                    out.append(mix / sum(weights) if shown else 0.0)
    return Tensor([B, H, T, Dv], out)


def heads(B, H, Hkv, T, S, D, Dv=None):
    return dict(q=Tensor([B, H, T, D]), k=Tensor([B, Hkv, S, D]), v=Tensor([B, Hkv, S, Dv or D]))


for n, d in ((1, 1), (33, 7), (0, 4), (65, 32)):
    for layout in ("interleaved", "half"):
        table = []
        for p in range(n):
            for j in range(d):
                sines = (d + 1) // 2
                i, sine = (j % sines, j < sines) if layout == "half" else (j // 2, j % 2 == 0)
                angle = p / 10000 ** (2 * i / d)
                table.append(math.sin(angle) if sine else math.cos(angle))
        write(f"sinusoidal_{n}_{d}_{layout}", "positions_sinusoidal", dict(n=n, d=d, base=10000, layout=layout), {}, dict(table=Tensor([n, d], table)))

for B, T, n, d in ((2, 33, 5, 3), (1, 1, 1, 1), (3, 0, 4, 2)):
    x, table, ids = Tensor([B, T, d]), Tensor([n, d]), relations([B, T], n)
    y = [x[b, t, j] + table[ids[b, t], j] for b in range(B) for t in range(T) for j in range(d)]
    write(f"learned_{B}_{T}", "positions_learned", dict(n=n), dict(x=x, table=table, position_ids=ids), dict(y=Tensor([B, T, d], y)))


def slope(h, H):
    P = 2 ** int(math.log2(H))
    return 2 ** (-8 * (h + 1) / P) if h < P else 2 ** (-8 * (2 * (h - P) + 1) / (2 * P))


for B, H, T, S, causal in ((2, 3, 5, 5, "end"), (1, 7, 1, 33, "none"), (1, 1, 5, 2, "end"), (1, 5, 0, 3, "none"), (2, 20, 3, 1, "end")):
    ins = heads(B, H, H, T, S, 3)
    o = attention(ins["q"], ins["k"], ins["v"], 3**-0.5, causal, lambda b, h, t, s: slope(h, H) * (s - (t + S - T)))
    write(f"alibi_{H}_{T}_{S}", "positions_alibi", dict(H=H, causal=causal, bias="slope_h * (j - (i + S - T))"), ins, dict(o=o))


def bucket(d, both, n, far):
    first, a = 0, max(-d, 0)
    if both:
        n, a = n // 2, abs(d)
        first = n if d > 0 else 0
    if a < n // 2:
        return first + a
    return first + min(n - 1, n // 2 + int(math.log(a / (n // 2)) / math.log(far / (n // 2)) * (n - n // 2) + 1e-9))


for T, S, both, n, far in ((3, 17, False, 6, 7), (17, 17, True, 4, 2), (1, 1, True, 8, 50), (65, 65, True, 10, 33)):
    ins = heads(1, 2, 2, T, S, 5) | dict(table=Tensor([n, 2]))
    causal = "none" if both else "end"
    o = attention(ins["q"], ins["k"], ins["v"], 1.0, causal, lambda b, h, t, s: ins["table"][bucket(s - (t + S - T), both, n, far), h])
    write(f"t5_{T}_{S}", "positions_t5_buckets", dict(bidirectional=both, num_buckets=n, max_distance=far, scale=1.0, causal=causal, relative="j - (i + S - T)"), ins, dict(o=o))

for B, H, Hkv, T, S, clip, causal in ((2, 4, 2, 3, 17, 3, "end"), (1, 3, 1, 5, 2, 0, "end"), (1, 1, 1, 1, 1, 1, "none"), (2, 2, 2, 3, 0, 2, "none"), (1, 2, 1, 33, 33, 4, "none")):
    ins = heads(B, H, Hkv, T, S, 3, 3) | dict(rel_k=Tensor([2 * clip + 1, 3]), rel_v=Tensor([2 * clip + 1, 3]))
    row = lambda b, t, s: min(max(s - (t + S - T), -clip), clip) + clip
    o = attention(ins["q"], ins["k"], ins["v"], 3**-0.5, causal, key=row, value=row, vectors=(ins["rel_k"], ins["rel_v"]))
    write(f"shaw_{H}_{T}_{S}", "positions_shaw", dict(clip=clip, causal=causal, index="clip(j - (i + S - T), -c, c) + c"), ins, dict(o=o))

for B, batched, T, S, R in ((2, True, 3, 33, 4), (3, False, 5, 1, 1), (2, True, 1, 7, 9), (1, False, 17, 9, 3)):
    ins = heads(B, 4, 2, T, S, 5) | dict(relation=relations([B, T, S] if batched else [T, S], R), table_k=Tensor([R, 5]), table_v=Tensor([R, 5]), table_bias=Tensor([R, 4]))
    row = lambda b, t, s: ins["relation"][(b, t, s) if batched else (t, s)]
    bias = lambda b, h, t, s: ins["table_bias"][row(b, t, s), h]
    o = attention(ins["q"], ins["k"], ins["v"], 5**-0.5, "none", bias, row, row, (ins["table_k"], ins["table_v"]))
    o_bias_only = attention(ins["q"], ins["k"], ins["v"], 5**-0.5, "none", bias)
    write(f"relation_{B}_{T}_{S}", "positions_relation_matrix", dict(R=R), ins, dict(o=o, o_bias_only=o_bias_only))

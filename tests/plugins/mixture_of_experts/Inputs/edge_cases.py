# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""edge_cases.py DIR GOLDEN: golden cases worked out by hand. The router is the unit matrix, so that x is the logits."""
import json
import os
import sys

sys.path.insert(0, sys.argv[2])
from write import save  # noqa: E402


def write(name, attributes, inputs, outputs):
    """Tensors are (shape, numbers); integers are stored as I64."""
    tensors = {}
    for kind, named in (("in.", inputs), ("out.", outputs)):
        for key, (shape, numbers) in named.items():
            whole = bool(numbers) and all(isinstance(n, int) for n in numbers)
            tensors[kind + key] = ("I64" if whole else "F32", shape, numbers)
    save(os.path.join(sys.argv[1], name + ".safetensors"), tensors,
         {"case": name, "technique": "mixture_of_experts", "attrs": json.dumps({"expert": "swiglu", **attributes})})


def block(rows, experts, used=None, hidden=3):
    """x, router and weights; those of experts that are not used are NaN."""
    size = experts * hidden
    one = [v if used is None or e in used else float("nan") for e in range(experts) for v in [0.5] * size]
    return {"x": ([len(rows), experts], [float(v) for row in rows for v in row]),
            "router": ([experts, experts], [float(i == j) for i in range(experts) for j in range(experts)]),
            "w_gate": ([experts, hidden, experts], one), "w_up": ([experts, hidden, experts], one), "w_down": ([experts, experts, hidden], one)}


def routed(weights, indices):
    k = len(indices[0])
    made = {"topk_index": ([len(indices), k], [i for row in indices for i in row])}
    if weights:
        made["topk_weight"] = ([len(weights), k], [w for row in weights for w in row])
    return made


# Raw logits are never weights; renormalised, the softmax is that over the chosen.
logits = [[2, 1, 0, -1]]
base = {"top_k": 2, "out_dim": 4}
write("softmax_as_it_is", {**base, "gating": "softmax_topk", "renorm": False}, block(logits, 4), routed([[0.64391426, 0.23688282]], [[0, 1]]))
write("softmax_renormalised", {**base, "gating": "softmax_topk", "renorm": True}, block(logits, 4), routed([[0.73105858, 0.26894142]], [[0, 1]]))
write("softmax_of_the_chosen", {**base, "gating": "topk_softmax"}, block(logits, 4), routed([[0.73105858, 0.26894142]], [[0, 1]]))

# Scores 0.9, 0.8, 0.1, 0.1: the bias chooses and does not weigh.
scores = [[2.1972246, 1.3862944, -2.1972246, -2.1972246]]
for renormalise in (False, True):
    write("bias_" + ("renormalised" if renormalise else "as_it_is"), {**base, "gating": "sigmoid_group", "renorm": renormalise},
          {**block(scores, 4), "corr_bias": ([4], [0.0, 0.0, 0.0, 1.0])}, routed([[0.1, 0.9]], [[3, 0]]))

# Equal scores: all; two at the last place; zeros of both signs.
rows = [[1, 1, 1, 1], [0, 2, 1, 1], [-0.0, 0.0, -0.0, -1], [3, 3, 3, 3], [0.0, -0.0, 0.0, 0.0]]
for gating in ("softmax_topk", "topk_softmax", "sigmoid_group"):
    write("equal_" + gating, {**base, "gating": gating}, block(rows, 4), routed(None, [[0, 1], [1, 2], [0, 1], [0, 1], [0, 1]]))

# All tokens to one expert; the others' weights are NaN, and nothing of that is seen. silu(g) * u with g = u = 0.5 * 9.
for expert in (3, 7):
    rows = [[9.0 * (i == expert) for i in range(8)] for _ in range(4)]
    g = 4.5
    y = 3 * 0.5 * g * g / (1 + 2.718281828459045 ** -g)
    write("only_expert_%d" % expert, {"top_k": 1, "out_dim": 8, "gating": "topk_softmax"}, block(rows, 8, {expert}),
          {**routed([[1.0]] * 4, [[expert]] * 4), "y": ([4, 8], [y] * 32), "counts": ([8], [4 * (i == expert) for i in range(8)])})

# No tokens: nothing, and no expert has one.
write("no_tokens", {"top_k": 1, "out_dim": 8, "gating": "topk_softmax"}, block([], 8, set()), {"y": ([0, 8], []), "counts": ([8], [0] * 8)})
# More experts wanted than there are.
write("all_experts", {"top_k": 9, "out_dim": 4, "gating": "topk_softmax"}, block([[1, 3, 2, 0]], 4), routed(None, [[1, 2, 0, 3]]))

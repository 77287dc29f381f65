# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes tiny Llama models whose rotary factors go by a text's length, with their logits and greedy tokens, computed here in f64: in a
batch, Transformers chooses the factors by its longest text.

models.py FOLDER [NAME...]   writes FOLDER/NAME/{config.json, model.safetensors, io.safetensors} (needs NumPy)

An implementation of its own, independent of Tilewright: whole sequences, no cache, no batches.
"""
import json
import math
import os
import sys

import numpy as np

from write import save

NEW = 16  # tokens written greedily


def save_arrays(path, arrays, metadata):
    tensors = {name: ({"f": "F32", "i": "I64"}[value.dtype.kind], list(value.shape), value.ravel().tolist())
               for name, value in sorted(arrays.items())}
    save(path, tensors, metadata)


class Weights:
    """Random weights by name, made when they are first asked for."""

    def __init__(self, seed):
        self.random, self.made = np.random.Generator(np.random.PCG64(seed)), {}

    def __call__(self, name, *shape):
        if name not in self.made:
            is_norm = "norm" in name.rsplit(".", 2)[-2]
            std = 0.2 if is_norm else 0.5 if "embed" in name else 1.3 / math.sqrt(shape[-1])
            self.made[name] = ((1.0 if is_norm else 0.0) + std * self.random.standard_normal(shape)).astype(np.float32)
        assert self.made[name].shape == shape, (name, shape)
        return self.made[name].astype(np.float64)


def norm(w, name, x, c):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + c["rms_norm_eps"]) * w(name + ".weight", x.shape[1])


def scaling(c, dims, length):
    """What the angles of the dims / 2 pairs are divided by in a text of `length` tokens, and what multiplies cosines and sines."""
    kind, context = c["rope_scaling"], c["max_position_embeddings"]
    if kind["rope_type"] == "dynamic":
        stretch = kind["factor"] * max(length, context) / context - (kind["factor"] - 1)
        return stretch ** (np.arange(0, dims, 2) / (dims - 2)), 1.0
    original = c["original_max_position_embeddings"]
    return np.array(kind["long_factor" if length > original else "short_factor"]), math.sqrt(1 + math.log(context / original) / math.log(original))


def rotate(x, base, factors, magnitude):
    """x [T, H, D], row t at position t."""
    half = x.shape[2] // 2
    t = np.arange(x.shape[0])[:, None] * base ** (-np.arange(half) / half) / factors
    c, s = magnitude * np.cos(t)[:, None], magnitude * np.sin(t)[:, None]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * c - b * s, b * c + a * s], -1)


def attend(q, k, v):
    """q [T, H, D], k and v [T, Hkv, D] -> [T, H * D], each row sees itself and what is before it."""
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = np.einsum("thd,shd->hts", q, k) * q.shape[2] ** -0.5
    hidden = np.arange(k.shape[0])[None] > np.arange(q.shape[0])[:, None]
    scores = np.where(hidden, -np.inf, scores)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hts,shd->thd", p / p.sum(-1, keepdims=True), v).reshape(q.shape[0], -1)


def attention(w, p, x, c):
    d, e = c["head_dim"], c["hidden_size"]
    counts = {"q": c["num_attention_heads"], "k": c["num_key_value_heads"], "v": c["num_key_value_heads"]}
    q, k, v = ((x @ w(f"{p}{name}_proj.weight", n * d, e).T).reshape(len(x), n, d) for name, n in counts.items())
    q, k = (rotate(each, c["rope_theta"], *scaling(c, d, len(x))) for each in (q, k))
    rows = attend(q, k, v)
    return rows @ w(p + "o_proj.weight", e, rows.shape[1]).T


def feed_forward(w, p, x, c):
    f, e = c["intermediate_size"], c["hidden_size"]
    gate, up = (x @ w(f"{p}{name}_proj.weight", f, e).T for name in ("gate", "up"))
    return (gate / (1 + np.exp(-gate)) * up) @ w(p + "down_proj.weight", e, f).T


def forward(w, c, ids):
    e = c["hidden_size"]
    x = w("model.embed_tokens.weight", c["vocab_size"], e)[ids]
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        x = x + attention(w, p + "self_attn.", norm(w, p + "input_layernorm", x, c), c)
        x = x + feed_forward(w, p + "mlp.", norm(w, p + "post_attention_layernorm", x, c), c)
    return norm(w, "model.norm", x, c) @ w("lm_head.weight", c["vocab_size"], e).T


def config(vocabulary, context, scaling, **own):
    return {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 48, "intermediate_size": 76, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12, "max_position_embeddings": context, "rope_theta": 10000.0,
            "vocab_size": vocabulary, "tie_word_embeddings": False, "hidden_act": "silu", "attention_bias": False, "mlp_bias": False,
            "rms_norm_eps": 1e-5, "rope_scaling": scaling, **own}


MODELS = {
    # Prompts beyond the trained length; the texts written end before it, as each of their keys would be turned by another base.
    "llama_rope_dynamic": config(193, 32, {"rope_type": "dynamic", "factor": 2.0}),
    # The texts written pass the length at which all keys are turned by other factors.
    "llama_rope_longrope": config(197, 64, {"rope_type": "longrope", "short_factor": [1.0, 1.05, 1.1, 1.2, 1.35, 1.5],
                                            "long_factor": [1.0, 1.3, 1.9, 2.8, 3.6, 4.0]}, original_max_position_embeddings=16),
}
TEXT = {"llama_rope_dynamic": 44}  # tokens of `plain`
PADDED = {"llama_rope_dynamic": (31, 32, 33, 44), "llama_rope_longrope": (15, 16, 17, 40)}  # lengths of `padded`


def left_padded(rows):
    """Rows of different lengths, padded at the left: [B, T] with their mask."""
    width = max(map(len, rows))
    return (np.stack([np.pad(row, (width - len(row), 0)) for row in rows]),
            np.stack([np.pad(np.ones_like(row), (width - len(row), 0)) for row in rows]))


def write(folder, name, seed):
    c, w = MODELS[name], Weights(seed)
    random = np.random.Generator(np.random.PCG64(seed + 1000))
    ids = random.integers(3, c["vocab_size"], (2, TEXT.get(name, 21)))
    prompts = random.integers(3, c["vocab_size"], (2, 11))
    io = {"plain.input_ids": ids, "plain.attention_mask": np.ones_like(ids), "gen.prompt_ids": prompts,
          "gen.attention_mask": np.ones_like(prompts), "plain.logits": np.stack([forward(w, c, row) for row in ids]).astype(np.float32)}
    new, logits, margin = [], [], math.inf
    for prompt in prompts:
        row, steps = list(prompt), []
        for _ in range(NEW):
            steps.append(forward(w, c, np.array(row))[-1])
            best = np.sort(steps[-1])
            margin = min(margin, best[-1] - best[-2])
            row.append(int(steps[-1].argmax()))
        new.append(row[len(prompt):])
        logits.append(steps)
    assert margin > 1e-3, (name, margin, "choose another seed: two tokens are too near one another")
    if name in PADDED:
        rows = [random.integers(3, c["vocab_size"], length) for length in PADDED[name]]
        io["padded.input_ids"], mask = left_padded(rows)
        found = np.zeros((*mask.shape, c["vocab_size"]))
        for b, row in enumerate(rows):
            found[b, mask.shape[1] - len(row):] = forward(w, c, row)
        io.update({"padded.attention_mask": mask, "padded.position_ids": np.maximum(mask.cumsum(1) - 1, 0), "padded.logits": found.astype(np.float32)})
    io.update({"gen.new_ids": np.array(new), "gen.step_logits": np.array(logits).astype(np.float32)})
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, name, "config.json"), "w") as file:
        json.dump(c, file, indent=2, sort_keys=True)
        file.write("\n")
    save_arrays(os.path.join(folder, name, "model.safetensors"), w.made, {"format": "pt"})
    save_arrays(os.path.join(folder, name, "io.safetensors"), io, {"case": name, "oracle": "tests/golden/models.py, float64", "f32_err": "{}"})


if __name__ == "__main__":
    for index, name in enumerate(MODELS):
        if not sys.argv[2:] or name in sys.argv[2:]:
            write(sys.argv[1], name, 208 + index)

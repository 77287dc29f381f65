# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes tiny models of families with their logits and greedy tokens, computed here in f64 from the families' definitions.

models.py FOLDER [NAME...]   writes FOLDER/NAME/{config.json, model.safetensors, io.safetensors} (needs NumPy)

An implementation of its own, independent of Tilewright: whole sequences, no cache, no batches. What a family is, say the references in
frontend/families.
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
            last = name.rsplit(".", 2)
            is_norm = "norm" in last[-2]
            std = 0.2 if is_norm or name.endswith("bias") else 0.5 if "embed" in name else 1.3 / math.sqrt(shape[-1])
            mean = 1.0 if is_norm and not name.endswith("bias") and not self.unit else 0.0
            self.made[name] = (mean + std * self.random.standard_normal(shape)).astype(np.float32)
        assert self.made[name].shape == shape, (name, shape)
        return self.made[name].astype(np.float64)

    unit = False


def linear(x, w, b=None):
    y = x @ w.T
    return y if b is None else y + b


def rms_norm(x, w, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w


def layer_norm(x, w, b, eps):
    d = x - x.mean(-1, keepdims=True)
    y = d / np.sqrt((d * d).mean(-1, keepdims=True) + eps) * w
    return y if b is None else y + b


def silu(x):
    return x / (1 + np.exp(-x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def scaling(c, dims, length):
    """What the angles of the dims / 2 pairs are divided by in a text of `length` tokens, and what multiplies cosines and sines."""
    kind, context = c.get("rope_scaling", {"rope_type": "default"}), c["max_position_embeddings"]
    if kind["rope_type"] == "dynamic":
        stretch = kind["factor"] * max(length, context) / context - (kind["factor"] - 1)
        return stretch ** (np.arange(0, dims, 2) / (dims - 2)), 1.0
    if kind["rope_type"] == "longrope":
        original = c["original_max_position_embeddings"]
        return np.array(kind["long_factor" if length > original else "short_factor"]), math.sqrt(1 + math.log(context / original) / math.log(original))
    return np.ones(dims // 2), 1.0


def rotate(x, base, dims, interleaved=False, factors=1.0, magnitude=1.0):
    """x [T, H, D], row t at position t."""
    t = np.arange(x.shape[0])[:, None] * base ** (-np.arange(0, dims, 2) / dims) / factors
    c, s = magnitude * np.cos(t)[:, None], magnitude * np.sin(t)[:, None]
    y = x.copy()
    if interleaved:
        a, b = x[..., 0:dims:2], x[..., 1:dims:2]
        y[..., 0:dims:2], y[..., 1:dims:2] = a * c - b * s, b * c + a * s
    else:
        a, b = x[..., : dims // 2], x[..., dims // 2 : dims]
        y[..., : dims // 2], y[..., dims // 2 : dims] = a * c - b * s, b * c + a * s
    return y


def attend(q, k, v, scale, window=0):
    """q [T, H, D], k and v [T, Hkv, D] -> [T, H * D], each row sees itself and what is before it."""
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = np.einsum("thd,shd->hts", q, k) * scale
    t, s = np.arange(q.shape[0])[:, None], np.arange(k.shape[0])[None]
    hidden = (s > t) | ((s <= t - window) if window else False)
    scores = np.where(hidden, -np.inf, scores)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hts,shd->thd", p / p.sum(-1, keepdims=True), v).reshape(q.shape[0], -1)


def projections(w, p, x, c, bias):
    heads, kv, d = c["num_attention_heads"], c["num_key_value_heads"], c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    parts = []
    for name, count in (("q", heads), ("k", kv), ("v", kv)):
        b = w(p + name + "_proj.bias", count * d) if bias else None
        parts.append(linear(x, w(p + name + "_proj.weight", count * d, c["hidden_size"]), b).reshape(len(x), count, d))
    return parts


def output(w, p, x, c, bias, name="o_proj"):
    return linear(x, w(p + name + ".weight", c["hidden_size"], x.shape[1]), w(p + name + ".bias", c["hidden_size"]) if bias else None)


def gated(w, p, x, c, act, width=None, bias=False):
    width, e = width or c["intermediate_size"], c["hidden_size"]
    b = (lambda n, k: w(p + n + ".bias", k)) if bias else (lambda n, k: None)
    g = linear(x, w(p + "gate_proj.weight", width, e), b("gate_proj", width))
    u = linear(x, w(p + "up_proj.weight", width, e), b("up_proj", width))
    return linear(act(g) * u, w(p + "down_proj.weight", e, width), b("down_proj", e))


def plain(w, p, x, c, act, up, down, bias):
    f, e = c["intermediate_size"], c["hidden_size"]
    h = linear(x, w(p + up + ".weight", f, e), w(p + up + ".bias", f) if bias else None)
    return linear(act(h), w(p + down + ".weight", e, f), w(p + down + ".bias", e) if bias else None)


def llama_like(attention, feed_forward, norm, embed=lambda x, c: x, residual=lambda x, c: x, head=lambda y, c: y):
    """A model of Llama's names whose blocks are these."""

    def forward(w, c, ids):
        e = c["hidden_size"]
        table = w("model.embed_tokens.weight", c["vocab_size"], e)
        x = embed(table[ids], c)
        for i in range(c["num_hidden_layers"]):
            p = f"model.layers.{i}."
            x = x + residual(attention(w, p + "self_attn.", norm(w, p + "input_layernorm", x, c), c, i), c)
            x = x + residual(feed_forward(w, p + "mlp.", norm(w, p + "post_attention_layernorm", x, c), c, i), c)
        x = norm(w, "model.norm", x, c)
        return head(linear(x, table if c["tie_word_embeddings"] else w("lm_head.weight", c["vocab_size"], e)), c)

    return forward


def rms(w, name, x, c):
    return rms_norm(x, w(name + ".weight", x.shape[1]), c["rms_norm_eps"])


def rotary_attention(bias=False, output_bias=False, scale=None, window=lambda c, i: 0, turned=lambda c, i: True):
    def attention(w, p, x, c, i):
        q, k, v = projections(w, p, x, c, bias)
        if turned(c, i):
            q, k = (rotate(a, c["rope_theta"], q.shape[2], False, *scaling(c, q.shape[2], len(x))) for a in (q, k))
        return output(w, p, attend(q, k, v, scale(c) if scale else q.shape[2] ** -0.5, window(c, i)), c, output_bias)

    return attention


granite = llama_like(
    rotary_attention(scale=lambda c: c["attention_multiplier"]),
    lambda w, p, x, c, i: gated(w, p, x, c, silu, bias=True), rms, embed=lambda x, c: x * c["embedding_multiplier"],
    residual=lambda x, c: x * c["residual_multiplier"], head=lambda y, c: y / c["logits_scaling"])


def unit_rms(w, name, x, c):
    return rms_norm(x, 1 + w(name + ".weight", x.shape[1]), c["rms_norm_eps"])


llama = llama_like(rotary_attention(), lambda w, p, x, c, i: gated(w, p, x, c, silu), rms)

gemma = llama_like(rotary_attention(), lambda w, p, x, c, i: gated(w, p, x, c, gelu_tanh), unit_rms,
                   embed=lambda x, c: x * math.sqrt(c["hidden_size"]))

smollm3 = llama_like(rotary_attention(turned=lambda c, i: c["no_rope_layers"][i] == 1),
                     lambda w, p, x, c, i: gated(w, p, x, c, silu), rms)


def experts(w, p, x, c, i):
    if i in c["mlp_only_layers"]:
        return gated(w, p, x, c, silu)
    e = c["hidden_size"]
    logits = linear(x, w(p + "gate.weight", c["num_experts"], e))
    share = np.exp(logits - logits.max(-1, keepdims=True))
    share /= share.sum(-1, keepdims=True)
    y = np.zeros_like(x)
    for t in range(len(x)):
        for k in np.argsort(-share[t], kind="stable")[: c["num_experts_per_tok"]]:
            y[t] += share[t, k] * gated(w, f"{p}experts.{k}.", x[t : t + 1], c, silu, c["moe_intermediate_size"])[0]
    for k in range(c["num_experts"]):  # those that no token chose are in the file too
        gated(w, f"{p}experts.{k}.", x[:1], c, silu, c["moe_intermediate_size"])
    shared = gated(w, p + "shared_expert.", x, c, silu, c["shared_expert_intermediate_size"])
    return y + shared / (1 + np.exp(-linear(x, w(p + "shared_expert_gate.weight", 1, e))))


qwen2_moe = llama_like(rotary_attention(bias=True), experts, rms)


def layer(bias):
    def norm(w, name, x, c):
        return layer_norm(x, w(name + ".weight", x.shape[1]), w(name + ".bias", x.shape[1]) if bias else None,
                          c.get("layer_norm_eps", c.get("norm_epsilon")))

    return norm


starcoder2 = llama_like(rotary_attention(bias=True, output_bias=True, window=lambda c, i: c["sliding_window"]),
                        lambda w, p, x, c, i: plain(w, p, x, c, gelu_tanh, "c_fc", "c_proj", True), layer(True))


def side_by_side(norm_bias, attention, feed_forward, final="model.norm", head_bias=False, scale=lambda c: 1.0):
    """One norm for attention and feed-forward, both added to the residual."""

    def forward(w, c, ids):
        e, norm = c["hidden_size"], layer(norm_bias)
        table = w("model.embed_tokens.weight", c["vocab_size"], e)
        x = table[ids]
        for i in range(c["num_hidden_layers"]):
            p = f"model.layers.{i}."
            a = norm(w, p + "input_layernorm", x, c)
            x = x + attention(w, p + "self_attn.", a, c) + feed_forward(w, p + "mlp.", a, c)
        x = norm(w, final, x, c)
        y = linear(x, table if c["tie_word_embeddings"] else w("lm_head.weight", c["vocab_size"], e),
                   w("lm_head.bias", c["vocab_size"]) if head_bias else None)
        return y * scale(c)

    return forward


def partial_attention(bias, output_bias, name="o_proj", interleaved=False):
    def attention(w, p, x, c):
        q, k, v = projections(w, p, x, c, bias)
        dims = int(q.shape[2] * c.get("partial_rotary_factor", 1.0))
        q, k = (rotate(a, c["rope_theta"], dims, interleaved) for a in (q, k))
        return output(w, p, attend(q, k, v, q.shape[2] ** -0.5), c, output_bias, name)

    return attention


phi = side_by_side(True, partial_attention(True, True, "dense"), lambda w, p, x, c: plain(w, p, x, c, gelu_tanh, "fc1", "fc2", True),
                   "model.final_layernorm", head_bias=True)
cohere = side_by_side(False, partial_attention(False, False, interleaved=True), lambda w, p, x, c: gated(w, p, x, c, silu),
                      scale=lambda c: c["logit_scale"])
stablelm = side_by_side(True, partial_attention(True, False), lambda w, p, x, c: gated(w, p, x, c, silu))

SIZES = {"hidden_size": 48, "intermediate_size": 76, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "max_position_embeddings": 128, "rope_theta": 10000.0}


def config(model_type, name, without=(), **own):
    made = {"model_type": model_type, "architectures": [name], **SIZES, **own}
    return {key: value for key, value in made.items() if key not in without}


RMS = {"rms_norm_eps": 1e-5}
MODELS = {
    "granite": (granite, config("granite", "GraniteForCausalLM", vocab_size=151, tie_word_embeddings=False, hidden_act="silu", mlp_bias=True,
                                attention_bias=False, embedding_multiplier=3.0, residual_multiplier=0.5, attention_multiplier=0.25,
                                logits_scaling=2.0, **RMS)),
    "gemma": (gemma, config("gemma", "GemmaForCausalLM", vocab_size=157, tie_word_embeddings=True, head_dim=20, hidden_act="gelu",
                            hidden_activation=None, attention_bias=False, **RMS)),
    "smollm3": (smollm3, config("smollm3", "SmolLM3ForCausalLM", vocab_size=163, tie_word_embeddings=True, hidden_act="silu",
                                no_rope_layers=[1, 0, 1], num_hidden_layers=3, use_sliding_window=False, attention_bias=False,
                                mlp_bias=False, **RMS)),
    "qwen2_moe": (qwen2_moe, config("qwen2_moe", "Qwen2MoeForCausalLM", vocab_size=167, tie_word_embeddings=False, hidden_act="silu",
                                    num_experts=6, num_experts_per_tok=2, moe_intermediate_size=28, shared_expert_intermediate_size=36,
                                    norm_topk_prob=False, mlp_only_layers=[0], decoder_sparse_step=1, use_sliding_window=False, **RMS)),
    "starcoder2": (starcoder2, config("starcoder2", "Starcoder2ForCausalLM", vocab_size=173, tie_word_embeddings=True,
                                      hidden_act="gelu_pytorch_tanh", norm_epsilon=1e-5, use_bias=True, sliding_window=8)),
    "stablelm": (stablelm, config("stablelm", "StableLmForCausalLM", vocab_size=179, tie_word_embeddings=False, hidden_act="silu",
                                  layer_norm_eps=1e-5, use_qkv_bias=True, use_parallel_residual=True, partial_rotary_factor=0.5,
                                  qk_layernorm=False)),
    "phi": (phi, config("phi", "PhiForCausalLM", vocab_size=181, tie_word_embeddings=False, hidden_act="gelu_new", layer_norm_eps=1e-5,
                        partial_rotary_factor=0.5, qk_layernorm=False)),
    "cohere": (cohere, config("cohere", "CohereForCausalLM", vocab_size=191, tie_word_embeddings=True, hidden_act="silu", layer_norm_eps=1e-5,
                              attention_bias=False, use_qk_norm=False, logit_scale=0.25)),
    # Prompts beyond the trained length; the texts written end before it, as each of their keys would be turned by another base.
    "llama_rope_dynamic": (llama, config("llama", "LlamaForCausalLM", vocab_size=193, tie_word_embeddings=False, hidden_act="silu",
                                         attention_bias=False, mlp_bias=False, max_position_embeddings=32, head_dim=12,
                                         rope_scaling={"rope_type": "dynamic", "factor": 2.0}, **RMS)),
    # The texts written pass the length at which all keys are turned by other factors.
    "llama_rope_longrope": (llama, config("llama", "LlamaForCausalLM", vocab_size=197, tie_word_embeddings=False, hidden_act="silu",
                                          attention_bias=False, mlp_bias=False, max_position_embeddings=64, head_dim=12,
                                          original_max_position_embeddings=16,
                                          rope_scaling={"rope_type": "longrope", "short_factor": [1.0, 1.05, 1.1, 1.2, 1.35, 1.5],
                                                        "long_factor": [1.0, 1.3, 1.9, 2.8, 3.6, 4.0]}, **RMS)),
    "smollm3_every_fourth": (smollm3, config("smollm3", "SmolLM3ForCausalLM", vocab_size=97, tie_word_embeddings=True, hidden_act="silu",
                                             no_rope_layers=[1, 1, 1, 0], num_hidden_layers=4, use_sliding_window=False,
                                             attention_bias=False, mlp_bias=False, **RMS)),
}
TEXT = {"llama_rope_dynamic": 44}  # tokens of `plain`
PADDED = {"llama_rope_dynamic": (31, 32, 33, 44), "llama_rope_longrope": (15, 16, 17, 40)}  # lengths of `padded`


def left_padded(rows):
    """Rows of different lengths, padded at the left: [B, T] with their mask."""
    width = max(map(len, rows))
    return (np.stack([np.pad(row, (width - len(row), 0)) for row in rows]),
            np.stack([np.pad(np.ones_like(row), (width - len(row), 0)) for row in rows]))


def write(folder, name, seed):
    forward, c = MODELS[name]
    w = Weights(seed)
    w.unit = name == "gemma"
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
            write(sys.argv[1], name, 200 + index)

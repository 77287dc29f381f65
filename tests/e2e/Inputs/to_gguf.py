# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a golden model of config.json and safetensors as a GGUF file, by the names, keys and changes of values that llama.cpp's converter has.

to_gguf.py GOLDEN MODEL_FOLDER OUT_FOLDER [OPTION...]    writes OUT_FOLDER/model.gguf and copies io.safetensors beside it

  whole-kv-b   deepseek2: attn_kv_b as older files have it, in place of attn_k_b and attn_v_b
  fused-qkv    phi2: one tensor of queries, keys and values, as older files have it
  q8_0         matrices whose rows are whole blocks become Q8_0, and OUT_FOLDER/plain/model.gguf has the same values as floats
  set:KEY=N    a further entry, or another value: an integer, a float (with a point), true, false, or a string
  without:KEY  no such entry

Of what GGUF has no word for in a family, keys of other families stand in: attention.scale, attention.sliding_window (with its pattern) and
swiglu_clamp_exp. Facts: https://github.com/ggml-org/llama.cpp, gguf-py/gguf/{constants,tensor_mapping}.py and convert_hf_to_gguf.py. Knows
nothing of frontend/families.
"""
import array
import json
import math
import os
import shutil
import struct
import sys

from gguf_file import ARRAY, BOOL, F32, FLOAT, Q8_0, STRING, U32, Tensor, entry, string, write

golden, folder, out, *options = sys.argv[1:]
for option in options:
    if option not in ("whole-kv-b", "fused-qkv", "q8_0") and not option.startswith(("set:", "without:")):
        sys.exit(f"to_gguf.py: unknown option '{option}'")
sys.path.insert(0, golden)
from fill import Case  # noqa: E402

config = json.load(open(os.path.join(folder, "config.json")))
model = config["model_type"]
case = Case(os.path.join(folder, "model.safetensors"))

ARCHITECTURES = {"mistral": "llama", "mixtral": "llama", "gemma3_text": "gemma3", "gpt_neox": "gptneox", "gpt_oss": "gpt-oss", "phi": "phi2",
                 "qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe", "deepseek_v3": "deepseek2", "cohere": "command-r"}
arch = ARCHITECTURES.get(model, model)
LLAMAS = ("llama", "granite", "smollm3")  # whose queries and keys have their pairs side by side


def first(*names, default=None):
    return next((config[name] for name in names if config.get(name) is not None), default)


class Matrix:
    """Floats of a shape, in rows."""

    def __init__(self, shape, raw):
        self.shape, self.raw = list(shape), bytes(raw)

    @property
    def width(self):
        return 4 * (self.shape[-1] if len(self.shape) > 1 else 1)

    def rows(self, order):
        """Rows of the first dimension in this order."""
        width = len(self.raw) // self.shape[0]
        return Matrix([len(order), *self.shape[1:]], b"".join(self.raw[i * width : (i + 1) * width] for i in order))

    def part(self, i):
        """One of the first dimension."""
        size = len(self.raw) // self.shape[0]
        return Matrix(self.shape[1:], self.raw[i * size : (i + 1) * size])

    def transposed(self):
        if len(self.shape) == 3:
            return stack([self.part(i).transposed() for i in range(self.shape[0])])
        rows, columns = self.shape
        values = array.array("f", self.raw)
        return Matrix([columns, rows], b"".join(values[i::columns].tobytes() for i in range(columns)))

    def plus(self, number):
        return Matrix(self.shape, array.array("f", [x + number for x in array.array("f", self.raw)]).tobytes())

    def scaled(self, factor, rows):
        values, width = array.array("f", self.raw), self.shape[1]
        for row in rows:
            values[row * width : (row + 1) * width] = array.array("f", [factor * x for x in values[row * width : (row + 1) * width]])
        return Matrix(self.shape, values.tobytes())


def stack(parts):
    return Matrix([len(parts), *parts[0].shape], b"".join(part.raw for part in parts))


def joined(parts):
    return Matrix([sum(part.shape[0] for part in parts), *parts[0].shape[1:]], b"".join(part.raw for part in parts))


# --- metadata ---

layers, width = first("num_hidden_layers", "n_layer"), first("hidden_size", "n_embd")
heads = first("num_attention_heads", "n_head")
kv_heads, head = first("num_key_value_heads", default=heads), first("head_dim", default=width // heads)
rope = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
sliding = rope.get("sliding_attention", {})
rope = rope.get("full_attention", rope)
theta = rope.get("rope_theta", config.get("rope_theta"))
rotary = first("partial_rotary_factor", default=rope.get("partial_rotary_factor", 1.0))
entries = {"general.architecture": arch, "general.name": os.path.basename(folder), "tokenizer.ggml.model": "gpt2",
           "tokenizer.ggml.tokens": [chr(33 + i) if i < 94 else f"token{i}" for i in range(config["vocab_size"])]}


def put(key, value):
    if value is not None:
        entries[f"{arch}.{key}"] = value


put("block_count", layers)
put("context_length", first("max_position_embeddings", "n_positions"))
put("embedding_length", width)
put("feed_forward_length", first("intermediate_size", "n_inner"))
put("attention.head_count", heads)
if model not in ("gpt2", "gpt_neox"):
    put("attention.head_count_kv", kv_heads)
    put("rope.freq_base", float(theta))
if config.get("head_dim") is not None and model != "deepseek_v3":
    put("attention.key_length", head)
    put("attention.value_length", head)
rms, norm = first("rms_norm_eps"), first("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon")
put("attention.layer_norm_rms_epsilon", rms)
put("attention.layer_norm_epsilon", norm)
if arch in LLAMAS:
    put("vocab_size", config["vocab_size"])
    put("rope.dimension_count", head)
if model in ("gpt_neox", "stablelm", "phi", "phi3"):
    put("rope.dimension_count", int(rotary * head))
if model in ("gpt_neox", "stablelm"):
    put("use_parallel_residual", config["use_parallel_residual"])
kind = rope.get("rope_type", "default")
if kind in ("linear", "yarn"):
    put("rope.scaling.type", kind)
    put("rope.scaling.factor", float(rope["factor"]))
if kind == "yarn":
    put("rope.scaling.original_context_length", rope["original_max_position_embeddings"])
    put("rope.scaling.yarn_beta_fast", float(rope["beta_fast"]))
    put("rope.scaling.yarn_beta_slow", float(rope["beta_slow"]))
put("rope.freq_base_swa", sliding.get("rope_theta"))
put("expert_count", first("num_local_experts", "num_experts"))
put("expert_used_count", first("num_experts_per_tok"))
put("expert_group_count", config.get("n_group"))
put("expert_group_used_count", config.get("topk_group"))
put("attn_logit_softcapping", config.get("attn_logit_softcapping"))
put("final_logit_softcapping", config.get("final_logit_softcapping"))
if config.get("use_sliding_window", True):
    put("attention.sliding_window", config.get("sliding_window"))
if config.get("layer_types") and model == "gemma3_text":  # not its own: every sixth layer sees all keys
    put("attention.sliding_window_pattern", [t == "sliding_attention" for t in config["layer_types"]])
if model in ("gemma2", "gemma3_text"):
    put("attention.scale", 1 / math.sqrt(config["query_pre_attn_scalar"]))
if model == "phi3":
    trained, whole = first("original_max_position_embeddings"), config["max_position_embeddings"]
    put("rope.scaling.original_context_length", trained)
    if rope.get("long_factor"):
        put("rope.scaling.attn_factor", math.sqrt(1 + math.log(whole / trained) / math.log(trained)) if whole > trained else 1.0)
if model == "cohere":
    put("logit_scale", config["logit_scale"])
    put("rope.scaling.type", "none")
if model == "granite":
    put("attention.scale", config["attention_multiplier"])
    put("embedding_scale", config["embedding_multiplier"])
    put("residual_scale", config["residual_multiplier"])
    put("logit_scale", config["logits_scaling"])
if model in ("qwen2_moe", "qwen3_moe", "deepseek_v3"):
    put("expert_feed_forward_length", config["moe_intermediate_size"])
put("expert_shared_feed_forward_length", config.get("shared_expert_intermediate_size"))
if model == "gpt_oss":
    put("expert_feed_forward_length", config["intermediate_size"])
    put("swiglu_clamp_exp", [float(config["swiglu_limit"])] * layers)
if model == "deepseek_v3":
    rank, nope, turned, values = (config[k] for k in ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
    put("vocab_size", config["vocab_size"])
    put("leading_dense_block_count", config["first_k_dense_replace"])
    put("attention.q_lora_rank", config["q_lora_rank"])
    put("attention.kv_lora_rank", rank)
    put("expert_count", config["n_routed_experts"])
    put("expert_shared_count", config["n_shared_experts"])
    put("expert_weights_scale", config["routed_scaling_factor"])
    put("expert_weights_norm", config["norm_topk_prob"])
    put("expert_gating_func", 2)  # sigmoid
    put("rope.dimension_count", turned)
    if "whole-kv-b" in options:
        put("attention.key_length", nope + turned)
        put("attention.value_length", values)
    else:  # one K/V head: the latents
        put("attention.head_count_kv", 1)
        put("attention.key_length", rank + turned)
        put("attention.value_length", rank)
        put("attention.key_length_mla", nope + turned)
        put("attention.value_length_mla", values)
    magnitude = 1
    if "mscale_all_dim" in rope:
        put("rope.scaling.yarn_log_multiplier", 0.1 * rope["mscale_all_dim"])
        # mscale is not stored and taken to be equal. What another does is put into the rows that are turned.
        grown = 0.1 * math.log(rope["factor"])
        magnitude = (grown * rope["mscale"] + 1) / (grown * rope["mscale_all_dim"] + 1)
    queries = [h * (nope + turned) + nope + i for h in range(heads) for i in range(turned)]
    TURNED = {"self_attn.q_proj": queries, "self_attn.q_b_proj": queries, "self_attn.kv_a_proj_with_mqa": range(rank, rank + turned)}

for option in options:
    name, _, rest = option.partition(":")
    if name == "without":
        del entries[rest]
    elif name == "set":
        key, _, text = rest.partition("=")
        try:
            entries[key] = json.loads(text)
        except ValueError:
            entries[key] = text

# --- tensors ---

NAMES = {  # of a tensor, and of a layer's
    "model.embed_tokens": "token_embd", "gpt_neox.embed_in": "token_embd", "transformer.wte": "token_embd", "transformer.wpe": "position_embd",
    "model.norm": "output_norm", "model.final_layernorm": "output_norm", "gpt_neox.final_layer_norm": "output_norm",
    "transformer.ln_f": "output_norm", "lm_head": "output", "embed_out": "output",
    "input_layernorm": "attn_norm", "ln_1": "attn_norm", "post_attention_layernorm": "ffn_norm", "ln_2": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "self_attn.dense": "attn_output", "self_attn.qkv_proj": "attn_qkv",
    "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "attention.query_key_value": "attn_qkv", "attention.dense": "attn_output",
    "self_attn.sinks": "attn_sinks",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up",
    "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down", "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down",
    "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down",
    "block_sparse_moe.gate": "ffn_gate_inp", "mlp.gate": "ffn_gate_inp", "mlp.router": "ffn_gate_inp",
    "block_sparse_moe.experts.*.w1": "ffn_gate_exps", "block_sparse_moe.experts.*.w3": "ffn_up_exps",
    "block_sparse_moe.experts.*.w2": "ffn_down_exps", "mlp.experts.*.gate_proj": "ffn_gate_exps", "mlp.experts.*.up_proj": "ffn_up_exps",
    "mlp.experts.*.down_proj": "ffn_down_exps", "mlp.experts.down_proj": "ffn_down_exps",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp", "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.shared_expert.down_proj": "ffn_down_shexp", "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "mlp.shared_experts.gate_proj": "ffn_gate_shexp", "mlp.shared_experts.up_proj": "ffn_up_shexp",
    "mlp.shared_experts.down_proj": "ffn_down_shexp",
    "self_attn.q_a_proj": "attn_q_a", "self_attn.q_a_layernorm": "attn_q_a_norm", "self_attn.q_b_proj": "attn_q_b",
    "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa", "self_attn.kv_a_layernorm": "attn_kv_a_norm", "self_attn.kv_b_proj": "attn_kv_b",
}
SANDWICH = {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
            "post_feedforward_layernorm": "post_ffw_norm"}
if model in ("gemma2", "gemma3_text", "olmo2"):
    NAMES |= SANDWICH
if model == "gpt_oss":
    NAMES["post_attention_layernorm"] = "post_attention_norm"

tensors = {}


def pairs_together(matrix, count):
    """Rows of `count` heads: number i of the first half, then number i of the second."""
    size = matrix.shape[0] // count
    return matrix.rows([h * size + half * (size // 2) + i for h in range(count) for i in range(size // 2) for half in (0, 1)])


def add(layer, name, ending, matrix):
    """A tensor by the name of the checkpoint, without its layer."""
    place = "" if layer is None else f"blk.{layer}."
    inner = NAMES.get(name)
    if name == "mlp.gate.e_score_correction_bias":
        inner, ending = "exp_probs_b", "bias"
    if arch in LLAMAS and name in ("self_attn.q_proj", "self_attn.k_proj"):
        matrix = pairs_together(matrix, heads if name.endswith("q_proj") else kv_heads)
    if model in ("gemma", "gemma2", "gemma3_text") and inner.endswith("norm"):
        matrix = matrix.plus(1)
    if model == "gpt2" and ending == "weight" and name in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"):
        matrix = matrix.transposed()
    if model == "deepseek_v3" and name in TURNED:
        matrix = matrix.scaled(magnitude, TURNED[name])
    if name == "attention.query_key_value":  # each head's three, to all heads' three
        matrix = matrix.rows([(h * 3 + part) * head + i for part in range(3) for h in range(heads) for i in range(head)])
    if inner == "attn_kv_b" and "whole-kv-b" not in options:
        keys = [matrix.rows(range(h * (nope + values), h * (nope + values) + nope)).transposed() for h in range(heads)]
        tensors[place + "attn_k_b.weight"] = stack(keys)
        rest = [matrix.rows(range(h * (nope + values) + nope, (h + 1) * (nope + values))) for h in range(heads)]
        tensors[place + "attn_v_b.weight"] = stack(rest)
        return
    tensors[f"{place}{inner}.{ending}"] = matrix


def add_fused_experts(layer, name, matrix):
    """gpt-oss: gates and ups in turn; weights as [in, out]."""
    is_bias = name.endswith("_bias")
    ending, name = ("bias", name.removesuffix("_bias")) if is_bias else ("weight", name)
    matrix = matrix if is_bias else matrix.transposed()  # [X, out, in]
    if name == "mlp.experts.down_proj":
        return add(layer, name, ending, matrix)
    for inner, parity in (("ffn_gate_exps", 0), ("ffn_up_exps", 1)):
        parts = [matrix.part(x) for x in range(matrix.shape[0])]
        tensors[f"blk.{layer}.{inner}.{ending}"] = stack([part.rows(range(parity, part.shape[0], 2)) for part in parts])


expert_parts = {}
for name, info in case.entries.items():
    if info["dtype"] != "F32":
        sys.exit(f"{name}: found {info['dtype']}, wanted F32")
    matrix = Matrix(info["shape"], case.raw(name))
    words = name.split(".")
    number = next((i for i, word in enumerate(words) if word.isdigit()), None)
    if number is None:
        inner, ending = name.rsplit(".", 1)
        add(None, inner, ending, matrix)
        continue
    layer, rest = int(words[number]), ".".join(words[number + 1 :])
    if rest.startswith("mlp.experts.") and words[-1] not in ("weight", "bias"):
        add_fused_experts(layer, rest, matrix)
    elif rest.endswith("self_attn.sinks") or rest.endswith("e_score_correction_bias"):
        add(layer, rest, "weight", matrix)
    elif ".experts." in rest:
        before, expert, part, ending = rest.rsplit(".", 3)
        expert_parts.setdefault((layer, f"{before}.*.{part}"), {})[int(expert)] = matrix
    else:
        inner, ending = rest.rsplit(".", 1)
        add(layer, inner, ending, matrix)
for (layer, name), parts in expert_parts.items():
    add(layer, name, "weight", stack([parts[x] for x in range(len(parts))]))

if kind == "llama3":
    old, low, high = rope["original_max_position_embeddings"], rope["low_freq_factor"], rope["high_freq_factor"]
    factors = []
    for i in range(head // 2):
        turns = old * theta ** (-2 * i / head) / (2 * math.pi)  # in the old context
        smooth = (turns - low) / (high - low)
        factors.append(1 if turns > high else rope["factor"] if turns < low else 1 / ((1 - smooth) / rope["factor"] + smooth))
    tensors["rope_freqs.weight"] = Matrix([head // 2], array.array("f", factors).tobytes())
for length in ("long", "short"):
    if factors := rope.get(f"{length}_factor"):
        tensors[f"rope_factors_{length}.weight"] = Matrix([len(factors)], array.array("f", factors).tobytes())
if "fused-qkv" in options:
    for layer in range(layers):
        for ending in ("weight", "bias"):
            parts = [tensors.pop(f"blk.{layer}.attn_{x}.{ending}") for x in "qkv"]
            tensors[f"blk.{layer}.attn_qkv.{ending}"] = joined(parts)


# --- the file ---

def encode(key, value):
    if isinstance(value, bool):
        return entry(key, BOOL, struct.pack("<?", value))
    if isinstance(value, str):
        return entry(key, STRING, string(value))
    if isinstance(value, list):
        element = encode("", value[0]).kind
        return entry(key, ARRAY, struct.pack("<IQ", element, len(value)) + b"".join(encode("", each).value for each in value))
    return entry(key, U32, struct.pack("<I", value)) if isinstance(value, int) else entry(key, FLOAT, struct.pack("<f", value))


def quantized(matrix):
    """Its blocks and the values that they stand for; a block is an f16 scale and 32 bytes."""
    values, blocks, decoded = array.array("f", matrix.raw), b"", array.array("f")
    for i in range(0, len(values), 32):
        block = values[i : i + 32]
        scale = struct.unpack("<e", struct.pack("<e", max(map(abs, block)) / 127))[0]
        numbers = [max(-127, min(127, round(x / scale))) if scale else 0 for x in block]
        blocks += struct.pack("<e32b", scale, *numbers)
        decoded.extend(scale * x for x in numbers)
    return blocks, decoded.tobytes()


def save(path, listed):
    os.makedirs(path, exist_ok=True)
    write(os.path.join(path, "model.gguf"), [encode(key, value) for key, value in entries.items()], listed)
    shutil.copy(os.path.join(folder, "io.safetensors"), path)


plain, packed = [], []
for name, matrix in tensors.items():
    kind, raw = F32, matrix.raw
    if "q8_0" in options and len(matrix.shape) > 1 and matrix.shape[-1] % 32 == 0:
        kind, (raw, decoded) = Q8_0, quantized(matrix)
        matrix = Matrix(matrix.shape, decoded)
    packed.append(Tensor(name, matrix.shape[::-1], kind, raw))
    plain.append(Tensor(name, matrix.shape[::-1], F32, matrix.raw))
save(out, packed)
if "q8_0" in options:
    save(os.path.join(out, "plain"), plain)

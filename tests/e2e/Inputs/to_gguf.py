# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a golden model of config.json and safetensors as a GGUF file, by the names and keys that GGUF has for its family.

to_gguf.py GOLDEN MODEL_FOLDER OUT_FOLDER    writes OUT_FOLDER/model.gguf and copies io.safetensors beside it
"""
import json
import os
import shutil
import struct
import sys

from gguf_file import ARRAY, F32, FLOAT, STRING, U32, Tensor, entry, string, write

golden, folder, out = sys.argv[1:]
sys.path.insert(0, golden)
from fill import Case  # noqa: E402

config = json.load(open(os.path.join(folder, "config.json")))
arch = config["model_type"]

NAMES = {
    "model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}


def name_of(name):
    if name in NAMES:
        return NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    inner, kind = rest.rsplit(".", 1)
    return f"blk.{layer}.{NAMES[inner]}.{kind}"


heads = config["num_attention_heads"]
entries = [
    entry("general.architecture", STRING, string(arch)),
    entry("tokenizer.ggml.model", STRING, string("gpt2")),
    entry("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQ", STRING, config["vocab_size"]) +
          b"".join(string(f"t{i}") for i in range(config["vocab_size"]))),
    entry(f"{arch}.attention.layer_norm_rms_epsilon", FLOAT, struct.pack("<f", config["rms_norm_eps"])),
    entry(f"{arch}.rope.freq_base", FLOAT, struct.pack("<f", config["rope_parameters"]["rope_theta"])),
]
for key, value in {"block_count": config["num_hidden_layers"], "embedding_length": config["hidden_size"],
                   "feed_forward_length": config["intermediate_size"], "attention.head_count": heads,
                   "attention.head_count_kv": config["num_key_value_heads"], "context_length": config["max_position_embeddings"],
                   "attention.key_length": config.get("head_dim") or config["hidden_size"] // heads}.items():
    entries.append(entry(f"{arch}.{key}", U32, struct.pack("<I", value)))

case = Case(os.path.join(folder, "model.safetensors"))
os.makedirs(out, exist_ok=True)
write(os.path.join(out, "model.gguf"), entries,
      [Tensor(name_of(name), info["shape"][::-1], F32, case.raw(name)) for name, info in case.entries.items()])
shutil.copy(os.path.join(folder, "io.safetensors"), out)

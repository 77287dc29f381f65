# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a golden model of config.json and safetensors as a GGUF file, by the names and keys that GGUF has for its family.

to_gguf.py MODEL_FOLDER OUT_FOLDER    writes OUT_FOLDER/model.gguf and copies io.safetensors beside it
"""
import json
import os
import shutil
import struct
import sys

folder, out = sys.argv[1:]
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


def string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def entry(key, kind, value):
    return string(key) + struct.pack("<I", kind) + value


U32, F32, STRING, ARRAY = 4, 6, 8, 9
heads = config["num_attention_heads"]
entries = [
    entry("general.architecture", STRING, string(arch)),
    entry("tokenizer.ggml.model", STRING, string("gpt2")),
    entry("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQ", STRING, config["vocab_size"]) +
          b"".join(string(f"t{i}") for i in range(config["vocab_size"]))),
    entry(f"{arch}.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", config["rms_norm_eps"])),
    entry(f"{arch}.rope.freq_base", F32, struct.pack("<f", config["rope_parameters"]["rope_theta"])),
]
for key, value in {"block_count": config["num_hidden_layers"], "embedding_length": config["hidden_size"],
                   "feed_forward_length": config["intermediate_size"], "attention.head_count": heads,
                   "attention.head_count_kv": config["num_key_value_heads"], "context_length": config["max_position_embeddings"],
                   "attention.key_length": config.get("head_dim") or config["hidden_size"] // heads}.items():
    entries.append(entry(f"{arch}.{key}", U32, struct.pack("<I", value)))

with open(os.path.join(folder, "model.safetensors"), "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(length))
    data = file.read()
infos, payload = [], b""
for name, tensor in header.items():
    if name == "__metadata__":
        continue
    begin, end = tensor["data_offsets"]
    infos.append(string(name_of(name)) + struct.pack("<I", len(tensor["shape"])) +
                 b"".join(struct.pack("<Q", size) for size in reversed(tensor["shape"])) + struct.pack("<IQ", 0, len(payload)))
    payload += data[begin:end] + b"\0" * (-(end - begin) % 32)

head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(entries)) + b"".join(entries) + b"".join(infos)
os.makedirs(out, exist_ok=True)
with open(os.path.join(out, "model.gguf"), "wb") as file:
    file.write(head + b"\0" * (-len(head) % 32) + payload)
shutil.copy(os.path.join(folder, "io.safetensors"), out)

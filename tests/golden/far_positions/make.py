# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes, into this folder, the config of a Llama model with llama3's scaling as published (32 times 8192 positions), a few tokens at
positions up to 20,001, and the logits that Transformers gives for them with the weights of ../models/llama_rope_llama3.

Needs the PyPI packages torch (made with 2.15), transformers (5.23) and safetensors. Transformers forms angles in f32; here they are f64.
"""
import json
import math
import pathlib
import sys

import torch
from safetensors.torch import load_file
from transformers import LlamaConfig, LlamaForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from write import save  # noqa: E402

MODEL = HERE.parent / "models" / "llama_rope_llama3"
SCALING = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 8192}
IDS, POSITIONS = [7, 101, 33, 150, 12, 64, 9, 177], [0, 1, 2, 4095, 8191, 19999, 20000, 20001]


class Rotary(torch.nn.Module):
    def __init__(self, dim, scaled):
        super().__init__()
        self.rates = []
        for i in range(dim // 2):
            rate = SCALING["rope_theta"] ** (-2 * i / dim)
            turns = SCALING["original_max_position_embeddings"] * rate / (2 * math.pi)
            kept = (turns - SCALING["low_freq_factor"]) / (SCALING["high_freq_factor"] - SCALING["low_freq_factor"])
            kept = min(1.0, max(0.0, kept)) if scaled else 1.0
            self.rates.append(rate * (kept + (1 - kept) / SCALING["factor"]))

    def forward(self, x, position_ids):
        angles = position_ids.double()[..., None] * torch.tensor(self.rates, dtype=torch.float64)
        both = torch.cat([angles, angles], -1)
        return both.cos(), both.sin()


config = json.loads((MODEL / "config.json").read_text())
config.update({"max_position_embeddings": 262144, "rope_parameters": SCALING})
(HERE / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
model = LlamaForCausalLM(LlamaConfig(**config, attn_implementation="eager"))
model.load_state_dict(load_file(MODEL / "model.safetensors"))
model.double()


def logits(scaled):
    model.model.rotary_emb = Rotary(config["head_dim"], scaled)
    with torch.no_grad():
        return model(torch.tensor([IDS]), position_ids=torch.tensor([POSITIONS])).logits


found = logits(True)
assert (found - logits(False)).abs().max() > 0.1, "the scaling cannot be seen"
shape = [1, len(IDS)]
save(HERE / "in.safetensors", {"input_ids": ("I64", shape, IDS), "position_ids": ("I64", shape, POSITIONS)})
save(HERE / "out.safetensors", {"logits": ("F32", list(found.shape), found.flatten().tolist())})

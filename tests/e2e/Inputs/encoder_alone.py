# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The encoder of the golden T5 model.

encoder_alone.py GOLDEN make FOLDER      writes it as the class T5EncoderModel saves it, with inputs in in.safetensors
encoder_alone.py GOLDEN compare FOLDER   compares out.safetensors with Transformers' rows, where there is no padding
"""
import json
import os
import sys

golden, action, folder = sys.argv[1:]
sys.path.insert(0, golden)
from fill import Case  # noqa: E402
from write import save  # noqa: E402

model = os.path.join(golden, "models", "t5")
stored = Case(os.path.join(model, "io.safetensors"))


def tensors(case, kind, names):
    return {name: (kind, case.entries[stored_name]["shape"], list(case.values(stored_name))) for name, stored_name in names.items()}


if action == "make":
    os.makedirs(folder)
    weights = Case(os.path.join(model, "model.safetensors"))
    kept = {name: name for name in weights.entries if name.startswith(("encoder.", "shared."))}
    save(os.path.join(folder, "model.safetensors"), tensors(weights, "F32", kept))
    with open(os.path.join(model, "config.json")) as file:
        config = json.load(file)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({**config, "architectures": ["T5EncoderModel"], "is_encoder_decoder": False}, file)
    inputs = {name: "padded." + name for name in ("input_ids", "attention_mask")}
    save(os.path.join(folder, "in.safetensors"),
         {name: (kind, shape, [int(x) for x in values]) for name, (kind, shape, values) in tensors(stored, "I64", inputs).items()})
else:
    found = list(Case(os.path.join(folder, "out.safetensors")).values("hidden"))
    wanted, mask = list(stored.values("padded.encoder_last_hidden_state")), list(stored.values("padded.attention_mask"))
    width = len(wanted) // len(mask)
    rows = [row for row, shown in enumerate(mask) if shown]
    limit = 1e-4 * max(abs(wanted[row * width + e]) for row in rows for e in range(width))  # of attention, numerics precise
    worst = max(abs(found[row * width + e] - wanted[row * width + e]) for row in rows for e in range(width))
    print(f"{len(rows)} rows of {len(mask)}: {'agree' if worst <= limit else f'error {worst}, limit {limit}'}")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes beams.json: texts that Transformers finds by beam search with the golden T5 model, for several numbers of beams, length
penalties and rules of stopping.

beams.py   writes beside itself (needs PyTorch and Transformers)

The end tokens are likely second choices, so that beams end at different lengths.
"""
import json
import os

import torch
from safetensors.torch import load_file
from transformers import GenerationConfig, T5ForConditionalGeneration

here = os.path.dirname(os.path.abspath(__file__))
folder = os.path.join(here, "models", "t5")
model = T5ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
sources = load_file(os.path.join(folder, "io.safetensors"))["gen.prompt_ids"]
start, pad = model.config.decoder_start_token_id, model.config.pad_token_id
# (beams, length penalty, early_stopping, which source)
searches = [(2, 1.0, False, 0), (3, 2.0, False, 1), (3, 0.5, True, 0), (4, 1.0, "never", 1), (5, 2.0, "never", 0), (5, -1.0, False, 1), (6, 0.0, True, 0)]


def search(beams, penalty, early, source, ends):
    model.generation_config = GenerationConfig(
        num_beams=beams, length_penalty=penalty, early_stopping=early, max_new_tokens=12, do_sample=False, use_cache=False, eos_token_id=ends,
        pad_token_id=pad, decoder_start_token_id=start)
    ids = model.generate(input_ids=sources[source : source + 1])[0].tolist()[1:]
    while ids and ids[-1] == pad and pad not in (ends or []):
        ids.pop()
    return ids


def likely(source, prefix):
    """The next tokens of one source's text, the likeliest first."""
    decoder = torch.tensor([[start, *prefix]])
    with torch.no_grad():
        return model(input_ids=sources[source : source + 1], decoder_input_ids=decoder).logits[0, -1].topk(20).indices.tolist()


first, third = likely(0, []), likely(0, search(3, 1.0, False, 0, None)[:2])
cases = []
for place in ((3, 4), (6, 7), (12, 9)):
    ends = sorted({first[place[0]], third[place[1]]})
    for beams, penalty, early, source in searches:
        cases.append({
            "model": "t5", "end": ends, "source": sources[source].tolist(), "num_beams": beams, "length_penalty": penalty,
            "early_stopping": {False: "off", True: "on"}.get(early, early), "ids": search(beams, penalty, early, source, ends)})
with open(os.path.join(here, "beams.json"), "w") as file:
    file.write("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes beams.json: texts that Transformers finds by beam search with the golden T5 model, for several numbers of beams, length
penalties and rules of stopping, and texts of the golden T5 and Llama models that may not end before a length.

beams.py   writes beside itself (needs PyTorch and Transformers)

The end tokens are likely second choices, so that beams end at different lengths.
"""
import json
import os

import torch
from safetensors.torch import load_file
from transformers import GenerationConfig, LlamaForCausalLM, T5ForConditionalGeneration

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
# Without a least length each of these ends earlier.
llama = LlamaForCausalLM.from_pretrained(os.path.join(here, "models", "llama"), dtype=torch.float32).eval()
prompt = load_file(os.path.join(here, "models", "llama", "io.safetensors"))["gen.prompt_ids"][:1]


def least(model, name, ids, beams, **lengths):
    """The text that would have ended early with one of its tokens, but for `lengths`."""
    begun = 0 if name == "t5" else ids.shape[1]
    # By log-probability alone the shorter of two texts is the better.
    options = dict(num_beams=beams, length_penalty=0.0, do_sample=False, use_cache=False, max_new_tokens=12, pad_token_id=0, decoder_start_token_id=start)

    def write(ends, **more):
        model.generation_config = GenerationConfig(eos_token_id=ends, **options, **more)
        return model.generate(input_ids=ids)[0].tolist()[begun or 1:]

    for end in write(None):
        early, late = write([end]), write([end], **lengths)
        if len(early) < len(late):
            return {"model": name, "end": [end], "source": ids[0].tolist(), "num_beams": beams, "length_penalty": 0.0, "early_stopping": "off",
                    **lengths, "ids": late}
    raise AssertionError("no token ends a text early")


for source, beams, lengths in ((0, 1, {"min_length": 8}), (1, 1, {"min_new_tokens": 6}), (0, 4, {"min_length": 9}), (1, 3, {"min_new_tokens": 10})):
    cases.append(least(model, "t5", sources[source : source + 1], beams, **lengths))
for beams, lengths in ((1, {"min_length": prompt.shape[1] + 5}), (1, {"min_new_tokens": 7}), (3, {"min_length": prompt.shape[1] + 6})):
    cases.append(least(llama, "llama", prompt, beams, **lengths))
with open(os.path.join(here, "beams.json"), "w") as file:
    file.write("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")

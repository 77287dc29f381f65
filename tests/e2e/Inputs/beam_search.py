#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Beam search against all texts there are, and against the search as Transformers writes it.

beam_search.py GOLDEN TILEWRIGHT ARTIFACT SCRATCH encoder-decoder|decoder STOP|second LENGTH_PENALTY

A vocabulary of V tokens and V beams: nothing is cut in texts of two tokens, so the search must find the best of all of them, which
are scored one by one by forward passes. STOP ends a text; "second" is the second best beginning, so that a penalty of length makes it the
best text where greedy choice goes on. Few beams and longer texts: every way of stopping, step by step as in generation/utils.py of
https://github.com/huggingface/transformers (5.x, _beam_search), written anew.
"""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
from fill import Case  # noqa: E402
from write import save  # noqa: E402

tilewright, artifact, scratch, kind, stop, penalty = *sys.argv[2:7], float(sys.argv[7])
SOURCE, START = [7, 31, 2, 40, 11], 3


def log_probabilities(texts):
    """Of what follows each text, all of one length."""
    inputs, length = {}, len(texts[0])
    if kind == "encoder-decoder":
        inputs["input_ids"] = ("I64", [len(texts), len(SOURCE)], SOURCE * len(texts))
    name = "decoder_input_ids" if kind == "encoder-decoder" else "input_ids"
    inputs[name] = ("I64", [len(texts), length], [token for text in texts for token in text])
    save(os.path.join(scratch, "in.safetensors"), inputs)
    files = ["--inputs", os.path.join(scratch, "in.safetensors"), "--outputs", os.path.join(scratch, "out.safetensors")]
    subprocess.run([tilewright, "run", artifact, *files], check=True)
    out = Case(os.path.join(scratch, "out.safetensors"))
    values, size = list(out.values("logits")), out.entries["logits"]["shape"][2]
    rows = [values[(i * length + length - 1) * size : (i + 1) * length * size] for i in range(len(texts))]
    return [[x - max(row) - math.log(sum(math.exp(y - max(row)) for y in row)) for x in row] for row in rows]


NONE = -1.0e9


def found_by(beams, penalty, tokens, stopping):
    ids_out = os.path.join(scratch, "ids.json")
    options = ["--prompt-ids", ",".join(map(str, SOURCE)), "--num-beams", str(beams), "--length-penalty", str(penalty), "--stop-id", str(stop),
               "--max-tokens", str(tokens), "--early-stopping", stopping, "--ids-out", ids_out, "--quiet"]
    subprocess.run([tilewright, "generate", artifact, *options], check=True, stdout=subprocess.DEVNULL)
    with open(ids_out) as file:
        return tuple(json.load(file)["ids"])


def search(beams, penalty, tokens, stopping):
    """The best text and its score."""
    running = [(prompt, 0.0 if i == 0 else NONE) for i in range(beams)]
    finished = [(NONE, None)] * beams
    may_improve, end = True, len(prompt) + tokens
    while True:
        rows = log_probabilities([text for text, _ in running])
        scored = [(score + p, text + [token]) for (text, score), row in zip(running, rows) for token, p in enumerate(row)]
        best = sorted(scored, key=lambda each: -each[0])[: 2 * beams]
        ends = [text[-1] == stop or len(text) >= end for _, text in best]
        full = all(text is not None for _, text in finished)
        for (score, text), over in list(zip(best, ends))[:beams]:
            if over and may_improve and not (stopping == "on" and full) and score > NONE / 2:
                finished.append((score / (len(text) - len(prompt)) ** penalty, text))
        finished = sorted(finished, key=lambda each: -each[0])[:beams]
        going = sorted([(score + (NONE if over else 0), text) for (score, text), over in zip(best, ends)], key=lambda each: -each[0])
        running = [(text, score) for score, text in going[:beams]]
        length = (end if stopping == "never" and penalty > 0 else len(running[0][0])) - len(prompt)
        full = all(text is not None for _, text in finished)
        may_improve = may_improve and (not full or running[0][1] / length**penalty > finished[-1][0])
        if not may_improve or (stopping == "on" and full) or all(ends):
            score, text = finished[0]
            return tuple((running[0][0] if text is None else text)[len(prompt) :]), score


prompt = [START] if kind == "encoder-decoder" else SOURCE
(first,) = log_probabilities([prompt])
stop = sorted(range(len(first)), key=first.__getitem__)[-2] if stop == "second" else int(stop)
second = log_probabilities([prompt + [token] for token in range(len(first))])
scores = {}
for a, p in enumerate(first):
    if a == stop:
        scores[(a,)] = p
        continue
    for b, q in enumerate(second[a]):
        scores[(a, b)] = (p + q) / 2**penalty
wanted = max(scores, key=scores.get)
found = found_by(len(first), penalty, 2, "off")
print(f"wanted {wanted} with {scores[wanted]:.6f}, the next has {sorted(scores.values())[-2]:.6f}; found {found}")
print("greedy begins alike" if max(range(len(first)), key=first.__getitem__) == wanted[0] else "greedy begins otherwise")
if found != wanted and scores.get(found, NONE) < scores[wanted] - 1e-6:
    sys.exit(1)

for beams, stopping in ((2, "off"), (3, "on"), (3, "never"), (4, "off")):
    wanted, score = search(beams, penalty, 5, stopping)
    found = found_by(beams, penalty, 5, stopping)
    print(f"{beams} beams, early stopping {stopping}: wanted {wanted} with {score:.6f}, found {found}")
    if found != wanted:
        sys.exit(1)

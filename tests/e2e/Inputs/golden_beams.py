# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares beam search with texts that Transformers found.

golden_beams.py GOLDEN TILEWRIGHT FOLDER   compiles the models of GOLDEN/beams.json into FOLDER
"""
import json
import os
import subprocess
import sys

golden, tilewright, folder = sys.argv[1:]
compiled, wrong = {}, 0
with open(os.path.join(golden, "beams.json")) as file:
    cases = json.load(file)
for case in cases:
    model = case["model"]
    if model not in compiled:
        compiled[model] = os.path.join(folder, model)
        subprocess.run([tilewright, "compile", os.path.join(golden, "models", model), "-o", compiled[model], "--numerics", "precise", "--quiet"],
                       check=True)
    ids = os.path.join(folder, "ids.json")
    ends = [option for end in case["end"] for option in ("--stop-id", str(end))]
    least = [f"--{name.replace('_', '-')}={case[name]}" for name in ("min_length", "min_new_tokens") if name in case]
    subprocess.run([tilewright, "generate", compiled[model], "--prompt-ids", ",".join(map(str, case["source"])), "--max-tokens", "12",
                    "--num-beams", str(case["num_beams"]), f"--length-penalty={case['length_penalty']}", "--early-stopping", case["early_stopping"],
                    "--ids-out", ids, "--quiet", *ends, *least], check=True, stdout=subprocess.DEVNULL)
    with open(ids) as file:
        found = json.load(file)["ids"]
    if found != case["ids"]:
        wrong += 1
        print("found", found, "for", case)
print(f"{len(cases) - wrong} of {len(cases)} texts are Transformers'")
sys.exit(wrong != 0)

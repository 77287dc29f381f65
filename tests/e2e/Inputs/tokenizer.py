# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tokenizer.py TILEWRIGHT ARTIFACT EXPECTED.JSON SCRATCH: compares `tilewright tokenize` with a list of {"text", "ids"}."""
import json
import subprocess
import sys

tilewright, artifact, expected, scratch = sys.argv[1:]
with open(expected, encoding="utf-8") as file:
    cases = json.load(file)
for case in cases:
    with open(scratch, "wb") as file:
        file.write(case["text"].encode("utf-8", "surrogatepass"))
    out = subprocess.run([tilewright, "tokenize", artifact, "--file", scratch, "--json"], check=True, capture_output=True, text=True)
    found = json.loads(out.stdout)["ids"]
    if found != case["ids"]:
        sys.exit(f"{case['text']!r}: found {found}, wanted {case['ids']}")
print(len(cases), "texts equal")

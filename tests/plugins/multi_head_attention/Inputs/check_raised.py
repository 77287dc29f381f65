# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_raised.py FILE [both]: functions test_raised_* hold a tw.attention (two with `both`) and no softmax, test_left_* none."""
import re
import sys

text = sys.stdin.read() if sys.argv[1] == "-" else open(sys.argv[1]).read()
wanted = 2 if sys.argv[2:] == ["both"] else 1
counts = {"raised": 0, "left": 0}
for name, outcome, body in re.findall(r"func\.func @(test_(raised|left)_\w+)\(\) \{(.*?)\n  \}", text, re.S):
    counts[outcome] += 1
    attentions, softmaxes = len(re.findall(r"tw\.attention ", body)), len(re.findall(r"tw\.softmax ", body))
    if attentions != (wanted if outcome == "raised" else 0) or (outcome == "raised") == bool(softmaxes):
        sys.exit(f"error: {name} has {attentions} tw.attention and {softmaxes} tw.softmax")
print(f"{counts['raised']} raised, {counts['left']} left")

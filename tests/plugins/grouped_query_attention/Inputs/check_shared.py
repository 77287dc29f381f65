# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_shared.py FILE: functions test_shared_*_H_KV_* and what they call read and keep KV heads, test_left_* H."""
import re
import sys

text = open(sys.argv[1]).read()
counts = {"shared": 0, "left": 0}
for name, body in re.findall(r"func\.func (?:private )?@(\w+)\((.*?)\n  \}", text, re.S):
    numbers = re.search(r"_(\d+)_(\d+)_", name)
    h, kv = map(int, numbers.groups()) if numbers else (6, 2)
    outcome = "left" if name.startswith("test_left") else "shared"
    wanted = kv if outcome == "shared" else h
    keys = {int(x) for x in re.findall(r" key\(%\S+ : tensor<2x(\d+)x5x4xf32>\)", body)}
    states = {int(x) for x in re.findall(r"!tw\.state<tensor<\?x(\d+)x4xf32>", body)}
    if keys | states != {wanted}:
        sys.exit(f"error: {name} has keys of {keys} and states of {states} heads, wanted {wanted}")
    counts[outcome] += 1
print(f"{counts['shared']} shared, {counts['left']} left")

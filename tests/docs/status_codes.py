# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""status_codes.py ROOT: compares docs/status-and-exit-codes.md with runtime/api/tilewright_status.h."""
import re
import sys

root = sys.argv[1]
header = open(f"{root}/runtime/api/tilewright_status.h").read()
page = open(f"{root}/docs/status-and-exit-codes.md").read()
declared = {n: (int(v), m.strip()) for n, v, m in re.findall(r"(TW_\w+) = (\d+),?(?:\s*/\*(.*?)\*/)?", header)}
listed = {n: (int(v), m.strip()) for n, v, m in re.findall(r"^\| `(TW_\w+)` \| (\d+) \| (.*?) \|", page, re.M)}
errors = []
if len(declared) < 2:
    errors.append("no status codes found in the header")
for name in sorted(declared.keys() | listed.keys()):
    value, meaning = declared.get(name, (None, None))
    found = listed.get(name, (None, None))
    if value != found[0]:
        errors.append(f"{name}: {value} in the header, {found[0]} on the page")
    elif meaning and meaning != found[1]:
        errors.append(f"{name}: '{meaning}' in the header, '{found[1]}' on the page")
exits = page.split("## Exit codes")[1]
for name in sorted(declared):
    if exits.count(f"`{name}`") != 1:
        errors.append(f"{name} has {exits.count(f'`{name}`')} exit codes on the page, wanted 1")
print("\n".join(errors) or f"{len(declared)} status codes agree")
sys.exit(1 if errors else 0)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""status_codes.py ROOT: compares docs/status-and-exit-codes.md with runtime/api/tilewright_status.h and the tools' source."""
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
# Exit codes: the numbers of the enumeration, and the switch from status to exit code.
exits = page.split("## Exit codes")[1]
numbers = dict(re.findall(r"(\w+) = (\d+)", re.search(r"enum ExitCode[^{]*{(.*?)}", open(f"{root}/tools/ExitCodes.h").read(), re.S)[1]))
switch = re.search(r"exitCodeOf\(.*?\n}", open(f"{root}/tools/StatusExitCode.h").read(), re.S)[0]
rows = {number: set(re.findall(r"`(TW_\w+)`", statuses)) for number, statuses in re.findall(r"^\| (\d+) \| [^|]*\|([^|]*)\|$", exits, re.M)}
if set(rows) != set(numbers.values()):
    errors.append(f"exit codes {sorted(numbers.values())} in the source, {sorted(rows)} on the page")
cases = {number: set() for number in rows}
for names, result in re.findall(r"((?:\s*case TW_\w+:)+)\s*return (\w+);", switch):
    cases.setdefault(numbers[result], set()).update(re.findall(r"TW_\w+", names))
for number in sorted(rows):
    if rows[number] != cases[number]:
        errors.append(f"exit code {number}: {sorted(cases[number])} in the source, {sorted(rows[number])} on the page")
if set().union(*rows.values()) != set(declared):
    errors.append(f"without an exit code: {sorted(set(declared) - set().union(*rows.values()))}")
print("\n".join(errors) or f"{len(declared)} status codes and {len(rows)} exit codes agree")
sys.exit(1 if errors else 0)

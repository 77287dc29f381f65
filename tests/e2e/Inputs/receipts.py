# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""receipts.py FILE ROOT: checks the form of receipts against docs/receipts.md and prints the outcomes by kind."""
import collections
import json
import re
import sys

records = json.load(open(sys.argv[1]))
page = open(f"{sys.argv[2]}/docs/receipts.md").read()
source = open(f"{sys.argv[2]}/passes/api/Receipts.cpp").read()
kinds = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|$", page.split("## Kinds")[1].split("## The JSON")[0], re.M))
fields = set(re.findall(r"^\| `(\w+)` \|", page.split("## The JSON")[1], re.M))
if kinds != dict(re.findall(r'^    \{"(\w+)",\s+"(.*)"\},$', source, re.M)):
    sys.exit("error: the kinds of docs/receipts.md and of passes/api/Receipts.cpp differ")
outcomes = collections.defaultdict(set)
conditions = set()
for record in records:
    if set(record) != fields:
        sys.exit(f"error: {record} has other fields than {sorted(fields)}")
    if not all(isinstance(value, str) for key, value in record.items() if key != "details") or not all(isinstance(v, str) for v in record["details"].values()):
        sys.exit(f"error: {record} has a value that is no string")
    if not record["reason"] or (record["outcome"] == "missed") != bool(record["advice"]):
        sys.exit(f"error: {record} lacks a reason, or advice where it was missed")
    if record["outcome"] == "held":
        if record["kind"] != "post_condition" or int(record["details"]["kernels"]) < 1:
            sys.exit(f"error: {record} counts no kernels")
        conditions.add(record["reason"])
        continue
    if record["kind"] not in kinds or not record["function"] or not re.fullmatch(r".+:\w+:\d+", record["location"]):
        sys.exit(f"error: {record} has an unknown kind, or no place")
    outcomes[record["kind"]].add(record["outcome"])
for kind in sorted(outcomes):
    print(f"{kind}: {', '.join(sorted(outcomes[kind]))}")
print(f"{len(conditions)} post-conditions")

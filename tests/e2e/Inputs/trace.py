# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""trace.py FILE: checks that a file is a trace (JSON, complete events, each thread's nested) and prints how often each name occurs,
with the name of what it is directly nested in, and the detail of those that have one."""
import collections
import json
import sys

trace = json.load(open(sys.argv[1]))
events = trace["traceEvents"] if isinstance(trace, dict) else trace
threads = collections.defaultdict(list)
for event in events:
    if event["ph"] == "M":
        continue
    if event["ph"] != "X" or event["dur"] < 0 or event["ts"] < 0:
        sys.exit(f"error: {event} is no complete event")
    if not event["name"].startswith("Total "):  # sums that LLVM's profiler adds, on threads of their own
        threads[event["pid"], event["tid"]].append(event)
SLACK = 1.001 if isinstance(trace, dict) else 0.0021  # times are rounded to microseconds, or to nanoseconds
counts = collections.Counter()
for own in threads.values():
    own.sort(key=lambda e: (e["ts"], -e["dur"]))
    stack = []
    for event in own:
        end = event["ts"] + event["dur"]
        while stack and stack[-1][0] <= event["ts"] and stack[-1][0] < end:
            stack.pop()
        if stack and end > stack[-1][0] + SLACK:
            sys.exit(f"error: {event} crosses {stack[-1][1]}")
        detail = event.get("args", {}).get("detail", "")
        counts[event["name"], stack[-1][1]["name"] if stack else "", detail] += 1
        stack.append((end, event))
for (name, parent, detail), count in sorted(counts.items()):
    print(f"{count} x {name} <{detail}> in <{parent}>")
print(f"{len(threads)} threads")

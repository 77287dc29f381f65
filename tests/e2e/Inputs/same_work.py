# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles two models, and exits with 1 unless both took as many stages, passes and kernels, and the
other at most 10 % more memory. Weights are packed one by one, so what is done for each does not count.

same_work.py TILEWRIGHT ONE.gguf OTHER.gguf"""
import collections
import json
import os
import subprocess
import sys


def compile_traced(program, model):
    """How often each kind of work was done, and the largest resident set in kB."""
    trace = model + ".trace"
    child = subprocess.Popen([program, "compile", model, "-o", os.path.splitext(model)[0], "--target", "cpu:avx2", "--quiet", "--trace", trace])
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{program} compile {model} failed")
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    spans = collections.Counter(e["name"] for e in events if e.get("ph") == "X" and not e["name"].startswith("Total"))
    del spans["pack weight"]
    return spans, usage.ru_maxrss


program, one, other = sys.argv[1:]
(spans, memory), (deep_spans, deep_memory) = compile_traced(program, one), compile_traced(program, other)
print(f"{spans.total()} and {deep_spans.total()} spans, {memory} and {deep_memory} kB")
for name in sorted(spans | deep_spans):
    if spans[name] != deep_spans[name]:
        sys.exit(f"{name}: done {spans[name]} and {deep_spans[name]} times")
if deep_memory > 1.1 * memory:
    sys.exit("the other took more than 10 % more memory")

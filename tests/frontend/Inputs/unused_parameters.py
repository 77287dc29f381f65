# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells of parameters that a family reads and nothing uses: unused_parameters.py FAMILIES

A parameter is used when an expression of the family's description with its forms names it, or the default of one that is used; and when only
some of its values are allowed.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "docs"))
from family_docs import overlay, read  # noqa: E402


def strings(value):
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from strings(inner)


def words(value):
    return {word for text in strings(value) for word in re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'", "", text))}


def unused(family, form):
    whole = {}
    for name in family["forms"]:
        overlay(whole, form(name))
    overlay(whole, family)
    parameters = {parameter["name"]: parameter for parameter in whole["parameters"]}
    rules = [rule["default"] for rule in whole["option_rules"] if rule["name"] not in whole["options"]]
    names = [whole.get("names", {}).get(kind) for kind in ("gguf", "config")]
    requirements = [[rule.get("if"), rule["require"]] for rule in whole.get("requirements", [])]
    weights = [[rule.get("if"), rule["shape"]] for rule in whole["weights"] + whole["layer_weights"]]
    used = words([rules, names, requirements, weights, [whole[key] for key in (
        "options", "functions", "macros", "types", "layers", "context_length", "vocabulary_size")], whole.get("generation", {})])
    used |= {name for name, parameter in parameters.items() if "allowed" in parameter}
    reached = used & parameters.keys()
    while reached:
        fresh = words([[parameters[name].get(key) for key in ("default", "null")] for name in reached]) & parameters.keys() - used
        used, reached = used | fresh, fresh
    return [name for name, parameter in parameters.items() if name not in used and parameter.keys() & {"gguf", "gguf_tensor", "config"}]


root = sys.argv[1]
count = 0
for name in sorted(os.listdir(root)):
    if name.endswith(".json") and name != "gguf-types.json":
        for parameter in unused(read(os.path.join(root, name)), lambda form: read(os.path.join(root, "forms", form + ".json"))):
            print(f"{name}: parameter {parameter} is read and not used")
            count += 1
print(f"{count} parameters are read and not used")
sys.exit(count != 0)

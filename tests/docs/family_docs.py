#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""family_docs.py ROOT [--update]: compares docs/families with what frontend/families says, or writes it anew.

A page for each family: which models are of it, the fields and keys that are read with their defaults and limits, what has no influence, and
what the family chooses of its forms.
"""
import json
import os
import re
import sys

from pages import Pages


def overlay(under, over):
    """As frontend/import/Forms.h has it."""
    for key, value in over.items():
        own = under.get(key)
        if isinstance(own, dict) and isinstance(value, dict):
            overlay(own, value)
        elif isinstance(own, list) and isinstance(value, list):
            for entry in value:
                name = entry.get("name") if isinstance(entry, dict) else None
                same = [i for i, e in enumerate(own) if name and isinstance(e, dict) and e.get("name") == name]
                if same:
                    own[same[0]] = entry
                else:
                    own.append(entry)
        else:
            under[key] = value
    return under


def read(path):
    with open(path) as file:
        return json.load(file)


def code(text):
    return "`" + str(text).replace("|", "\\|") + "`"


def keys(parameter, kind, prefix):
    found = parameter.get(kind, [])
    return [key.replace("{prefix}", prefix) for key in ([found] if isinstance(found, str) else found)]


def literal(value):
    return json.dumps(value) if not isinstance(value, str) else value.removeprefix("=")


class Words:
    """Expressions of a description in the words of one kind of file: fields in place of parameters' names."""

    def __init__(self, parameters, kind, prefix):
        self.parameters, self.kind, self.prefix = {entry["name"]: entry for entry in parameters}, kind, prefix

    def own(self, value):
        return value.get(self.kind) if isinstance(value, dict) else value

    def name(self, word, within=()):
        if word in ("gguf", "config"):
            return "true" if word == self.kind else "false"
        parameter = self.parameters.get(word)
        if parameter is None or word in within:
            return word
        names = keys(parameter, self.kind, self.prefix)
        if names:
            return names[0]
        for entry in ("gguf_count", "gguf_tensor"):
            if self.kind == "gguf" and entry in parameter:
                return parameter[entry]
        default = self.own(parameter.get("default"))
        if default is None:
            return word
        text = self.text(default, (*within, word))
        return text if re.fullmatch(r"[\w.]+", text) else f"({text})"

    def bare(self, word):
        text = self.name(word)
        return text[1:-1] if text.startswith("(") else text

    def text(self, value, within=()):
        if not isinstance(value, str):
            return json.dumps(value)
        return re.sub(r"'[^']*'|\.?\b[A-Za-z_]\w*\b(?!\()", lambda found: found[0] if found[0][0] in "'." else self.name(found[0], within),
                      value.removeprefix("="))


def limits(parameter, kind, words):
    parts = []

    def own(value):
        return value.get(kind) if isinstance(value, dict) else value

    default, allowed = own(parameter.get("default")), own(parameter.get("allowed"))
    if default is not None:
        is_text = parameter["type"] == "string" and not str(default).startswith("=")
        parts.append("default " + code(default if is_text else words.text(default)))
    if "null" in parameter:
        parts.append("null means " + code(words.text(parameter["null"])))
    for word, key in (("at least", "min"), ("at most", "max"), ("above", "above")):
        if key in parameter:
            parts.append(f"{word} {parameter[key]}")
    if allowed:
        parts.append("one of " + ", ".join(code(json.dumps(value)) for value in allowed))
    when = own(parameter.get("when"))
    if when:
        parts.append(f"read where {code(words.name(when[0]))} is " + " or ".join(code(json.dumps(value)) for value in when[1:]))
    if "about" in parameter:
        parts.append(parameter["about"])
    return "; ".join(parts)


def symbols(options, parameters, prefix):
    """What the names in the values of options stand for."""
    kinds = (Words(parameters, "config", prefix), Words(parameters, "gguf", prefix))
    names = {word for value in options.values() if isinstance(value, str) and value.startswith("=")
             for word in re.findall(r"\b[A-Za-z_]\w*\b", re.sub(r"'[^']*'", "", value))}
    lines = []
    for name in sorted(names & kinds[0].parameters.keys()):
        said = [f"{place} {code(kind.bare(name))}" for kind, place in zip(kinds, ("config.json", "GGUF")) if place != "GGUF" or prefix]
        if said != [f"config.json {code(name)}"]:
            lines.append(f"- {code(name)}: " + "; ".join(said))
    if "layer" in names:
        lines.append("- `layer`: the number of a layer, from 0")
    if names & {"gguf", "config"}:
        lines.append("- `gguf`, `config`: whether the model is a GGUF file, or one with a config.json")
    return ["", "Names in these values:", "", *lines] if lines else []


def page(family, forms):
    whole = {}
    for name in family.get("forms", []):
        overlay(whole, json.loads(json.dumps(forms[name])))
    overlay(whole, json.loads(json.dumps(family)))
    gguf, config = whole.get("gguf", {}), whole.get("config", {})
    prefix = gguf.get("prefix", "")
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->", "<!-- Made of frontend/families by `make docs`. -->",
             f"# {family['family']}", "", family["about"], "", f"Source: {family['source']}", ""]
    if config.get("model_types"):
        lines += [f"`config.json`: model_type {', '.join(map(code, config['model_types']))}, "
                  f"architectures {', '.join(map(code, config['architectures']))}.", ""]
    if gguf.get("architectures"):
        told = "".join(f", {'with' if wanted else 'without'} {code(key)}" for key, wanted in sorted(gguf.get("with", {}).items()))
        lines += [f"GGUF: general.architecture {', '.join(map(code, gguf['architectures']))}{told}.", ""]
    for title, kind, wanted in (("Fields of config.json", "config", config.get("model_types")), ("Keys of GGUF files", "gguf", gguf.get("architectures"))):
        if not wanted:
            continue
        lines += [f"## {title}", "", "| field | type | |" if kind == "config" else "| key | type | |", "|---|---|---|"]
        words = Words(whole["parameters"], kind, prefix)
        for parameter in whole["parameters"]:
            names = keys(parameter, kind, prefix)
            if kind == "gguf" and "gguf_count" in parameter:
                names.append(parameter["gguf_count"])
            if kind == "gguf" and "gguf_tensor" in parameter:
                names.append("tensor " + parameter["gguf_tensor"])
            if names:
                lines.append(f"| {', '.join(map(code, names))} | {parameter['type']} | {limits(parameter, kind, words)} |")
        ignored = sorted({key.replace("{prefix}", prefix) for key in whole[kind].get("ignored", [])} - {"architectures", "model_type"}
                         - {key for parameter in whole["parameters"] for key in keys(parameter, kind, prefix)})
        lines += ["", "Without influence: " + ", ".join(map(code, ignored)) + ".", ""] if ignored else [""]
        unset = sorted(whole[kind].get("unset", []))
        lines += ["Only `null` or `{}`: " + ", ".join(map(code, unset)) + ".", ""] if unset else []
    options = whole.get("options", {})
    if options:
        lines += ["## What it chooses of its forms", "", f"Forms: {', '.join(map(code, family['forms']))} ([families.md](../families.md)).", "",
                  "| option | value |", "|---|---|"]
        lines += [f"| {code(name)} | {code(literal(value))} |" for name, value in sorted(options.items())]
        lines += symbols(options, whole["parameters"], prefix)
    return "\n".join(lines).rstrip() + "\n"


def main():
    root, source = sys.argv[1], os.path.join(sys.argv[1], "frontend", "families")
    pages = Pages(root, "families", update=sys.argv[2:] == ["--update"])
    forms = {name[:-5]: read(os.path.join(source, "forms", name)) for name in sorted(os.listdir(os.path.join(source, "forms")))}
    left = set(os.listdir(pages.path())) if os.path.isdir(pages.path()) else set()
    for name in sorted(os.listdir(source)):
        if name.endswith(".json") and name != "gguf-types.json":
            family = read(os.path.join(source, name))
            pages.settle(family["family"] + ".md", page(family, forms))
            left.discard(family["family"] + ".md")
    for name in sorted(left):
        if pages.update:
            os.remove(pages.path(name))
        else:
            pages.tell(name, "no family has this name; `make docs` removes it")
    pages.end()


if __name__ == "__main__":
    main()

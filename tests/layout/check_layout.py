#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the rules of docs/design.md (sections 1, 2 and 11) that a script can check.

check_layout.py ROOT [RULE...]   all rules by default; prints path:line: error: ... and exits 1 if there is any.
"""
import os
import re
import subprocess
import sys

MAX_LINES = 800
TEXT = (".h", ".cpp", ".c", ".td", ".fbs", ".py", ".cmake", ".mlir", ".test", ".md", ".json", ".txt", ".in", ".yml")
CODE = (".h", ".cpp", ".c", ".td", ".fbs")
# Who may include whom, besides itself. A prefix ending in / is a folder.
MAY_INCLUDE = {
    "ir": ["runtime/api/layout.h"],
    "frontend": ["ir/", "runtime/api/bounded_verifier.h"],
    "passes": ["ir/"],
    "backends": ["ir/", "passes/api/", "runtime/api/"],
    "runtime": [],
}
TOP = [*MAY_INCLUDE, "plugins", "tools", "tests", "bench", "examples"]
# Where a plugin may be named by somebody else: data, end-to-end tests and measurements, by its ops alone, ...
MAY_NAME_OPS = ("frontend/families/", "tests/e2e/", "tests/golden/", "bench/")
# ... and what people read, in any way.
MAY_NAME_PLUGINS = ("docs/", "examples/")


class Tree:
    """The repository's files (tracked, or new and not ignored) and the errors found in them."""

    def __init__(self, root):
        self.root = root
        self.errors = []
        self.texts = {}
        if os.path.isdir(os.path.join(root, ".git")):
            names = subprocess.run(
                ["git", "-C", root, "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True, text=True
            ).stdout.splitlines()
        else:
            names = [os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs]
        # Inputs of this check's own test break every rule.
        self.files = sorted(
            f for f in set(names) if os.path.isfile(os.path.join(root, f)) and not f.startswith(("tests/layout/Inputs/", "build"))
        )
        self.plugins = sorted(
            f.split("/")[1] for f in self.files if re.fullmatch(r"plugins/(?!api/|_template/)[^/]+/CMakeLists\.txt", f)
        )

    def text(self, path):
        if path not in self.texts:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def lines(self, path):
        return enumerate(self.text(path).split("\n"), 1)

    def error(self, path, line, message):
        self.errors.append(f"{path}:{line}: error: {message}")

    def select(self, *suffixes):
        return [f for f in self.files if f.endswith(suffixes)]

    def scripts(self):
        """Files without an extension that start with #!."""
        return [f for f in self.files if "." not in os.path.basename(f) and self.text(f).startswith("#!")]

    def lit_tests(self):
        return [f for f in self.select(".mlir", ".test") if f.startswith("tests/") and not re.search(r"/Inputs/|^tests/(golden|unit)/", f)]


def includes(tree):
    for path in tree.select(*CODE):
        top = path.split("/")[0]
        for number, line in tree.lines(path):
            match = re.match(r'\s*#?include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match[1]
            # A folder of examples is a project of its own, with its own root.
            if top != "examples" and os.path.dirname(path) and os.path.isfile(os.path.join(tree.root, os.path.dirname(path), target)):
                tree.error(path, number, f'include "{target}" is relative; wanted the path from the repository root')
            if target.split("/")[0] not in TOP:
                continue
            if top in MAY_INCLUDE:
                allowed = [top + "/", *MAY_INCLUDE[top]]
            elif top == "plugins":
                own = "/".join(path.split("/")[:2]) + "/"
                allowed = [own, "ir/"] + ([target] if re.match(r"[^/]+/api/", target) else [])
            else:
                continue
            if not target.startswith(tuple(allowed)):
                tree.error(path, number, f'include "{target}": {top} may include {", ".join(allowed)} only')


def spdx(tree):
    for path in tree.select(*CODE, ".py", ".cmake", "CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy", ".in") + tree.scripts():
        if "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in "\n".join(tree.text(path).split("\n")[:2]):
            tree.error(path, 1, "no SPDX header in the first line (second after #!)")


def length(tree):
    for path in tree.select(*CODE, ".py", ".cmake", ".mlir", ".test") + tree.scripts():
        count = tree.text(path).count("\n")
        if count > MAX_LINES and not path.startswith("tests/golden/"):
            tree.error(path, MAX_LINES + 1, f"{count} lines; split by concept, at most {MAX_LINES} wanted")


def words(tree):
    forbidden = "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", r"/(?:work|root|home)/\w", r"deb\.debian" + r"\.org", r"pypi" + r"\.org"])
    for path in tree.select(*TEXT, "Makefile") + tree.scripts():
        if path.startswith("tests/golden/"):
            continue
        for number, line in tree.lines(path):
            if match := re.search(rf"(?<![\w.-])(?:{forbidden})", line):
                tree.error(path, number, f"'{match[0]}' has no place in the repository")


def run_lines(tree):
    for path in tree.lit_tests():
        if "RUN:" not in tree.text(path):
            tree.error(path, 1, "no RUN line")


def filecheck(tree):
    suffix = r"(?:NEXT|SAME|DAG|NOT|LABEL|EMPTY|COUNT-\d+)"
    for path in tree.lit_tests():
        text = tree.text(path)
        prefixes = {"CHECK"} if re.search(r"FileCheck(?![^\n|]*-check-prefix)", text) else set()
        for group in re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", text):
            prefixes.update(group.split(","))
        for prefix in prefixes:
            for number, line in tree.lines(path):
                match = re.match(rf"\s*(?://|#|;)?\s*({re.escape(prefix)}(?:-[A-Z0-9-]+)?)(?:{{LITERAL}})?(:|\s|$)", line)
                if not match or "RUN:" in line:
                    continue
                name, colon = match[1], match[2] == ":"
                known = name in prefixes or re.fullmatch(rf"{re.escape(prefix)}-{suffix}", name)
                if known and not colon and re.match(r"\s*(?://|#|;)", line):
                    tree.error(path, number, f"{name} without a colon is never checked")
                elif not known and colon and not any(re.fullmatch(rf"{re.escape(p)}-{suffix}", name) for p in prefixes):
                    tree.error(path, number, f"{name}: is neither a FileCheck directive nor a prefix of this file's RUN lines")


def strip_comments(path, text):
    """The text with comments blanked, line by line."""
    if path.endswith((".py", ".cmake", ".txt", ".in")) or "." not in os.path.basename(path):
        return re.sub(r"#[^\n]*", "", text)
    if path.endswith(".td"):  # descriptions are documentation
        text = re.sub(r"let description = \[\{.*?\}\]", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    return re.sub(r"(?<!:)//(?!\s*(?:RUN|REQUIRES|CHECK))[^\n]*", "", text)


def plugin_names(tree):
    """Code names no plugin in any way; tests outside a plugin's own may name a kernel after a technique, but use no op or file of it."""
    for path in tree.select(*CODE, ".py", ".cmake", ".txt", ".mlir", ".test", ".in", "Makefile") + tree.scripts():
        if path.startswith(MAY_NAME_PLUGINS):
            continue
        text = strip_comments(path, tree.text(path)).split("\n")
        for name in tree.plugins:
            if path.startswith((f"plugins/{name}/", f"tests/plugins/{name}/")):
                continue
            forms = [name, f"tilewright_{name}"]
            if "_" in name:
                forms += [name.replace("_", "-"), "".join(part.capitalize() for part in name.split("_"))]
            pattern = rf"\b(?:{'|'.join(forms)})\b"
            if re.match(r"tests/plugins/|plugins/[^/]+/samples\.mlir$", path) and re.search(rf"REQUIRES:.*\bplugin-{name}\b", tree.text(path)):
                continue  # how two plugins work together is a test of one of them, left out where the other is absent
            if path.startswith(MAY_NAME_OPS):
                pattern = rf"(?:plugins/|tilewright_|tilewright::){name}\b"
            elif re.fullmatch(r"plugins/[^/]+/Golden\w*\.cpp", path):  # words of golden data's attributes
                pattern = rf"(?:plugins/|tilewright_|tilewright::){name}\b|\b{name}\.[a-z]"
            elif path.startswith("tests/"):
                pattern = rf"\b(?:{name}\.(?!mlir|cpp|json|h\b|td\b)[a-z]\w*|plugins/{name}|tilewright_{name}|tilewright::{name})\b"
            for number, line in enumerate(text, 1):
                if match := re.search(pattern, line):
                    tree.error(path, number, f"'{match[0]}' names a plugin outside plugins/{name} and tests/plugins/{name}")


def passes(tree):
    """One pass one file, and one test file named by the pass's flag."""
    tests = {os.path.basename(f): f for f in tree.lit_tests()}
    for path in tree.select(".cpp", ".td"):
        if path.startswith("tests/"):
            continue
        text = strip_comments(path, tree.text(path))
        flags = re.findall(r'getArgument\(\)[^{;]*\{\s*return\s*"([^"]+)"', text) + re.findall(r'\bPass<"([^"]+)"', text)
        if len(flags) > 1 and path.endswith(".cpp"):
            tree.error(path, 1, f"{len(flags)} passes in one file: {', '.join(flags)}")
        for flag in flags:
            top, name = path.split("/")[:2]
            if top == "plugins" and name != "_template":
                if not flag.startswith(name.replace("_", "-") + "-") and flag != name.replace("_", "-"):
                    tree.error(path, 1, f"the pass -{flag} does not start with its plugin's name")
                if f"tests/plugins/{name}/{flag}.mlir" not in tree.files:
                    tree.error(path, 1, f"the pass -{flag} has no test tests/plugins/{name}/{flag}.mlir")
            elif f"{flag}.mlir" not in tests:
                tree.error(path, 1, f"the pass -{flag} has no test named {flag}.mlir")


def dialects(tree):
    """Names agree everywhere, and each dialect has its fixed set of tests."""
    for path in tree.select(".td"):
        match = re.search(r'\bdef\s+\w+\s*:\s*Dialect\s*\{.*?let\s+name\s*=\s*"([^"]+)"', tree.text(path), re.S)
        folder = os.path.dirname(path)
        if not match or path.startswith(("plugins/_template/", "tests/", "examples/")):
            continue
        name = match[1]
        if name != os.path.basename(folder):
            tree.error(path, 1, f"the dialect is named {name}, its folder {os.path.basename(folder)}")
        tests = f"tests/{folder}"
        wanted = ["round-trip.mlir", "errors.mlir"]
        if any("hasCanonicalize" in tree.text(f) or "hasFolder = 1" in tree.text(f) for f in tree.select(".td") if os.path.dirname(f) == folder):
            wanted.append("canonicalize.mlir")
        for test in wanted:
            if f"{tests}/{test}" not in tree.files:
                tree.error(path, 1, f"the dialect {name} has no {tests}/{test}")
    for name in tree.plugins:
        build = f"plugins/{name}/CMakeLists.txt"
        if not re.search(rf"add_tilewright_plugin\(\s*{name}\b", tree.text(build)):
            tree.error(build, 1, f"no add_tilewright_plugin({name} ...): the library is named by the folder")
        tests = [os.path.basename(f) for f in tree.lit_tests() if f.startswith(f"tests/plugins/{name}/")]
        for kind in ("load", "conformance") + (("numerics",) if any(f.startswith(f"plugins/{name}/") for f in tree.select(".td")) else ()):
            if not any(test.startswith(kind) for test in tests):
                tree.error(build, 1, f"the plugin has no tests/plugins/{name}/{kind}*")


def constraints(tree):
    """Each (C1), (C2)... of an op's description is in a verifier beside it and in the name of a test or of a plugin's bad
    sample (<op>_c1)."""
    for path in tree.select(".td"):
        if not path.startswith(("ir/", "plugins/")) or path.startswith("plugins/_template/"):
            continue
        folder = os.path.dirname(path)
        sources = "\n".join(tree.text(f) for f in tree.select(".cpp", ".h") if os.path.dirname(f) == folder)
        tests = [f for f in tree.lit_tests() if f.startswith((f"tests/{folder}/", "tests/ir/"))] + tree.select(f"{folder}/samples.mlir")
        tests = "\n".join(map(tree.text, tests)).lower()
        text = tree.text(path)
        for match in re.finditer(r'\bdef\s+(\w+)\s*:\s*\w+<"([\w.]+)"', text):
            following = re.search(r"\n(?:def|class)\s", text[match.end() :])
            body = text[match.end() : match.end() + following.start() if following else len(text)]
            line = text.count("\n", 0, match.start()) + 1
            op = match[2].split(".")[-1]
            for label in dict.fromkeys(re.findall(r"\(C(\d+)\)", body)):
                if f"(C{label})" not in sources:
                    tree.error(path, line, f"{op}: constraint (C{label}) is in no verifier in {folder}")
                if not re.search(rf"\b{op}_c{label}(?!\d)", tests):
                    tree.error(path, line, f"{op}: no test is named {op}_c{label}")


def links(tree):
    for path in tree.select(".md"):
        prose = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), tree.text(path), flags=re.M | re.S)
        for number, line in enumerate(prose.split("\n"), 1):
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                if not os.path.exists(os.path.join(tree.root, os.path.dirname(path), target)):
                    tree.error(path, number, f"the link leads nowhere: {target}")


RULES = [includes, spdx, length, words, run_lines, filecheck, plugin_names, passes, dialects, constraints, links]


def main():
    tree = Tree(os.path.abspath(sys.argv[1]))
    chosen = sys.argv[2:]
    for unknown in set(chosen) - {rule.__name__ for rule in RULES}:
        sys.exit(f"check_layout.py: error: no rule {unknown}; there are {', '.join(rule.__name__ for rule in RULES)}")
    for rule in RULES:
        if chosen and rule.__name__ not in chosen:
            continue
        before = len(tree.errors)
        rule(tree)
        print(f"{rule.__name__}: {len(tree.errors) - before} errors in {len(tree.files)} files")
    for error in tree.errors:
        print(error)
    sys.exit(1 if tree.errors else 0)


main()

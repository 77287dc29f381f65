#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dialect_docs.py ROOT LIST [--update]: compares docs/dialects with what mlir-tblgen generated, or writes it anew.

LIST has a line "<dialect> <generated file>" per dialect of this build; pages of dialects that it lacks are left alone.
"""
import os
import sys

root, listing = sys.argv[1:3]
update = sys.argv[3:] == ["--update"]
stale = 0
for line in open(listing):
    if not line.strip():
        continue
    dialect, generated = line.split(maxsplit=1)
    page = os.path.join(root, "docs", "dialects", dialect + ".md")
    wanted = open(generated.strip()).read()
    # mlir-tblgen leaves blanks at line ends, and a word that only some viewers replace by a table of contents.
    wanted = wanted.replace("[TOC]\n\n", "")
    wanted = "\n".join(part.rstrip() for part in wanted.split("\n")).strip() + "\n"
    found = open(page).read() if os.path.exists(page) else None
    if found == wanted:
        continue
    if update:
        os.makedirs(os.path.dirname(page), exist_ok=True)
        with open(page, "w") as file:
            file.write(wanted)
        print(f"wrote docs/dialects/{dialect}.md")
    else:
        stale += 1
        print(f"docs/dialects/{dialect}.md: error: {'missing' if found is None else 'stale'}; `make docs` writes it anew")
if not update:
    print(f"{stale} stale pages")
sys.exit(1 if stale else 0)

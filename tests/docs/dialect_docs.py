#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dialect_docs.py ROOT LIST [--update]: compares docs/dialects with what mlir-tblgen generated, or writes it anew.

LIST has a line "<dialect> <generated file>" per dialect of this build; pages of dialects that it lacks are left alone.
"""
import sys

from pages import Pages

root, listing = sys.argv[1:3]
pages = Pages(root, "dialects", update=sys.argv[3:] == ["--update"])
for line in open(listing):
    if not line.strip():
        continue
    dialect, generated = line.split(maxsplit=1)
    wanted = open(generated.strip()).read()
    # mlir-tblgen leaves blanks at line ends, and a word that only some viewers replace by a table of contents.
    wanted = wanted.replace("[TOC]\n\n", "")
    pages.settle(dialect + ".md", "\n".join(part.rstrip() for part in wanted.split("\n")).strip() + "\n")
pages.end()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""guide.py ROOT BUILD MODEL.gguf: follows docs/writing-a-plugin.md literally, outside of the source tree.

Shell blocks are run in order, in one shell, in an empty home folder. Every other block must stand in a file of the finished
plugin, line for line.
"""
import os
import shutil
import sys

from outside import Outside, blocks, fail

root, build, model = sys.argv[1:4]
example = os.path.join(root, "examples", "differential_attention")


guide = os.path.join(root, "docs", "writing-a-plugin.md")
found = blocks(guide)
texts = []
for parent, _, files in os.walk(example):
    for name in files:
        with open(os.path.join(parent, name), encoding="utf-8") as file:
            texts.append(file.read())
pieces = [(text, line) for language, text, line in found if language != "sh"]
for text, line in pieces:
    if not any(("\n" + text) in ("\n" + whole) for whole in texts):
        fail(f"{guide}:{line}: this piece is in no file of {example}")
print(f"{len(pieces)} pieces of code are those of the finished plugin")

with Outside(root, build) as outside:
    shutil.copy(model, os.path.join(outside.home, "model.gguf"))
    print(outside.follow(guide), end="")
    outside.expect_no_source_path(os.path.join(outside.home, "differential_attention", "build"))

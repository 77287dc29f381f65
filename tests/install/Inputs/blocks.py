# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""blocks.py ROOT BUILD: follows docs/blocks.md outside, where the program that it builds stands among the examples."""
import os
import sys

from outside import Outside

root, build = sys.argv[1:3]
with Outside(root, build) as outside:
    print(outside.follow(os.path.join(root, "docs", "blocks.md")), end="")
    outside.expect_no_source_path(os.path.join(outside.home, "blocks", "build"))

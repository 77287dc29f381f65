# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""new_plugin.py ROOT BUILD MODEL.gguf: the first plugin of README.md, outside; then what was installed and built is looked through."""
import os
import shutil
import sys

from outside import Outside, fail

root, build, model = sys.argv[1:4]
with Outside(root, build) as outside:
    shutil.copy(model, os.path.join(outside.home, "model.gguf"))
    print(outside.follow(os.path.join(root, "README.md")), end="")

    outside.expect_closed_headers()
    outside.expect_no_source_path(outside.prefix)
    folder = os.path.join(outside.home, "my_gate")
    outside.expect_no_source_path(folder)
    for parent, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f != "build"]
        for name in files:
            with open(os.path.join(parent, name), encoding="utf-8") as file:
                text = file.read()
            for left in ("my_technique", "MyTechnique", "my-technique", "MY_TECHNIQUE"):
                if left in text or left in name:
                    fail(f"{os.path.join(parent, name)} still says {left}")
    print("nothing leads back to the source tree")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""new_plugin.py ROOT BUILD MODEL.gguf: installs Tilewright, begins a plugin, builds, tests, installs and uses it, all outside."""
import json
import os
import sys

from outside import Outside, fail

root, build, model = sys.argv[1:4]
with Outside(root, build) as outside:
    outside.install()
    outside.expect_closed_headers()
    outside.expect_no_source_path(outside.prefix)

    print(outside.run("tilewright plugins new my_gate --dir my_gate"), end="")
    folder = os.path.join(outside.home, "my_gate")
    for parent, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(parent, name), encoding="utf-8") as file:
                text = file.read()
            for left in ("my_technique", "MyTechnique", "my-technique", "MY_TECHNIQUE"):
                if left in text or left in name:
                    fail(f"{os.path.join(parent, name)} still says {left}")
    outside.run("cmake -B build && cmake --build build", folder)
    print(outside.run("ctest --test-dir build --output-on-failure --no-tests=error", folder), end="")
    outside.expect_no_source_path(os.path.join(folder, "build"))

    library = os.path.join(folder, "build", "libtilewright_my_gate.so")
    (found,) = [p for p in json.loads(outside.run(f"tilewright plugins list --json --plugin {library}")) if p["name"] == "my_gate"]
    print(f"ops {found['ops']} passes {found['passes']}")

    # With it a model compiles and runs; installed, it is found without being named.
    outside.run(f"tilewright compile {os.path.abspath(model)} --plugin {library} -o model --target cpu:avx2 --quiet")
    outside.run(f"tilewright inspect model")
    outside.run(f"cmake --install build --prefix {outside.prefix}", folder)
    print("installed" if "my_gate.maxout" in outside.run("tilewright plugins list") else "not found after installing")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""reserved_names.py ROOT TILEWRIGHT: `plugins new` refuses the name of each library and target tilewright_NAME of the tree."""
import os
import re
import subprocess
import sys

root, tilewright = sys.argv[1:]
names = set()
for top in ("backends", "frontend", "ir", "passes", "plugins/api", "runtime", "tools", "cmake"):
    for parent, _, files in os.walk(os.path.join(root, top)):
        for name in files:
            if name == "CMakeLists.txt" or name.endswith(".cmake"):
                with open(os.path.join(parent, name), encoding="utf-8") as file:
                    names.update(
                        re.findall(r"(?:tilewright_(?:mlir_)?library|add_library|add_custom_target)\(tilewright_([a-z_]+)", file.read())
                    )
for name in sorted(names):
    done = subprocess.run([tilewright, "plugins", "new", name, "--dir", "reserved"], capture_output=True, text=True, check=False)
    if done.returncode != 2 or f"plugin name '{name}': " not in done.stderr:
        sys.exit(f"error: plugins new {name}: exit code {done.returncode}, wanted 2: {done.stderr}")
print(f"{len(names)} names refused")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""search_paths.py BUILD: each RUNPATH entry in bin/ and lib/ of a build folder is absolute or starts at $ORIGIN."""
import os
import re
import subprocess
import sys

count = 0
for top in ("bin", "lib"):
    for parent, _, files in os.walk(os.path.join(sys.argv[1], top)):
        for path in (os.path.join(parent, name) for name in files):
            dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=False).stdout
            for entries in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
                count += 1
                for entry in entries.split(":"):
                    # The loader takes an empty entry for the current folder.
                    if not entry.startswith(("/", "$ORIGIN")):
                        sys.exit(f"error: {path}: search path '{entries}': found entry '{entry}', wanted absolute ones")
print(f"{count} files, all search paths absolute")

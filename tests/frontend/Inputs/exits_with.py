# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""exits_with.py CODE COMMAND...: runs the command; fails unless it ends with that exit code."""
import subprocess
import sys

wanted = int(sys.argv[1])
found = subprocess.run(sys.argv[2:]).returncode
if found != wanted:
    sys.exit(f"exit code: found {found}, wanted {wanted}")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""full_output.py COMMAND...: runs the command with its standard output on a full device, and prints its exit code and what it said."""
import subprocess
import sys

with open("/dev/full", "wb") as full:
    done = subprocess.run(sys.argv[1:], stdout=full, stderr=subprocess.PIPE)
print(f"exit code {done.returncode}: {done.stderr.decode().strip()}")

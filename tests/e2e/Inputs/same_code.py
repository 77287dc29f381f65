# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_code.py ONE.so OTHER.so: exit code 1 unless their .text sections differ by less than 2 %."""
import subprocess
import sys


def text_bytes(path):
    listing = subprocess.run(["llvm-size", "-A", path], check=True, capture_output=True, text=True).stdout
    return next(int(line.split()[1]) for line in listing.splitlines() if line.startswith(".text"))


one, other = map(text_bytes, sys.argv[1:])
print(f"{one} and {other} bytes of code")
sys.exit(0 if abs(one - other) < 0.02 * one else "the lengths differ")

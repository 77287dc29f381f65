# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damage.py IN OUT FIND REPLACE [SKIP]: replaces the first FIND by REPLACE (both with \\x escapes), SKIP bytes after its end."""
import sys

data = bytearray(open(sys.argv[1], "rb").read())
find, replace = (text.encode().decode("unicode_escape").encode("latin-1") for text in sys.argv[3:5])
at = data.find(find)
if at < 0:
    sys.exit(f"{find!r} not found")
if len(sys.argv) > 5:
    at += len(find) + int(sys.argv[5])
data[at : at + len(replace)] = replace
open(sys.argv[2], "wb").write(data)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""in_terminal.py COLUMNS COMMAND...: runs a command with a terminal as its stderr, and prints what the terminal gets, a line for
each line and each time that one is drawn anew ("<" stands for the erasure before). No line that is erased is wider than the terminal.
Ends as the command does."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

columns = int(sys.argv[1])
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
environment = {"TERM": "xterm", **os.environ, "COLUMNS": str(columns)}
process = subprocess.Popen(sys.argv[2:], stderr=theirs, env=environment)
os.close(theirs)
seen = b""
while True:
    try:
        data = os.read(ours, 4096)
    except OSError:  # the other side is closed
        break
    if not data:
        break
    seen += data
drawn = seen.decode().replace("\r\n", "\n").split("\r\x1b[K")
for line in drawn[:-1]:  # the next one has to erase all of it
    assert len(line[line.rfind("\n") + 1 :]) < columns, (columns, line)
print("\n<".join(drawn), end="")
sys.exit(process.wait())

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py COMMAND...: runs the command, interrupts it as Ctrl-C does once it has written some text behind its first line's beginning,
and prints what it said on stderr, then its exit code and the end of that again. Its text must end with a line's end."""
import signal
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
text = process.stdout.read(40)
process.send_signal(signal.SIGINT)
rest, said = process.communicate(timeout=120)
if not (text + rest).endswith(b"\n"):
    sys.exit("the text does not end with a line's end")
print(said.decode())
print(f"exit code {process.returncode}: {said.decode().strip().splitlines()[-1]}")

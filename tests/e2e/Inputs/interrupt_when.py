# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt_when.py SIGNAL PATTERN COMMAND...: runs the command, sends that signal to it, and to nothing that it has started, once there
is a file that the pattern matches, and prints its exit code, or the signal that ended it, when all of them have ended."""
import glob
import signal
import subprocess
import sys
import time

number, pattern = signal.Signals[sys.argv[1]], sys.argv[2]
if number != signal.SIGKILL:
    signal.signal(number, signal.SIG_DFL)  # a runner of tests may ignore it, and what it starts as well
# Whoever holds the pipe's other end lives.
process = subprocess.Popen(sys.argv[3:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
end = time.monotonic() + 120
while not glob.glob(pattern):
    if process.poll() is not None or time.monotonic() > end:
        sys.exit(f"no {pattern}, exit code {process.returncode}: {process.communicate(timeout=1)[0].decode()}")
    time.sleep(0.001)
process.send_signal(number)
said = process.communicate(timeout=60)[0].decode()
print(f"exit code {process.returncode}\n{said}")

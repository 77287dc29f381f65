# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""limited.py BYTES COMMAND...: runs the command with files of so many bytes at most, as on a full disk."""
import os
import resource
import signal
import sys

limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.execvp(sys.argv[2], sys.argv[2:])

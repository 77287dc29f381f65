# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""unprivileged.py PROGRAM ARGUMENTS...: runs a program for which permissions of files hold, also when root runs it."""
import ctypes
import os
import sys

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for whoever has none to drop
os.execv(sys.argv[1], sys.argv[1:])

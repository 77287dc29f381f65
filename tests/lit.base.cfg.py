# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every suite of lit tests has, that of Tilewright itself and those of plugins outside (add_tilewright_plugin_tests).

The site configuration sets tilewright_bin (programs), tilewright_plugins (plugins that are found without being named),
llvm_tools, llvm_lib, and for a plugin outside tilewright_plugin_under_test (its library). RUN lines may use
  %tw-opt %tilewright %check-golden %bin   the tools and their folder      %plugins   the folder of plugins
  %library                                 the library under test          %python    this Python
  FileCheck split-file not mlir-opt ...                                    LLVM's tools
REQUIRES knows plugin-NAME for each plugin, and cpu-avx2, cpu-avx512, cpu-avx512bf16, cpu-amx: what this CPU executes.
"""
import os
import sys

import lit.formats

config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.environment["PATH"] = os.pathsep.join([config.tilewright_bin, config.llvm_tools, os.environ.get("PATH", "")])
# Tests see neither the user's plugins nor the user's cache.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")

libraries = []
if os.path.isdir(config.tilewright_plugins):
    libraries = os.listdir(config.tilewright_plugins)
under_test = getattr(config, "tilewright_plugin_under_test", None)
if under_test:
    config.environment["TILEWRIGHT_PLUGIN_PATH"] = os.path.dirname(under_test)
    config.substitutions.append(("%library", under_test))
    libraries.append(os.path.basename(under_test))
for name in libraries:
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

config.substitutions += [
    ("%tw-opt", os.path.join(config.tilewright_bin, "tw-opt")),
    ("%check-golden", os.path.join(config.tilewright_bin, "check-golden")),
    ("%tilewright", os.path.join(config.tilewright_bin, "tilewright")),
    ("%bin", config.tilewright_bin),
    ("%plugins", config.tilewright_plugins),
    ("%python", sys.executable),
    ("%llvm-lib", config.llvm_lib),
]

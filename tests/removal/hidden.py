#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hidden.py BUILD SCRATCH MODEL: installs the build into SCRATCH and hides each plugin in turn.

With a plugin absent, tw-opt and `tilewright plugins list` work and know all the others. If the graph of MODEL (a GGUF file) needs the
plugin, compiling ends with an error that names it and writes nothing. Otherwise the model compiles and works: its outputs are those of
the io.safetensors beside it, or, where there is none, it writes the text that it writes with all plugins.
"""
import json
import os
import shutil
import subprocess
import sys

build, scratch, model = (os.path.abspath(path) for path in sys.argv[1:4])
prefix = os.path.join(scratch, "prefix")
plugin_folder = os.path.join(prefix, "lib", "tilewright", "plugins")
golden = os.path.join(os.path.dirname(model), "io.safetensors")
compare = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "Inputs", "golden_gguf.py")
environment = {k: v for k, v in os.environ.items() if k not in ("TILEWRIGHT_PLUGIN_PATH", "TILEWRIGHT_WITHOUT_PLUGINS")}


def expect(condition, message):
    if not condition:
        sys.exit(f"error: {message}")


def run(words, codes=(0,)):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, errors="replace")
    wanted = f"{' '.join(words)}: exit code {done.returncode}, wanted {codes}"
    expect(done.returncode in codes, f"{wanted}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done


def tool(name, *arguments, codes=(0,)):
    return run([os.path.join(prefix, "bin", name), *arguments], codes)


def listed():
    return {plugin["name"] for plugin in json.loads(tool("tilewright", "plugins", "list", "--json").stdout)}


texts = []  # what the model wrote, first with all plugins


def expect_works(artifact, when):
    """The compiled model does what it does with all plugins."""
    if os.path.exists(golden):
        run([sys.executable, compare, os.path.join(prefix, "bin", "tilewright"), artifact, golden, os.path.join(scratch, "io"), "5e-4"])
        return
    options = ["--prompt", "The capital of France is", "--max-tokens", "4", "--temperature", "0", "--quiet"]
    texts.append(tool("tilewright", "generate", artifact, *options).stdout)
    expect(texts[-1] == texts[0], f"{when}: the model writes {texts[-1]!r}, wanted {texts[0]!r}")


shutil.rmtree(scratch, ignore_errors=True)
run(["cmake", "--install", build, "--prefix", prefix])
names = sorted(f[len("libtilewright_") : -len(".so")] for f in os.listdir(plugin_folder) if f.endswith(".so") and not f.endswith("_rt.so"))
expect(names, f"no plugins in {plugin_folder}")
expect(listed() == set(names), f"found {sorted(listed())}, wanted {names}")

graph = os.path.join(scratch, "model.twg")
tool("tilewright", "import", model, "-o", graph)
required = json.loads(tool("tilewright", "inspect", graph, "--json", "--weights-dir", os.path.dirname(model)).stdout)["required_plugins"]


def compile(artifact, codes=(0,)):
    options = ["--weights-dir", os.path.dirname(model), "--numerics", "precise", "--target", "cpu:avx2", "--quiet"]
    return tool("tilewright", "compile", graph, "-o", artifact, *options, codes=codes)


# A build that lacks a plugin the model needs can still show that the others are removable.
whole = set(required) <= set(names)
if whole:
    artifact = os.path.join(scratch, "whole")
    compile(artifact)
    expect_works(artifact, "with all plugins")

for name in names:
    hidden = [f for f in os.listdir(plugin_folder) if f in (f"libtilewright_{name}.so", f"libtilewright_{name}_rt.so")]
    for file in hidden:
        os.rename(os.path.join(plugin_folder, file), os.path.join(scratch, file))
    tool("tw-opt", "--show-dialects")
    found = listed()
    expect(found == set(names) - {name}, f"without {name}: found {sorted(found)}, wanted all others of {names}")
    outcome = "the others load"
    artifact = os.path.join(scratch, "without-" + name)
    if name in required:
        error = compile(artifact, codes=(3, 4, 5)).stderr
        expect(name in error, f"without {name}: the error does not name it: {error}")
        expect(not os.path.exists(artifact), f"without {name}: the failed compilation left {artifact}")
        outcome = "the model says that it needs it"
    elif whole:
        compile(artifact)
        expect_works(artifact, f"without {name}")
        shutil.rmtree(artifact)
        outcome = "the model works"
    for file in hidden:
        os.rename(os.path.join(scratch, file), os.path.join(plugin_folder, file))
    print(f"without {name}: {outcome}", flush=True)

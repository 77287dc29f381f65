# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""new_plugin.py ROOT BUILD MODEL.gguf: the first plugin of README.md, outside; then what was installed and built is looked through.

Then the plugin gets a runtime half, as docs/plugins.md has it, and is configured with an LLVM that is not the right one.
"""
import os
import shutil
import sys

from outside import Outside, blocks, fail

HALF = """\
static tw_status create(void *instance, tw_model *model, tw_session *session, const char *options, tw_rt_policy **out,
                        tw_rt_message *message) {
  *out = (tw_rt_policy *)session; // it has nothing of its own
  return TW_OK;
}
static void release(tw_rt_policy *policy) {}
static tw_status draft(tw_rt_policy *policy, const tw_rt_draft_request *request, int32_t *tokens, int64_t *drafted,
                       tw_rt_message *message) {
  *drafted = 0;
  return TW_OK;
}
"""


def add_runtime_half(root, folder):
    """What docs/plugins.md tells: one more source, one more line for CMake, one more word in the note."""
    (text,) = [text for language, text, _ in blocks(os.path.join(root, "docs", "plugins.md")) if language == "c"]
    include, rest = text.split("\n", 1)
    with open(os.path.join(folder, "Half.c"), "w", encoding="utf-8") as file:
        file.write(include + "\n" + HALF + rest)
    with open(os.path.join(folder, "CMakeLists.txt"), "a", encoding="utf-8") as file:
        file.write("add_tilewright_runtime_half(my_gate Half.c)\n")
    path = os.path.join(folder, "Plugin.cpp")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("pass:my-gate-recognise", "pass:my-gate-recognise runtime:my_gate"))


root, build, model = sys.argv[1:4]
with Outside(root, build) as outside:
    shutil.copy(model, os.path.join(outside.home, "model.gguf"))
    print(outside.follow(os.path.join(root, "README.md")), end="")

    outside.expect_closed_headers()
    outside.expect_links()
    outside.expect_no_source_path(outside.prefix)
    folder = os.path.join(outside.home, "my_gate")
    outside.expect_no_source_path(folder)
    for parent, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f != "build"]
        for name in files:
            with open(os.path.join(parent, name), encoding="utf-8") as file:
                text = file.read()
            for left in ("my_technique", "MyTechnique", "my-technique", "MY_TECHNIQUE"):
                if left in text or left in name:
                    fail(f"{os.path.join(parent, name)} still says {left}")
    print("nothing leads back to the source tree")

    add_runtime_half(root, folder)
    print(outside.run("export PATH=~/tilewright/bin:$PATH; cmake --build build && cmake --install build --prefix ~/tilewright", folder))
    print(outside.run("~/tilewright/bin/tilewright plugins check my_gate && ~/tilewright/bin/tilewright plugins list"))

    # An MLIR of another release is found first.
    other = os.path.join(outside.scratch, "other")
    os.mkdir(other)
    with open(os.path.join(other, "MLIRConfig.cmake"), "w", encoding="utf-8") as file:
        file.write("set(LLVM_PACKAGE_VERSION 21.1.0)\nset(LLVM_DIR /elsewhere/cmake/llvm)\n")
    refusal = outside.run(f"PATH=~/tilewright/bin:$PATH cmake -B '{other}/build' -DMLIR_DIR='{other}'", folder, codes=(1,))
    print(" ".join(refusal.split()))

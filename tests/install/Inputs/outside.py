# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tilewright as somebody outside has it: an empty home folder, an installed Tilewright, the source tree out of reach.

The scratch folder lies outside of the repository, so that any path of the repository in what is built there is a fault.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def fail(message):
    sys.exit(f"error: {message}")


def blocks(path):
    """(language, text, line) of each fenced block of a page that names its language."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return [(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)]


class Outside:
    """`home` is an empty folder that vanishes at the end, `prefix` where the pages install Tilewright: ~/tilewright."""

    def __init__(self, root, build):
        self.root, self.build = os.path.realpath(root), os.path.realpath(build)
        self.scratch = tempfile.mkdtemp(prefix="tilewright-outside-")
        self.home = os.path.join(self.scratch, "home")
        self.prefix = os.path.join(self.home, "tilewright")
        os.mkdir(self.home)
        os.chmod(self.scratch, 0o755)
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("TILEWRIGHT_", "CMAKE_", "CXX", "CC"))
        }
        self.environment.update(
            HOME=self.home,
            XDG_CACHE_HOME=os.path.join(self.home, ".cache"),
            PATH="/usr/local/bin:/usr/bin:/bin",
            CMAKE_GENERATOR="Ninja",
        )
        if ccache := shutil.which("ccache"):
            # The scratch folder has another name each time; below it paths are hashed relative to it.
            cache = os.environ.get("CCACHE_DIR") or os.path.join(os.path.expanduser("~"), ".cache", "ccache")
            self.environment.update(
                CCACHE_DIR=cache, CCACHE_BASEDIR=self.scratch, CCACHE_NOHASHDIR="1", CMAKE_CXX_COMPILER_LAUNCHER=ccache
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def run(self, command, folder=None, codes=(0,)):
        """Output of a command, a list of words or a line for bash; what it wrote is shown when its exit code is none of `codes`."""
        words = command if isinstance(command, list) else ["bash", "-euo", "pipefail", "-c", command]
        done = subprocess.run(
            words, cwd=folder or self.home, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
        )
        if done.returncode not in codes:
            fail(f"{command}: exit code {done.returncode}, wanted {codes}\n{done.stdout[-6000:]}")
        return done.stdout

    def follow(self, page):
        """Runs the `sh` blocks of a page in order, in one shell; returns what they say, each line behind its command."""
        script = "".join(text for language, text, _ in blocks(page) if language == "sh")
        # The build is there; what is left of `make install` is the copying.
        script, installs = re.subn(r"^make install PREFIX=(\S+)$", rf"cmake --install '{self.build}' --prefix \1", script, flags=re.M)
        if installs != 1:
            fail(f"{page}: found {installs} lines 'make install PREFIX=...', wanted 1")
        return self.run("set -v\n" + script)

    def expect_no_source_path(self, folder):
        """No file below `folder` (compile commands, dependency files, libraries, ...) knows where the repository lies."""
        needles = [self.root.encode() + b"/", self.build.encode() + b"/"]
        count = 0
        for parent, _, files in os.walk(folder):
            for name in files:
                path = os.path.join(parent, name)
                if os.path.islink(path):
                    continue
                with open(path, "rb") as file:
                    data = file.read()
                count += 1
                for needle in needles:
                    if (at := data.find(needle)) >= 0:
                        fail(f"{path} names the source tree: {data[max(0, at - 80) : at + 120]!r}")
        if count == 0:
            fail(f"no files in {folder}")
        return count

    def expect_closed_headers(self):
        """Each header and ODS file installed includes installed ones only."""
        include = os.path.join(self.prefix, "include", "tilewright")
        own = {name for name in os.listdir(self.root) if os.path.isdir(os.path.join(self.root, name))}
        count = 0
        for parent, _, files in os.walk(include):
            for name in files:
                with open(os.path.join(parent, name), encoding="utf-8") as file:
                    for target in re.findall(r'^\s*#?\s*include\s+"([^"]+)"', file.read(), re.M):
                        if target.split("/")[0] in own and not os.path.exists(os.path.join(include, target)):
                            fail(f"installed header {os.path.join(parent, name)} includes {target}, which is not installed")
                        count += 1
        if count == 0:
            fail(f"no includes found below {include}")

    def expect_links(self):
        """Links among the installed pages lead to pages that are installed."""
        pages = os.path.join(self.prefix, "share", "doc", "tilewright")
        count = 0
        for parent, _, files in os.walk(pages):
            for name in files:
                if not name.endswith(".md"):
                    continue
                with open(os.path.join(parent, name), encoding="utf-8") as file:
                    targets = re.findall(r"\]\(([\w./-]+)\)", re.sub(r"^```.*?^```$", "", file.read(), flags=re.S | re.M))
                for target in targets:
                    path = os.path.normpath(os.path.join(parent, target))
                    if path.startswith(os.path.join(pages, "docs")):
                        count += 1
                        if not os.path.exists(path):
                            fail(f"{os.path.join(parent, name)} names {target}, which is not installed")
        if count == 0:
            fail(f"no links found below {pages}")

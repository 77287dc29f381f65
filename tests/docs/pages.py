# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages that are made of something else: compared with it, or written anew."""
import os
import sys


class Pages:
    """Those of ROOT/docs/FOLDER."""

    def __init__(self, root, folder, update):
        self.root, self.folder, self.update, self.stale = root, folder, update, 0

    def path(self, name=""):
        return os.path.join(self.root, "docs", self.folder, name)

    def settle(self, name, wanted):
        found = None
        if os.path.exists(self.path(name)):
            with open(self.path(name)) as file:
                found = file.read()
        if found == wanted:
            return
        if not self.update:
            self.tell(name, f"{'missing' if found is None else 'stale'}; `make docs` writes it anew")
            return
        os.makedirs(self.path(), exist_ok=True)
        with open(self.path(name), "w") as file:
            file.write(wanted)
        print(f"wrote docs/{self.folder}/{name}")

    def tell(self, name, fault):
        self.stale += 1
        print(f"docs/{self.folder}/{name}: error: {fault}")

    def end(self):
        if not self.update:
            print(f"{self.stale} stale pages")
        sys.exit(1 if self.stale else 0)

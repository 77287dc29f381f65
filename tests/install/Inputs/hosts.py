# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hosts.py ROOT BUILD: the examples of hosts, built as somebody outside builds them, from what is installed alone."""
import os
import re
import sys

from outside import Outside, fail

with Outside(sys.argv[1], sys.argv[2]) as outside:
    outside.run(f"cmake --install '{outside.build}' --prefix ~/tilewright")
    # The command that the example itself names.
    example = f"{outside.prefix}/share/tilewright/examples/two_sessions"
    with open(f"{example}/main.c", encoding="utf-8") as file:
        commands = re.findall(r"^ \*   (cc main\.c .*)\\\n \*(.*)$", file.read(), re.M)
    if len(commands) != 1:
        fail(f"{example}/main.c: found {len(commands)} commands 'cc main.c ...' of two lines, wanted 1")
    print(outside.run(f"""
      export PKG_CONFIG_PATH=~/tilewright/lib/pkgconfig
      cd {example} && {"".join(commands[0])} -Wall -Wextra -Werror
      ./two_sessions no_model 3 a b 2>&1 || echo "exit code $?"
    """))
    print(outside.run("""
      export PATH=~/tilewright/bin:$PATH
      examples=~/tilewright/share/tilewright/examples
      cmake -S $examples/graph_builder -B graph_builder > log && cmake --build graph_builder >> log
      graph_builder/graph_builder next.twg && tilewright inspect next.twg
    """))
    outside.expect_no_source_path(f"{outside.home}/graph_builder")
    # By name, from a folder that has an entry of that name: the installed runtime half is found beside the program.
    if os.path.exists(f"{outside.prefix}/lib/tilewright/plugins/libtilewright_speculative_decoding_rt.so"):
        outside.run("""
          export PATH=~/tilewright/bin:$PATH
          tilewright compile next.twg -o next --quiet
          tilewright generate next --prompt-ids 1,2 --max-tokens 4 --speculate ngram:4
        """)

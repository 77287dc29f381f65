# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""hosts.py ROOT BUILD: the examples of hosts, built as somebody outside builds them, from what is installed alone."""
import sys

from outside import Outside

with Outside(sys.argv[1], sys.argv[2]) as outside:
    outside.run(f"cmake --install '{outside.build}' --prefix ~/tilewright")
    print(outside.run("""
      export PATH=~/tilewright/bin:$PATH PKG_CONFIG_PATH=~/tilewright/lib/pkgconfig
      examples=~/tilewright/share/tilewright/examples
      cc -Wall -Wextra -Werror $examples/two_sessions/main.c $(pkg-config --cflags --libs tilewright) -Wl,-rpath,$HOME/tilewright/lib -o two_sessions
      ./two_sessions no_model 3 a b 2>&1 || echo "exit code $?"
      cmake -S $examples/graph_builder -B graph_builder > log && cmake --build graph_builder >> log
      graph_builder/graph_builder next.twg && tilewright inspect next.twg
    """))
    outside.expect_no_source_path(f"{outside.home}/graph_builder")

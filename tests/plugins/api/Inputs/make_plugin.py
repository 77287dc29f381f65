# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds a plugin library with a fault: the note of a real plugin, edited, and a small entry function.

make_plugin.py OUT --cxx CXX --root ROOT --llvm-lib DIR --from PLUGIN.so [--name N] [--version V] [--requires WORDS]
  [--provides WORDS] [--api N] [--format N] [--magic TEXT] [--llvm V] [--abi TEXT] [--break-struct NAME] [--rename-struct NAME]
  [--short BYTES] [--needs LIBRARY.so]
  [--no-note] [--no-mlir] [--entry FAULT] [--source FILE.cpp] [--exceptions]
"""
import argparse
import os
import struct
import subprocess
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("out")
for option in ("cxx", "root", "llvm-lib", "from"):
    parser.add_argument("--" + option, required=True)
parser.add_argument("--name", default="test_plugin")
parser.add_argument("--version", default="1.0.0")
parser.add_argument("--entry", default="NONE")
parser.add_argument("--source", default=os.path.join(os.path.dirname(__file__), "entry.cpp"))
parser.add_argument("--requires", default="")
parser.add_argument("--provides", default="")
parser.add_argument("--api", type=int)
parser.add_argument("--format", type=int)
parser.add_argument("--magic")
parser.add_argument("--llvm")
parser.add_argument("--abi")
parser.add_argument("--break-struct")
parser.add_argument("--rename-struct")
parser.add_argument("--needs")
parser.add_argument("--short", type=int)
parser.add_argument("--no-note", action="store_true")
parser.add_argument("--no-mlir", action="store_true")
parser.add_argument("--exceptions", action="store_true")
args = parser.parse_args()

# plugins/api/PluginNote.h: the ELF note's head of 24 bytes, then the descriptor.
FIELDS = {"magic": (24, 8), "llvm": (48, 24), "abi": (72, 48), "name": (120, 64), "version": (184, 32), "requires": (216, 512),
          "provides": (728, 2048)}
STRUCTS, STRUCT_BYTES = 2776, 40

with tempfile.TemporaryDirectory() as folder:
    note_file = os.path.join(folder, "note.bin")
    subprocess.run([os.path.join(args.llvm_lib, "../bin/llvm-objcopy"), "--dump-section", ".note.tilewright=" + note_file,
                    getattr(args, "from"), os.path.join(folder, "copy.so")], check=True)
    note = bytearray(open(note_file, "rb").read())

    for field, (offset, size) in FIELDS.items():
        text = getattr(args, field)
        if text is not None:
            note[offset : offset + size] = text.encode().ljust(size, b"\0")
    if args.format is not None:
        note[32:36] = struct.pack("<I", args.format)
    if args.api is not None:
        note[36:40] = struct.pack("<I", args.api)
    if args.break_struct:
        at = note.index(args.break_struct.encode() + b"\0", STRUCTS)
        note[at + 32] ^= 0xFF
    if args.rename_struct:
        at = note.index(args.rename_struct.encode() + b"\0", STRUCTS)
        note[at : at + 32] = b"Renamed".ljust(32, b"\0")
    if args.short is not None:
        note = note[: args.short]
    open(note_file, "wb").write(note)

    sources = [args.source]
    if not args.no_note:
        assembly = os.path.join(folder, "note.s")
        with open(assembly, "w", encoding="utf-8") as file:
            file.write(f'.section .note.tilewright,"aR",@note\n.p2align 3\n.incbin "{note_file}"\n'
                       '.section .note.GNU-stack,"",@progbits\n')
        sources.append(assembly)
    compile = [args.cxx, "-std=c++20", "-fno-rtti", "-fexceptions" if args.exceptions else "-fno-exceptions", "-fPIC", "-I" + args.root,
               "-isystem", os.path.join(args.llvm_lib, "../include"), "-D_GLIBCXX_USE_CXX11_ABI=1"]
    if os.path.basename(args.source) == "entry.cpp":
        # What it registers includes much and is the same for all: it is compiled once per folder.
        something = os.path.join(os.path.dirname(args.out), "something.o")
        if not os.path.exists(something):
            subprocess.run([*compile, "-c", os.path.join(os.path.dirname(args.source), "something.cpp"), "-o", something], check=True)
        sources.append(something)
    command = [*compile, "-shared", f"-DFAULT={args.entry}", f'-DNAME="{args.name}"', f'-DVERSION="{args.version}"',
               f'-DPASS="{args.name.replace("_", "-")}-nothing"', f"-DSHARED_WORD={int('dialect:shared_word' in args.provides)}",
               *sources, "-o", args.out]
    if not args.no_mlir:
        command += ["-Wl,--no-as-needed", "-L" + args.llvm_lib, "-l:libMLIR.so.22.1"]
    if args.needs:
        needed = os.path.join(folder, args.needs)
        subprocess.run([args.cxx, "-shared", "-x", "c", "/dev/null", f"-Wl,-soname,{args.needs}", "-o", needed], check=True)
        command += ["-Wl,--no-as-needed", needed]
    subprocess.run(command, check=True)

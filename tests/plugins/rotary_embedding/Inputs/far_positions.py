# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""far_positions.py FOLDER GOLDEN: golden cases of rotations at positions up to 2^20, where 16-bit types cannot hold positions and f32
angles lose their digits. Queries are 1 in the first of each pair, keys in the second, so that results are cosines and sines."""
import math
import sys

sys.path.insert(0, sys.argv[2])
from scaling import llama3, rates  # noqa: E402
from write import write  # noqa: E402

POSITIONS = [255, 256, 257, 4095, 20000, 131071, 1048575]


def case(name, dim, rate, attributes, layout):
    half = dim // 2
    first = [float(i < half if layout == "half" else i % 2 == 0) for i in range(dim)]
    pair = [i % half if layout == "half" else i // 2 for i in range(dim)]
    queries, keys = [], []
    for position in POSITIONS:
        cosines, sines = [math.cos(position * r) for r in rate], [math.sin(position * r) for r in rate]
        queries += [cosines[p] if one else sines[p] for one, p in zip(first, pair)]
        keys += [-sines[p] if one else cosines[p] for one, p in zip(first, pair)]
    shape = [1, 1, len(POSITIONS), dim]
    write(sys.argv[1], name, "rotary_embedding", {"head_dim": dim, "layout": layout, **attributes},
          {"in.position_ids": ("I64", [1, len(POSITIONS)], POSITIONS), "in.q": ("F32", shape, first * len(POSITIONS)),
           "in.k": ("F32", shape, [1 - one for one in first] * len(POSITIONS)), "out.q": ("F32", shape, queries), "out.k": ("F32", shape, keys)})


for layout in ("half", "interleaved"):
    case("far_" + layout, 128, rates(1e4, 128), {"kind": "default", "base": 10000.0}, layout)
case("far_llama3", 64, llama3(5e5, 64, 32, 1, 4, 8192),
     {"kind": "llama3", "base": 500000.0, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}, "half")

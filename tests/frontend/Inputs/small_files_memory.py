# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""small_files_memory.py FOLDER TILEWRIGHT...: imports files of under 1 KB that ask for much memory, and fails if one is not refused
or takes more than 16 MB beyond what the program takes for a file that does not exist."""
import os
import struct
import sys

folder, tilewright = sys.argv[1], sys.argv[2:]
U64, STRING, ARRAY = 10, 8, 9


def gguf(tensors, entries, rest):
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, entries) + rest + bytes(600)


def key(name, kind):
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind)


def tensor(dims, offset=0):
    return struct.pack("<Q", 1) + b"t" + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims) + struct.pack("<IQ", 0, offset)


FILES = {
    "tensors.gguf": gguf(1 << 61, 0, b""),
    "entries.gguf": gguf(0, 1 << 63, b""),
    "length.gguf": gguf(0, 1, struct.pack("<Q", 1 << 63)),
    "string.gguf": gguf(0, 1, key(b"k", STRING) + struct.pack("<Q", 1 << 40)),
    "array.gguf": gguf(0, 1, key(b"k", ARRAY) + struct.pack("<IQ", U64, 1 << 61)),
    "strings.gguf": gguf(0, 1, key(b"k", ARRAY) + struct.pack("<IQ", STRING, 1 << 40)),
    "product.gguf": gguf(1, 0, tensor([1 << 63, 2])),
    "offset.gguf": gguf(1, 0, tensor([4], (1 << 64) - 32)),
    "header.safetensors": struct.pack("<Q", 1 << 62) + b"{}",
    "long.safetensors": struct.pack("<Q", 99 << 20) + b"{}",
    "shape.safetensors": struct.pack("<Q", 80) + b'{"t":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16]}}'.ljust(80) + bytes(16),
}


def peak(path):
    """The exit code of an import, and the most memory that it took, in KB."""
    arguments = [*tilewright, "import", path, "-o", os.path.join(folder, "out.twg")]
    child = os.posix_spawnp(arguments[0], arguments, os.environ)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss


_, without = peak(os.path.join(folder, "none.gguf"))
for name, data in FILES.items():
    path = os.path.join(folder, name)
    if name.endswith(".safetensors"):
        os.mkdir(path)
        with open(os.path.join(path, "config.json"), "w") as config:
            config.write('{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1,'
                         ' "intermediate_size": 4, "vocab_size": 4, "max_position_embeddings": 8, "rms_norm_eps": 1e-5, "hidden_act": "silu"}')
        target = os.path.join(path, "model.safetensors")
    else:
        target = path
    with open(target, "wb") as out:
        out.write(data)
    code, taken = peak(path)
    if code != 3 or taken - without > 16 << 10:
        sys.exit(f"{name}: exit code {code}, wanted 3; {taken} KB, {without} without a file")
print(f"{len(FILES)} files are refused in little memory")

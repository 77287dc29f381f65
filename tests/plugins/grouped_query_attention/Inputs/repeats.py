# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""repeats.py: prints test functions in which key and value heads are repeated, in the ways in which exporters write it.

Each computes attention twice, with the repeat and with the heads that there are, and compares the two, so that it holds before and
after heads are shared. test_shared_* must end with shared heads only, test_left_* keep their repeat.
"""
import struct


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{d}x" for d in shape) + element + ">"


class Function:
    def __init__(self, name, arguments=()):
        self.name, self.arguments, self.lines, self.count, self.seed = name, arguments, [], 0, sum(map(ord, name))

    def op(self, text):
        self.count += 1
        self.lines.append(f"  %{self.count} = {text}")
        return f"%{self.count}"

    def numbers(self, shape):
        count = 1
        for d in shape:
            count *= d
        data = b""
        for _ in range(count):
            self.seed = (self.seed * 1103515245 + 12345) % 2**31
            data += struct.pack("<f", self.seed / 2**30 - 1)
        return self.op(f'tw.constant dense<"0x{data.hex().upper()}"> : {tensor(shape)}')

    def integers(self, values):
        return self.op(f"tw.constant dense<{list(values)}> : {tensor([len(values)], 'i32')}")

    def reshape(self, x, shape, to):
        return self.op(f"tw.reshape {x} : {tensor(shape)} -> {tensor(to)}")

    def slice(self, x, shape, start, size=1):
        to = [shape[0], size, *shape[2:]]
        return self.op(f"tw.slice {x} dim 1 start {start} size {size} : {tensor(shape)} -> {tensor(to)}"), to

    def concat(self, parts, dim, to):
        return self.op(f"tw.concat dim {dim} {', '.join(p for p, _ in parts)} : {', '.join(tensor(s) for _, s in parts)} -> {tensor(to)}")

    def finish(self, found, wanted, shape):
        print(f"func.func @{self.name}({', '.join(self.arguments)}) {{")
        print("\n".join(self.lines))
        print(f"  check.expect_close {found}, {wanted} {{absolute = 1.0e-06 : f64}} : {tensor(shape)}\n  return\n}}\n")


# Each repeats the heads (dimension 1) of x `times` times: head by head, or, behind `tile`, as a list.
def by_broadcast(f, x, shape, times, tile=False):
    wide = [shape[0], *((times, shape[1]) if tile else (shape[1], times)), *shape[2:]]
    like = f.op(f"tw.constant dense<0.0> : {tensor(wide)}")
    dims = [d for d in range(len(wide)) if d != (1 if tile else 2)]
    wider = f.op(f"tw.broadcast {x} like {like} dims {dims} : {tensor(shape)}, {tensor(wide)} -> {tensor(wide)}")
    return f.reshape(wider, wide, [shape[0], shape[1] * times, *shape[2:]])


def by_concat(f, x, shape, times, tile=False):
    heads = [h % shape[1] if tile else h // times for h in range(shape[1] * times)]
    slices = [f.slice(x, shape, h) for h in range(shape[1])]
    return f.concat([slices[h] for h in heads], 1, [shape[0], len(heads), *shape[2:]])


def by_nested_concat(f, x, shape, times, tile=False):
    """Half of the heads after the other half, each half a concat of its own."""
    heads = [h % shape[1] if tile else h // times for h in range(shape[1] * times)]
    parts = []
    for half in (heads[: len(heads) // 2], heads[len(heads) // 2 :]):
        slices = [f.slice(x, shape, h) for h in half]
        if half:
            parts.append((f.concat(slices, 1, [shape[0], len(half), *shape[2:]]), [shape[0], len(half), *shape[2:]]))
    return f.concat(parts, 1, [shape[0], len(heads), *shape[2:]])


def by_stack(f, x, shape, times, tile=False):
    dim = 1 if tile else 2
    unit = [*shape[:dim], 1, *shape[dim:]]
    wide = [*shape[:dim], times, *shape[dim:]]
    part = (f.reshape(x, shape, unit), unit)
    return f.reshape(f.concat([part] * times, dim, wide), wide, [shape[0], shape[1] * times, *shape[2:]])


def by_gather(f, x, shape, times, tile=False):
    heads = [h % shape[1] if tile else h // times for h in range(shape[1] * times)]
    perm = [1, 0, *range(2, len(shape))]
    first = [shape[1], shape[0], *shape[2:]]
    there = f.op(f"tw.transpose {x} perm {perm} : {tensor(shape)} -> {tensor(first)}")
    ids = f.integers(heads)
    rows = f.op(f"tw.gather {there}, {ids} : {tensor(first)}, {tensor([len(heads)], 'i32')} -> {tensor([len(heads), *first[1:]])}")
    return f.op(f"tw.transpose {rows} perm {perm} : {tensor([len(heads), *first[1:]])} -> {tensor([shape[0], len(heads), *shape[2:]])}")


REPEATS = [by_broadcast, by_concat, by_nested_concat, by_stack, by_gather]
RATIOS = [(9, 3), (28, 4), (12, 1), (8, 8), (6, 3)]


def dense(name, h, kv, repeat, tile=False, values=None):
    f = Function(name)
    q, k, v = f.numbers((2, h, 3, 4)), f.numbers((2, kv, 5, 4)), f.numbers((2, kv, 5, 3))

    def attend(key, value, heads):
        return f.op(f"tw.attention query({q} : {tensor((2, h, 3, 4))}) key({key} : {tensor((2, heads, 5, 4))}) value({value} : {tensor((2, heads, 5, 3))}) "
                    f'{{scale = 0.5 : f64, causal = "end"}} -> {tensor((2, h, 3, 3))}')

    found = attend(repeat(f, k, (2, kv, 5, 4), h // kv, tile), (values or repeat)(f, v, (2, kv, 5, 3), h // kv, tile), h)
    if tile:  # a repeat that is none by groups keeps its meaning: by another repeat in the same order
        wanted = attend(by_gather(f, k, (2, kv, 5, 4), h // kv, tile), by_gather(f, v, (2, kv, 5, 3), h // kv, tile), h)
    else:
        wanted = attend(k, v, kv)
    f.finish(found, wanted, (2, h, 3, 3))


def state_type(heads):
    return f"!tw.state<tensor<?x{heads}x4xf32>, tensor<?x{heads}x3xf32>>"


def layer(name, h, kv, repeat):
    """A function that appends repeated heads to a state and attends; it is called twice a step."""
    f = Function(name)
    N = 3
    f.arguments = [f"%s: {state_type(h)}", f"%q: {tensor((N, h, 4))}", f"%k: {tensor((N, kv, 4))}", f"%v: {tensor((N, kv, 3))}",
                   "%r: tensor<2xi32>", "%l: tensor<1xi32>", f"%p: tensor<{N}xi32>"]
    k, v = repeat(f, "%k", (N, kv, 4), h // kv), repeat(f, "%v", (N, kv, 3), h // kv)
    s = f.op(f"tw.append %s, %r, {k}, {v} : {state_type(h)}, tensor<2xi32>, {tensor((N, h, 4))}, {tensor((N, h, 3))}")
    o = f.op(f"tw.attention query(%q : {tensor((N, h, 4))}) state({s} : {state_type(h)}) row_start(%r : tensor<2xi32>) kv_len(%l : tensor<1xi32>) "
             f'positions(%p : tensor<{N}xi32>) {{scale = 0.5 : f64, causal = "end"}} -> {tensor((N, h, 3))}')
    types = ", ".join(a.split(": ", 1)[1] for a in f.arguments)
    result = f"({tensor((N, h, 3))}, {state_type(h)})"
    print(f"func.func private @{name}({', '.join(f.arguments)}) -> {result} {{")
    print("\n".join(f.lines))
    print(f"  return {o}, {s} : {result[1:-1]}\n}}\n")
    return f"@{name}", types, result


def cached(name, h, kv, repeat):
    """Two layers, two steps, against states that keep the shared heads from the start."""
    callee, types, result = layer(f"layer_{name}", h, kv, repeat)
    f = Function(f"test_shared_cached_{name}", [f"%s0: {state_type(h)}", f"%s1: {state_type(h)}", f"%t0: {state_type(kv)}", f"%t1: {state_type(kv)}"])
    states, shared = ["%s0", "%s1"], ["%t0", "%t1"]
    r = f.integers([0, 3])
    x = f.numbers((3, h, 3))
    found = wanted = x
    for step in range(2):
        l, p = f.integers([3 * step + 3]), f.integers(range(3 * step, 3 * step + 3))
        for n in range(2):
            q, k, v = f.numbers((3, h, 4)), f.numbers((3, kv, 4)), f.numbers((3, kv, 3))
            f.count += 1
            f.lines.append(f"  %{f.count}:2 = call {callee}({states[n]}, {q}, {k}, {v}, {r}, {l}, {p}) : ({types}) -> {result}")
            states[n] = f"%{f.count}#1"
            found = f.op(f"tw.add {found}, %{f.count}#0 : {tensor((3, h, 3))}")
            shared[n] = f.op(f"tw.append {shared[n]}, {r}, {k}, {v} : {state_type(kv)}, tensor<2xi32>, {tensor((3, kv, 4))}, {tensor((3, kv, 3))}")
            o = f.op(f"tw.attention query({q} : {tensor((3, h, 4))}) state({shared[n]} : {state_type(kv)}) row_start({r} : tensor<2xi32>) "
                     f'kv_len({l} : tensor<1xi32>) positions({p} : tensor<3xi32>) {{scale = 0.5 : f64, causal = "end"}} -> {tensor((3, h, 3))}')
            wanted = f.op(f"tw.add {wanted}, {o} : {tensor((3, h, 3))}")
    f.finish(found, wanted, (3, h, 3))


for h, kv in RATIOS:
    for repeat in REPEATS:
        dense(f"test_shared_{h}_{kv}_{repeat.__name__}", h, kv, repeat)
        if kv not in (1, h):
            dense(f"test_left_{h}_{kv}_{repeat.__name__}", h, kv, repeat, tile=True)
dense("test_shared_unlike_forms", 6, 2, by_stack, values=by_gather)
for h, kv in RATIOS[:3]:
    for repeat in REPEATS:
        cached(f"{h}_{kv}_{repeat.__name__}", h, kv, repeat)

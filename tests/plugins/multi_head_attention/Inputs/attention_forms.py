# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attention_forms.py: prints test functions that compute attention twice, in the ways in which exporters write it.

Once with tw.softmax, which the recogniser may raise, once with exponentials and their sum, which it does not see; check.expect_close
holds the two against each other, before and after. Functions named test_raised_* must be raised, test_left_* must not.
"""
import itertools
import struct


class Function:
    """SSA values are (name, shape, element) triples."""

    def __init__(self, name):
        self.lines, self.count, self.name, self.seed = [], 0, name, sum(map(ord, name))

    def op(self, text, shape, element="f32"):
        self.count += 1
        self.lines.append(f"  %{self.count} = {text}")
        return (f"%{self.count}", tuple(shape), element)

    @staticmethod
    def type(value):
        return f"tensor<{''.join(f'{d}x' for d in value[1])}{value[2]}>"

    def numbers(self, shape, spread=1.0):
        count = 1
        for d in shape:
            count *= d
        values = []
        for _ in range(count):
            self.seed = (self.seed * 1103515245 + 12345) % 2**31
            values.append((self.seed / 2**31 - 0.5) * 2 * spread)
        return self.dense(values, shape)

    def dense(self, values, shape):
        data = b"".join(struct.pack("<f", v) for v in values)
        body = f'"0x{data.hex().upper()}"' if len(values) > 1 else f"{values[0]:e}"
        return self.op(f"tw.constant dense<{body}> : {self.type(('', shape, 'f32'))}", shape)

    def booleans(self, rows):
        shape = (len(rows), len(rows[0]))
        body = "[" + ", ".join("[" + ", ".join(str(bool(x)).lower() for x in row) + "]" for row in rows) + "]"
        return self.op(f"tw.constant dense<{body}> : tensor<{shape[0]}x{shape[1]}xi1>", shape, "i1")

    def splat(self, value, shape, element="f32"):
        text = "0xFF800000" if value == float("-inf") else (f"{value:e}" if element == "f32" else str(value).lower())
        return self.op(f"tw.constant dense<{text}> : {self.type(('', shape, element))}", shape, element)

    def binary(self, name, a, b):
        return self.op(f"tw.{name} {a[0]}, {b[0]} : {self.type(a)}", a[1], a[2])

    def scaled(self, x, factor):
        return self.binary("mul", x, self.splat(factor, x[1]))

    def transpose(self, x, perm):
        shape = [x[1][p] for p in perm]
        return self.op(f"tw.transpose {x[0]} perm {list(perm)} : {self.type(x)} -> {self.type(('', shape, x[2]))}", shape, x[2])

    def swap(self, x):
        rank = len(x[1])
        return self.transpose(x, list(range(rank - 2)) + [rank - 1, rank - 2])

    def reshape(self, x, shape):
        return self.op(f"tw.reshape {x[0]} : {self.type(x)} -> {self.type(('', shape, x[2]))}", shape, x[2])

    def broadcast(self, x, shape, dims=None):
        dims = list(range(len(shape) - len(x[1]), len(shape))) if dims is None else dims
        like = self.splat(0.0, shape)
        return self.op(f"tw.broadcast {x[0]} like {like[0]} dims {dims} : {self.type(x)}, {self.type(like)} -> {self.type(('', shape, x[2]))}", shape, x[2])

    def matmul(self, a, b, transposed=False):
        shape = list(a[1][:-1]) + [b[1][-2] if transposed else b[1][-1]]
        attribute = " {transpose_b = true}" if transposed else ""
        return self.op(f"tw.batch_matmul {a[0]}, {b[0]}{attribute} : {self.type(a)}, {self.type(b)} -> {self.type(('', shape, 'f32'))}", shape)

    def select(self, c, a, b):
        return self.op(f"tw.select {c[0]}, {a[0]}, {b[0]} : {self.type(c)}, {self.type(a)}", a[1], a[2])

    def iota(self, shape, dim):
        like = self.splat(0.0, shape)
        return self.op(f"tw.iota {like[0]} dim {dim} : {self.type(like)} -> {self.type(('', shape, 'i32'))}", shape, "i32")

    def cast(self, x, element):
        return self.op(f"tw.cast {x[0]} : {self.type(x)} -> {self.type(('', x[1], element))}", x[1], element)

    def compare(self, kind, a, b):
        return self.op(f'tw.compare "{kind}", {a[0]}, {b[0]} : {self.type(a)} -> {self.type(("", a[1], "i1"))}', a[1], "i1")

    def softmax(self, x, dim=None):
        dim = len(x[1]) - 1 if dim is None else dim
        return self.op(f"tw.softmax {x[0]} dim {dim} : {self.type(x)}", x[1])

    def exponentials(self, x, dim=None):
        """The same by its definition."""
        dim = len(x[1]) - 1 if dim is None else dim
        kept = [d for d in range(len(x[1])) if d != dim]
        e = self.op(f"tw.exp {x[0]} : {self.type(x)}", x[1])
        shape = [x[1][d] for d in kept]
        s = self.op(f'tw.reduce "sum" {e[0]} dims [{dim}] : {self.type(e)} -> {self.type(("", shape, "f32"))}', shape)
        return self.binary("div", e, self.broadcast(s, x[1], kept))

    def finish(self, found, wanted):
        self.lines.append(f"  check.expect_close {found[0]}, {wanted[0]} {{absolute = 2.0e-06 : f64}} : {self.type(found)}")
        print(f"func.func @{self.name}() {{")
        print("\n".join(self.lines))
        print("  return\n}\n")


# How scores are scaled: each takes (q, k, scores) and returns what is multiplied, or the scores.
def scale_scores(f, q, k, product):
    return f.scaled(product(q, k), 0.3)


def scale_queries(f, q, k, product):
    return product(f.scaled(q, 0.3), k)


def scale_keys(f, q, k, product):
    return product(q, f.scaled(k, 0.3))


def scale_root(f, q, k, product):
    scores = product(q, k)
    depth = f.splat(11.0, scores[1])
    root = f.op(f"tw.sqrt {depth[0]} : {f.type(depth)}", depth[1])
    return f.binary("div", scores, root)


def scale_both(f, q, k, product):
    return product(f.scaled(q, 0.55), f.scaled(k, 0.55))


def scale_twice(f, q, k, product):
    return f.scaled(f.scaled(product(f.scaled(q, 0.7), k), 0.6), 0.9)


def scale_none(f, q, k, product):
    return product(q, k)


SCALES = [scale_scores, scale_queries, scale_keys, scale_root, scale_both, scale_twice, scale_none]


# Products of queries [.., T, D] and keys [.., S, D].
def product_transposed(f):
    return lambda q, k: f.matmul(q, k, transposed=True)


def product_op(f):
    return lambda q, k: f.matmul(q, f.swap(k))


def product_swapped(f):
    return lambda q, k: f.swap(f.matmul(k, q, transposed=True))


PRODUCTS = [product_transposed, product_op, product_swapped]


# Masks: each takes scores [.., T, S] and returns masked ones.
def indices(f, scores, kind, offset=0, swap=False):
    """key <kind> query + offset, as a condition [T, S]."""
    shape = scores[1][-2:]
    i, j = f.iota(shape, 0), f.iota(shape, 1)
    if offset:
        i = f.op(f"tw.cast {i[0]} : {f.type(i)} -> {f.type(('', shape, 'f32'))}", shape)
        j = f.op(f"tw.cast {j[0]} : {f.type(j)} -> {f.type(('', shape, 'f32'))}", shape)
        i = f.binary("add", i, f.splat(float(offset), shape))
    return f.compare(kind, i, j) if swap else f.compare(kind, j, i)


def fill(f, condition, scores, hidden=float("-inf"), inverted=False):
    wide = f.broadcast(condition, scores[1]) if condition[1] != scores[1] else condition
    other = f.splat(hidden, scores[1])
    return f.select(wide, other, scores) if inverted else f.select(wide, scores, other)


def mask_none(f, scores):
    return scores


def mask_causal_start(f, scores):
    return fill(f, indices(f, scores, "le"), scores)


def mask_causal_end(f, scores):
    return fill(f, indices(f, scores, "gt", scores[1][-1] - scores[1][-2]), scores, -1e30, inverted=True)


def mask_causal_window(f, scores):
    offset = scores[1][-1] - scores[1][-2]
    inner = fill(f, indices(f, scores, "lt", offset + 1), scores)
    return fill(f, indices(f, inner, "lt", offset - 1), inner, inverted=True)


def mask_off_by_one(f, scores):
    """No causality that attention has by name: stays a mask, and right."""
    return fill(f, indices(f, scores, "le", scores[1][-1] - scores[1][-2] + 1), scores)


def mask_boolean(f, scores):
    rows, columns = scores[1][-2:]
    return fill(f, f.booleans([[(3 * i + j) % 4 != 1 for j in range(columns)] for i in range(rows)]), scores)


def mask_inverted(f, scores):
    rows, columns = scores[1][-2:]
    return fill(f, f.booleans([[(i + 2 * j) % 5 == 1 for j in range(columns)] for i in range(rows)]), scores, inverted=True)


def mask_triangle_constant(f, scores):
    """-inf above the diagonal, as torch.triu makes it, added."""
    rows, columns = scores[1][-2:]
    offset = columns - rows
    plane = f.dense([float("-inf") if j > i + offset else 0.0 for i in range(rows) for j in range(columns)], (rows, columns))
    return f.binary("add", scores, f.broadcast(plane, scores[1]))


def mask_buffer_slice(f, scores):
    """A slice of a square triangle of the greatest length, as GPT-2 keeps it."""
    rows, columns = scores[1][-2:]
    size = max(rows, columns) + 3
    plane = f.booleans([[j <= i for j in range(size)] for i in range(size)])
    plane = f.reshape(plane, (1, 1, size, size))
    start = max(columns - rows, 0)
    plane = f.op(f"tw.slice {plane[0]} dim 2 start {start} size {rows} : {f.type(plane)} -> tensor<1x1x{rows}x{size}xi1>", (1, 1, rows, size), "i1")
    plane = f.op(f"tw.slice {plane[0]} dim 3 start 0 size {columns} : {f.type(plane)} -> tensor<1x1x{rows}x{columns}xi1>", (1, 1, rows, columns), "i1")
    return fill(f, f.reshape(plane, (rows, columns)), scores, -1e9)


def mask_additive_choice(f, scores):
    condition = indices(f, scores, "ge", swap=True)
    plane = f.select(condition, f.splat(0.0, condition[1]), f.splat(-1e30, condition[1]))
    return f.binary("add", f.broadcast(plane, scores[1]), scores)


def mask_one_minus(f, scores):
    rows, columns = scores[1][-2:]
    visible = f.cast(f.booleans([[(2 * i + j) % 3 != 2 for j in range(columns)] for i in range(rows)]), "f32")
    hidden = f.binary("sub", f.splat(1.0, visible[1]), visible)
    return f.binary("add", scores, f.broadcast(f.scaled(hidden, -1e9), scores[1]))


def mask_bias(f, scores):
    return f.binary("add", scores, f.numbers(scores[1], 2.0))


def mask_bias_and_causal(f, scores):
    biased = f.binary("sub", scores, f.broadcast(f.numbers(scores[1][-2:], 2.0), scores[1]))
    return fill(f, indices(f, biased, "le"), biased)


def mask_softcap(f, scores):
    inner = f.binary("div", scores, f.splat(2.0, scores[1]))
    capped = f.op(f"tw.tanh {inner[0]} : {f.type(inner)}", inner[1])
    return mask_causal_end(f, f.scaled(capped, 2.0)) if scores[1][-1] >= scores[1][-2] else f.scaled(capped, 2.0)


def mask_conjunction(f, scores):
    """Two conditions, joined as conditions."""
    causal = indices(f, scores, "le")
    near = indices(f, scores, "gt", -2)
    return fill(f, f.select(causal, near, f.splat(False, causal[1], "i1")), scores)


MASKS = [mask_none, mask_causal_start, mask_causal_end, mask_causal_window, mask_off_by_one, mask_boolean, mask_inverted, mask_triangle_constant,
         mask_buffer_slice, mask_additive_choice, mask_one_minus, mask_bias, mask_bias_and_causal, mask_softcap, mask_conjunction]


# Layouts: each returns q, k, v as they are multiplied and what undoes it.
def layout_heads(f, q, k, v):
    return q, k, v, lambda o: o


def layout_rows(f, q, k, v):
    """[B, T, H, D], transposed."""
    swapped = [f.transpose(f.numbers([x[1][0], x[1][2], x[1][1], x[1][3]]), [0, 2, 1, 3]) for x in (q, k, v)]
    return *swapped, lambda o: f.transpose(o, [0, 2, 1, 3])


def layout_joined(f, q, k, v):
    """[B * H, T, D]."""
    b, h = q[1][:2]
    return *(f.reshape(x, (b * h, *x[1][2:])) for x in (q, k, v)), lambda o: f.reshape(o, (b, h, *o[1][1:]))


def layout_plain(f, q, k, v):
    """One head, no batch."""
    return *(f.numbers(x[1][2:]) for x in (q, k, v)), lambda o: o


def layout_batch(f, q, k, v):
    """[N, T, D] that never had heads."""
    return *(f.numbers((x[1][0] * x[1][1], *x[1][2:])) for x in (q, k, v)), lambda o: o


LAYOUTS = [layout_heads, layout_rows, layout_joined, layout_plain, layout_batch]


def grouped(f, q, k, v, group):
    """K and V repeated for their group of query heads, and joined: [B, Hkv, G, S, D] -> [B, H, S, D]."""
    repeat = lambda x: f.reshape(f.broadcast(x, (*x[1][:2], group, *x[1][2:]), [0, 1, 3, 4]), (x[1][0], x[1][1] * group, *x[1][2:]))
    return q, repeat(k), repeat(v)


def twice(f, build):
    """`build` with either softmax, on the same numbers."""
    seed, values = f.seed, []
    for softmax in (f.softmax, f.exponentials):
        f.seed = seed
        values.append(build(softmax))
    f.finish(*values)


def attend(f, q, k, v, scale, product, mask, softmax):
    scores = mask(f, scale(f, q, k, product(f)))
    return f.matmul(softmax(scores), v)


def case(name, sizes, layout, scale, product, mask, group=1):
    b, h, t, s, d, dv = sizes
    f = Function(name)
    q, k, v = f.numbers((b, h, t, d)), f.numbers((b, h // group, s, d)), f.numbers((b, h // group, s, dv))
    if group > 1:
        q, k, v = grouped(f, q, k, v, group)
    q, k, v, back = layout(f, q, k, v)
    twice(f, lambda softmax: back(attend(f, q, k, v, scale, product, mask, softmax)))


SIZES = [(2, 3, 5, 5, 4, 6), (1, 2, 3, 7, 8, 3), (2, 1, 1, 6, 5, 5), (1, 4, 2, 2, 1, 1)]
turn = itertools.count()
for mask in MASKS:
    for layout in LAYOUTS:
        n = next(turn)
        # Shifted so that every scale and product meets every mask and layout over the grid's turns.
        sizes, scale, product = SIZES[n % len(SIZES)], SCALES[(n * 3 + n // 7) % len(SCALES)], PRODUCTS[(n + n // 5) % len(PRODUCTS)]
        names = "_".join(part.__name__ for part in (mask, layout, scale, product))
        case(f"test_raised_{n}_{names}", sizes, layout, scale, product, mask)
for h, kv in ((9, 3), (28, 4), (12, 1)):
    for mask in (mask_none, mask_causal_end, mask_boolean):
        case(f"test_raised_group_{h}_{kv}_{mask.__name__}", (1, h, 3, 4, 4, 6), layout_heads, scale_scores, product_transposed, mask, group=h // kv)


def five():
    """[B, Hkv, G, T, D] throughout, with a mask of its rank."""
    f = Function("test_raised_five_dimensions")
    q, k, v = f.numbers((2, 3, 2, 4, 5)), f.numbers((2, 3, 4, 5)), f.numbers((2, 3, 4, 6))
    k, v = (f.broadcast(x, (2, 3, 2, *x[1][2:]), [0, 1, 3, 4]) for x in (k, v))
    twice(f, lambda softmax: attend(f, q, k, v, scale_scores, product_transposed, mask_bias, softmax))


def views():
    """Scores [B * H, T, S] become [B, H, T, S] for the bias and go back, the weights are cast on the way."""
    f = Function("test_raised_scores_reshaped")
    q, k, v = f.numbers((6, 4, 5)), f.numbers((6, 7, 5)), f.numbers((6, 7, 3))
    bias = f.numbers((2, 1, 1, 7), 2.0)

    def build(softmax):
        scores = f.reshape(f.matmul(q, k, transposed=True), (2, 3, 4, 7))
        row = f.reshape(bias, (2, 7))
        scores = f.binary("add", scores, f.broadcast(row, (2, 3, 4, 7), [0, 3]))
        return f.matmul(softmax(f.reshape(scores, (6, 4, 7))), v)

    twice(f, build)


def bias_inside_scale():
    """(scores + bias) / 2: the bias is halved too."""
    f = Function("test_raised_bias_inside_scale")
    q, k, v, bias = f.numbers((1, 2, 3, 4)), f.numbers((1, 2, 5, 4)), f.numbers((1, 2, 5, 4)), f.numbers((1, 2, 3, 5))
    twice(f, lambda softmax: f.matmul(softmax(f.scaled(f.binary("add", f.matmul(q, k, transposed=True), bias), 0.5)), v))


def keys_used_elsewhere():
    """The keys are returned as well: attention reads them all the same."""
    f = Function("test_raised_keys_used_elsewhere")
    q, k = f.numbers((1, 2, 3, 4)), f.scaled(f.numbers((1, 2, 5, 4)), 0.5)
    part = f.op(f"tw.slice {k[0]} dim 2 start 0 size 3 : {f.type(k)} -> tensor<1x2x3x4xf32>", (1, 2, 3, 4))
    twice(f, lambda softmax: f.binary("add", f.matmul(softmax(f.matmul(q, k, transposed=True)), k), part))


def sinks(name, build):
    """One more column of scores, one number for each head, that nobody reads behind the softmax."""
    f = Function(name)
    q, k, v, sink = f.numbers((2, 3, 4, 5)), f.numbers((2, 3, 6, 5)), f.numbers((2, 3, 6, 2)), f.numbers((3,), 2.0)
    twice(f, lambda softmax: build(f, q, k, v, sink, softmax))


def joined(f, scores, sink):
    column = f.broadcast(sink, (*scores[1][:-1], 1), [1])
    shape = (*scores[1][:-1], scores[1][-1] + 1)
    return f.op(f"tw.concat dim 3 {scores[0]}, {column[0]} : {f.type(scores)}, {f.type(column)} -> {f.type(('', shape, 'f32'))}", shape)


def without_maximum(f, x):
    shape = x[1][:-1]
    m = f.op(f'tw.reduce "max" {x[0]} dims [{len(shape)}] : {f.type(x)} -> {f.type(("", shape, "f32"))}', shape)
    return f.binary("sub", x, f.broadcast(m, x[1], list(range(len(shape)))))


def cut(f, weights, size):
    shape = (*weights[1][:-1], size)
    return f.op(f"tw.slice {weights[0]} dim 3 start 0 size {size} : {f.type(weights)} -> {f.type(('', shape, 'f32'))}", shape)


def sinks_as_trained(f, q, k, v, sink, softmax):
    scores = mask_causal_end(f, f.scaled(f.matmul(q, k, transposed=True), 0.4))
    return f.matmul(cut(f, softmax(without_maximum(f, joined(f, scores, sink))), 6), v)


def row_maximum(f, q, k, v, sink, softmax):
    return f.matmul(softmax(without_maximum(f, f.scaled(f.matmul(q, k, transposed=True), 0.4))), v)


def sink_column_read(f, q, k, v, sink, softmax):
    wide = f.numbers((2, 3, 7, 2))
    return f.matmul(softmax(joined(f, f.matmul(q, k, transposed=True), sink)), wide)


def maximum_inside_sinks(f, q, k, v, sink, softmax):
    """The row's maximum is taken off the scores alone: against the sink it counts. Adding it as a bias is right."""
    return f.matmul(cut(f, softmax(joined(f, without_maximum(f, f.matmul(q, k, transposed=True)), sink)), 6), v)


sinks("test_raised_sinks", sinks_as_trained)
sinks("test_raised_row_maximum", row_maximum)
sinks("test_raised_maximum_inside_sinks", maximum_inside_sinks)
sinks("test_left_sink_column_read", sink_column_read)


def left(name, build):
    f = Function(f"test_left_{name}")
    q, k, v = f.numbers((1, 2, 3, 4)), f.numbers((1, 2, 3, 4)), f.numbers((1, 2, 3, 4))
    twice(f, lambda softmax: build(f, q, k, v, softmax))


for extra in (five, views, bias_inside_scale, keys_used_elsewhere):
    extra()

left("other_axis", lambda f, q, k, v, s: f.matmul(s(f.matmul(q, k, transposed=True), 2), v))
left("weights_asked_for", lambda f, q, k, v, s: (lambda p: f.binary("add", f.matmul(p, v), f.matmul(p, k)))(s(f.matmul(q, k, transposed=True))))
left("small_fill", lambda f, q, k, v, s: f.matmul(s(fill(f, indices(f, ("", (3, 3), "f32"), "le"), f.matmul(q, k, transposed=True), -1.0)), v))
left("bias_in_softcap", lambda f, q, k, v, s: f.matmul(s((lambda x: f.op(f"tw.tanh {x[0]} : {f.type(x)}", x[1]))(f.binary("add", f.matmul(q, k, transposed=True), f.numbers((1, 2, 3, 3))))), v))
left("two_products", lambda f, q, k, v, s: f.matmul(s(f.binary("add", f.matmul(q, k, transposed=True), f.matmul(q, v, transposed=True))), v))
left("squared_scores", lambda f, q, k, v, s: f.matmul(s((lambda x: f.binary("mul", x, x))(f.matmul(q, k, transposed=True))), v))
left("transposed_weights", lambda f, q, k, v, s: f.matmul(f.swap(s(f.matmul(q, k, transposed=True))), v))
left("negative_behind_mask", lambda f, q, k, v, s: f.matmul(s(f.scaled(f.binary("add", f.matmul(q, k, transposed=True), f.numbers((1, 2, 3, 3))), -0.5)), v))

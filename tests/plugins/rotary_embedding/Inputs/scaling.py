#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scaling.py: functions that hold rotary_embedding.factors against the papers' formulas, written again here in double
precision as rates (the angle of a pair per position), and rotary_embedding.tables at large positions against double
precision; prints how many pairs llama3 leaves, blends and divides."""
import math


def rates(base, dim):
    return [base ** (-2 * i / dim) for i in range(dim // 2)]


def linear(base, dim, factor):
    return [r / factor for r in rates(base, dim)]


def dynamic(base, dim, factor, original, length):
    length = max(length, original)
    return rates(base * (factor * length / original - (factor - 1)) ** (dim / (dim - 2)), dim)


def yarn(base, dim, factor, original, beta_fast=32.0, beta_slow=1.0, truncate=True):
    def correction(rotations):
        return dim * math.log(original / (rotations * 2 * math.pi)) / (2 * math.log(base))

    low, high = correction(beta_fast), correction(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    out = []
    for i, rate in enumerate(rates(base, dim)):
        extrapolated = 1 - min(max((i - low) / (high - low), 0), 1)
        out.append(rate / factor * (1 - extrapolated) + rate * extrapolated)
    return out


def llama3(base, dim, factor, low, high, original):
    out, kept, divided = [], 0, 0
    for rate in rates(base, dim):
        wave = 2 * math.pi / rate
        if wave < original / high:
            out.append(rate)
            kept += 1
        elif wave > original / low:
            out.append(rate / factor)
            divided += 1
        else:
            smooth = (original / wave - low) / (high - low)
            out.append((1 - smooth) * rate / factor + smooth * rate)
    print(f"// llama3 dim {dim}: {kept} as they are, {len(out) - kept - divided} blended, {divided} divided")
    return out


def dense(values):
    return "dense<[" + ", ".join(f"{v:.17e}" for v in values) + "]>"


def function(name, kind, base, dim, attributes, wanted, length=None):
    given = "lengths(%n : tensor<i32>) " if length is not None else ""
    print(f"func.func @test_{name}() {{")
    if given:
        print(f"  %n = tw.constant dense<{length}> : tensor<i32>")
    text = "".join(f", {key} = {value}" for key, value in attributes.items())
    print(f'  %f = rotary_embedding.factors {given}{{kind = "{kind}", base = {float(base)} : f64, rotary_dim = {dim} : i64{text}}} : tensor<{dim // 2}xf64>')
    print(f"  %r = tw.constant {dense(rates(base, dim))} : tensor<{dim // 2}xf64>")
    print(f"  %y = tw.div %r, %f : tensor<{dim // 2}xf64>")
    print(f"  %w = tw.constant {dense(wanted)} : tensor<{dim // 2}xf64>")
    print(f"  %q = tw.div %y, %w : tensor<{dim // 2}xf64>")
    print(f"  %one = tw.constant dense<1.0> : tensor<{dim // 2}xf64>")
    print(f"  check.expect_close %q, %one {{absolute = 1.0e-10 : f64}} : tensor<{dim // 2}xf64>\n  return\n}}")


def f64(value):
    return f"{value:.17e} : f64"


if __name__ == "__main__":
    original = "original_max_position_embeddings"
    function("default", "default", 1e4, 16, {}, rates(1e4, 16))
    function("linear", "linear", 1e4, 16, {"factor": f64(4)}, linear(1e4, 16, 4))
    for length in (0, 1, 63, 64, 65, 200, 100001):
        function(f"dynamic_{length}", "dynamic", 1e4, 16, {"factor": f64(2), original: "64 : i64"}, dynamic(1e4, 16, 2, 64, length), length)
    function("dynamic_one_pair", "dynamic", 1e4, 2, {"factor": f64(2), original: "4 : i64"}, [1.0], 10)
    function("yarn", "yarn", 1e4, 32, {"factor": f64(8), original: "128 : i64"}, yarn(1e4, 32, 8, 128))
    function("yarn_parameters", "yarn", 1e6, 64, {"factor": f64(16), original: "4096 : i64", "beta_fast": f64(16), "beta_slow": f64(2), "truncate": "false"},
             yarn(1e6, 64, 16, 4096, 16, 2, False))
    for dim, factor in ((64, 32), (128, 8)):
        function(f"llama3_{dim}", "llama3", 5e5, dim, {"factor": f64(factor), "low_freq_factor": f64(1), "high_freq_factor": f64(4), original: "8192 : i64"},
                 llama3(5e5, dim, factor, 1, 4, 8192))
    short, long = [1.0, 1.5], [2.0, 8.0]
    longrope = {"short_factor": "array<f64: 1.0, 1.5>", "long_factor": "array<f64: 2.0, 8.0>", original: "16 : i64"}
    for length in (1, 15, 16, 17, 18):
        function(f"longrope_{length}", "longrope", 1e4, 4, longrope, [r / f for r, f in zip(rates(1e4, 4), short if length <= 16 else long)], length)

    # Where bf16 and f16 cannot hold positions any more, and where f32 angles lose their digits.
    positions = [255, 256, 257, 4095, 131071, 1048575]
    angles = [[p * rate for rate in rates(1e4, 128)] for p in positions]
    print("func.func @test_large_positions() {")
    print(f"  %p = tw.constant dense<{positions}> : tensor<6xi32>")
    print("  %c, %s = rotary_embedding.tables %p {dim = 128 : i64} : tensor<6xi32> -> tensor<6x128xf32>")
    for name, function_of in (("c", math.cos), ("s", math.sin)):
        rows = ", ".join("[" + ", ".join(f"{function_of(a):.9e}" for a in row + row) + "]" for row in angles)
        print(f"  %{name}w = tw.constant dense<[{rows}]> : tensor<6x128xf32>")
        print(f"  check.expect_close %{name}, %{name}w {{absolute = 1.0e-06 : f64}} : tensor<6x128xf32>")
    print("  return\n}")

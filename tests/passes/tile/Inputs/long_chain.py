# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""long_chain.py N: a linear map and N elementwise ops behind it."""
import sys

count = int(sys.argv[1])
print('ml_program.global private @w(#ml_program.extern : tensor<32x32xf32>) : tensor<32x32xf32>')
print("func.func @f(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {")
print("  %w = ml_program.global_load_const @w : tensor<32x32xf32>")
print("  %y0 = tw.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>")
for i in range(count):
    print(f"  %y{i + 1} = tw.tanh %y{i} : tensor<?x32xf32>")
print(f"  return %y{count} : tensor<?x32xf32>\n}}")

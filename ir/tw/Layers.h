// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of networks as core ops: for reference lowerings and for what builds graphs. Recognisers raise them to ops of
// the plugins that are loaded.
#pragma once

#include "ir/tw/Build.h"

namespace tilewright::tw {

/// x [..., in] by a weight [out, in], plus a bias [out] unless null -> [..., out].
mlir::Value linear(mlir::ImplicitLocOpBuilder &builder, mlir::Value x, mlir::Value weight, mlir::Value bias = {});

/// x / sqrt(mean(x^2) + epsilon) * weight over the last dimension; weight [E] or null. In f32 or wider, rounded once.
/// Source: Zhang and Sennrich, 2019.
mlir::Value rmsNorm(mlir::ImplicitLocOpBuilder &builder, mlir::Value x, mlir::Value weight, double epsilon);

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimension; weight and bias [E] or null. In f32
/// or wider, rounded once. Source: Ba, Kiros and Hinton, 2016.
mlir::Value layerNorm(mlir::ImplicitLocOpBuilder &builder, mlir::Value x, mlir::Value weight, mlir::Value bias,
                      double epsilon);

/// relu, relu2 (its square), gelu (by erf), gelu_tanh, silu (x * sigmoid(alpha x)), sigmoid or tanh, elementwise, in
/// x's own precision.
mlir::Value activation(mlir::ImplicitLocOpBuilder &builder, llvm::StringRef name, mlir::Value x, double alpha = 1);

/// What a gated unit may have besides its activation; nothing of it by default.
struct GateOptions {
  double alpha = 1;                           ///< of silu
  std::optional<double> limit = std::nullopt; ///< the gate's most; the other is kept within +-limit
  double upOffset = 0;                        ///< added to the other
};

/// activation(gate) * (up + offset), elementwise. In f32 or wider, rounded once.
mlir::Value gatedUnit(mlir::ImplicitLocOpBuilder &builder, llvm::StringRef activation, mlir::Value gate, mlir::Value up,
                      const GateOptions &options = {});

/// [B, T, heads * D] -> [B, heads, T, D]; one of B and T is static.
mlir::Value splitHeads(mlir::ImplicitLocOpBuilder &builder, mlir::Value x, int64_t heads);

/// [B, H, T, D] -> [B, T, H * D]; one of B and T is static.
mlir::Value joinHeads(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);

/// Queries, keys and values, [B, H, T or S, D].
struct Heads {
  mlir::Value query, key, value;
};

/// Queries from x [B, T, E], keys and values from source [B, S, E], by one weight [3E, E] (rows of queries, keys,
/// values) and its bias [3E] or null, in the order that PyTorch packs them.
Heads packedProjections(mlir::ImplicitLocOpBuilder &builder, mlir::Value x, mlir::Value source, mlir::Value weight,
                        mlir::Value bias, int64_t heads);

/// What dense attention may have besides queries, keys and values; nothing of it by default.
struct AttentionOptions {
  mlir::Value mask = {}, bias = {};
  double scale = 1;
  llvm::StringRef causal = "none"; ///< end or start
  std::optional<int64_t> window = std::nullopt;
};

/// tw.attention of query [B, H, T, D] on key [B, Hkv, S, D] and value [B, Hkv, S, Dv] -> [B, H, T, Dv].
mlir::Value attention(mlir::ImplicitLocOpBuilder &builder, mlir::Value query, mlir::Value key, mlir::Value value,
                      const AttentionOptions &options);

} // namespace tilewright::tw

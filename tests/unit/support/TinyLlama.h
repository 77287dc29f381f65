// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Llama-like GGUF file of a few kilobytes, whose parts a test can change before it is written.
#ifndef TILEWRIGHT_TESTS_UNIT_SUPPORT_TINYLLAMA_H
#define TILEWRIGHT_TESTS_UNIT_SUPPORT_TINYLLAMA_H

#include "tests/unit/support/GgufWriter.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <string>
#include <vector>

namespace tilewright::test {

struct TinyTensor {
  std::string name;
  std::vector<uint64_t> dims; ///< in GGUF's order: a row first
  uint32_t type = 0;          ///< 0 f32, 1 f16, 8 Q8_0, 12 Q4_K
};

/// 2 layers, embedding 32, feed-forward 64, 4 heads of 8 on 2 K/V heads, 6 tokens; all tensors f32.
struct TinyLlama {
  std::string architecture = "llama";
  std::map<std::string, uint32_t> integers = {
      {"llama.block_count", 2},          {"llama.embedding_length", 32}, {"llama.feed_forward_length", 64},
      {"llama.attention.head_count", 4}, {"llama.context_length", 128},  {"llama.attention.head_count_kv", 2},
  };
  std::map<std::string, float> floats = {{"llama.attention.layer_norm_rms_epsilon", 1e-5f}};
  std::map<std::string, std::string> strings = {{"tokenizer.ggml.model", "gpt2"}};
  std::vector<std::string> tokens = {"a", "b", "c", "d", "e", "<end>"};
  std::vector<std::pair<std::string, Bytes>> raw; ///< entries as they stand
  std::vector<TinyTensor> tensors;

  TinyLlama() {
    tensors = {{"token_embd.weight", {32, 6}}, {"output_norm.weight", {32}}, {"output.weight", {32, 6}}};
    for (std::string layer : {"blk.0.", "blk.1."}) {
      tensors.push_back({layer + "attn_norm.weight", {32}});
      tensors.push_back({layer + "attn_q.weight", {32, 32}});
      tensors.push_back({layer + "attn_k.weight", {32, 16}});
      tensors.push_back({layer + "attn_v.weight", {32, 16}});
      tensors.push_back({layer + "attn_output.weight", {32, 32}});
      tensors.push_back({layer + "ffn_norm.weight", {32}});
      tensors.push_back({layer + "ffn_gate.weight", {32, 64}});
      tensors.push_back({layer + "ffn_up.weight", {32, 64}});
      tensors.push_back({layer + "ffn_down.weight", {64, 32}});
    }
  }

  TinyTensor &tensor(llvm::StringRef name) {
    return *llvm::find_if(tensors, [&](const TinyTensor &t) { return t.name == name; });
  }
  void remove(llvm::StringRef name) {
    llvm::erase_if(tensors, [&](const TinyTensor &t) { return t.name == name; });
  }

  std::vector<uint8_t> finish() const {
    GgufWriter writer;
    writer.string("general.architecture", architecture);
    for (const auto &[key, value] : integers)
      writer.u32(key, value);
    for (const auto &[key, value] : floats)
      writer.f32(key, value);
    for (const auto &[key, value] : strings)
      writer.string(key, value);
    for (const auto &[key, value] : raw)
      writer.raw(key, value);
    writer.strings("tokenizer.ggml.tokens", tokens);
    for (const TinyTensor &tensor : tensors) {
      uint64_t elements = 1;
      for (uint64_t dim : tensor.dims)
        elements *= dim;
      uint64_t bytes = tensor.type == 0   ? elements * 4
                       : tensor.type == 1 ? elements * 2
                       : tensor.type == 8 ? elements / 32 * 34
                                          : elements / 256 * 292; // Q8_K
      writer.tensor(tensor.name, tensor.dims, tensor.type, bytes);
    }
    return writer.finish();
  }
};

} // namespace tilewright::test

#endif // TILEWRIGHT_TESTS_UNIT_SUPPORT_TINYLLAMA_H

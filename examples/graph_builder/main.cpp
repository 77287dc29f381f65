// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model written from C++, without a model file: it says of each token that the next number follows.
//
//   graph_builder next.twg
//   tilewright inspect next.twg --table
//   tilewright compile next.twg -o next
//   tilewright verify next.twg --artifact next
//
// docs/graph-files.md says what a graph is; the entry function's arguments are those of every language model: a step's
// tokens and positions, which rows belong to which sequence, and the rows whose logits are wanted.
#include "frontend/graph/GraphBuilder.h"

#include <cstdio>

using namespace tilewright;

static bool write(const char *path, const std::vector<uint8_t> &bytes) {
  std::FILE *file = std::fopen(path, "wb");
  if (!file)
    return false;
  bool ok = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && ok;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE.twg\n", argv[0]);
    return 2;
  }
  constexpr int64_t kVocabulary = 64;
  GraphBuilder builder("graph_builder example");
  builder.setName("next number");
  builder.setContextLength(128);
  builder.setVocabularySize(kVocabulary); // or a tokenizer, which has one

  // Weights that are small enough lie in the graph itself; others are named by file, offset, length and hash.
  std::vector<float> embedding(kVocabulary * kVocabulary), output(kVocabulary * kVocabulary);
  for (int64_t token = 0; token < kVocabulary; ++token) {
    embedding[token * kVocabulary + token] = 1.0f;                  // [V, E], a unit vector for each token
    output[(token + 1) % kVocabulary * kVocabulary + token] = 8.0f; // [V, E], row t + 1 looks for the vector of t
  }
  for (auto [name, numbers] : {std::pair("embedding", &embedding), std::pair("output", &output)})
    builder.addInlineWeight(name, Tensor{"f32", {kVocabulary, kVocabulary}},
                            llvm::ArrayRef(reinterpret_cast<const uint8_t *>(numbers->data()), numbers->size() * 4));

  FunctionBuilder &step = builder.addFunction("step");
  ValueId tokens = step.argument("tokens", Tensor{"i32", {"N"}});
  step.argument("positions", Tensor{"i32", {"N"}});
  step.argument("row_start", Tensor{"i32", {"B1"}});
  step.argument("kv_len", Tensor{"i32", {"B"}});
  ValueId rows = step.argument("logit_rows", Tensor{"i32", {"R"}});
  ValueId x = step.op("tw.gather", {step.weight("embedding"), tokens}, Tensor{"f32", {"N", kVocabulary}}, {}, "x");
  ValueId wanted = step.op("tw.gather", {x, rows}, Tensor{"f32", {"R", kVocabulary}}, {}, "wanted");
  ValueId logits =
      step.op("tw.linear", {wanted, step.weight("output")}, Tensor{"f32", {"R", kVocabulary}}, {}, "logits");
  step.results({logits}, {"logits"});
  builder.setEntry("step");

  // The bytes have passed every check that a reader makes.
  llvm::Expected<std::vector<uint8_t>> bytes = builder.finish();
  if (!bytes) {
    std::fprintf(stderr, "%s\n", llvm::toString(bytes.takeError()).c_str());
    return 1;
  }
  if (!write(argv[1], *bytes)) {
    std::perror(argv[1]);
    return 1;
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A host in C++: a text of TARGET, whose tokens DRAFT drafts, both folders of compiled models of one vocabulary. It is
// the text that TARGET writes alone, in fewer steps.
//
//   c++ -std=c++20 -I TILEWRIGHT main.cpp TILEWRIGHT/build/lib/libtilewright.so -o speculative_decoding
//   ./speculative_decoding TARGET DRAFT PROMPT [MAX_DRAFT_TOKENS [MAX_LENGTH]]
//
// TILEWRIGHT is the source tree. The library is found, when the program starts, with -Wl,-rpath,TILEWRIGHT/build/lib.
#include "plugins/speculative_decoding/SpeculativeDecoding.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc < 4 || argc > 6) {
    std::fprintf(stderr, "usage: %s TARGET DRAFT PROMPT [MAX_DRAFT_TOKENS [MAX_LENGTH]]\n", argv[0]);
    return 2;
  }
  tilewright::speculative_decoding::SpeculativeDecoding decoding;
  if (tw_model_load(argv[1], nullptr, &decoding.target) != TW_OK) {
    std::fprintf(stderr, "%s: %s\n", argv[1], tw_last_error());
    return 1;
  }
  decoding.draft = argv[2];
  if (argc > 4)
    decoding.maxDraftTokens = std::atoll(argv[4]);
  if (argc > 5)
    decoding.maxLength = std::atoll(argv[5]);

  std::string text;
  tilewright::GenerateResult result;
  const tilewright::Outcome outcome = speculate(decoding, argv[3], text, result);
  tw_model_release(decoding.target);
  if (!outcome.ok()) {
    std::fprintf(stderr, "%s\n", outcome.message.c_str());
    return 1;
  }
  std::printf("%s\n", text.c_str());
  std::fprintf(stderr, "%lld tokens behind %lld of the prompt; %lld of %lld drafted ones stood; at most %zu a step\n",
               static_cast<long long>(result.tokens.size()), static_cast<long long>(result.promptTokens),
               static_cast<long long>(result.acceptedTokens()), static_cast<long long>(result.draftedTokens()),
               result.draftedAt.size());
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host in C: two texts at a time with one model. Each step takes a request of both sessions, which share its compiled
 * code and read the weights once.
 *
 *   cc main.c -o two_sessions $(pkg-config --cflags --libs tilewright) \
 *     -Wl,-rpath,$(pkg-config --variable=libdir tilewright)
 *   ./two_sessions MODEL_FOLDER TOKENS "The capital of France is" "Water boils at"
 *
 * An installation in PREFIX is found with PKG_CONFIG_PATH=PREFIX/lib/pkgconfig; with the rpath the program finds the
 * library there when it starts. */
#include "runtime/api/tilewright.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { texts = 2, longest = 4096 };

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, tw_last_error());
  return 1;
}

static int32_t largest(const float *logits, int64_t count) {
  int32_t best = 0;
  for (int32_t id = 1; id < count; ++id)
    if (logits[id] > logits[best])
      best = id;
  return best;
}

int main(int argc, char **argv) {
  if (argc != 3 + texts) {
    fprintf(stderr, "usage: %s MODEL_FOLDER TOKENS PROMPT PROMPT\n", argv[0]);
    return 2;
  }
  const int64_t wanted = atoll(argv[2]);
  tw_model_options options = {.size = sizeof options};
  tw_model *model;
  if (tw_model_load(argv[1], &options, &model) != TW_OK)
    return failed(argv[1]);
  const int64_t vocabulary = tw_model_vocab_size(model);

  static int32_t tokens[texts][longest];
  int64_t counts[texts];
  tw_session *sessions[texts];
  float *logits[texts];
  for (int i = 0; i < texts; ++i) {
    const char *prompt = argv[3 + i];
    logits[i] = malloc(sizeof(float) * (size_t)vocabulary);
    if (!logits[i] || wanted < 0 || wanted > longest / 2 ||
        tw_tokenize(model, prompt, strlen(prompt), 1, tokens[i], longest - wanted, &counts[i]) != TW_OK ||
        tw_session_create(model, &sessions[i]) != TW_OK)
      return failed(prompt);
  }

  /* The prompts first, of different lengths; then the token that each has made. */
  int64_t ends[texts], starts[texts] = {0};
  memcpy(ends, counts, sizeof ends);
  for (int64_t made = 0; made < wanted; ++made) {
    tw_step_request requests[texts];
    memset(requests, 0, sizeof requests);
    for (int i = 0; i < texts; ++i) {
      requests[i].size = sizeof requests[i];
      requests[i].session = sessions[i];
      requests[i].tokens = tokens[i] + starts[i];
      requests[i].count = ends[i] - starts[i];
      requests[i].logits = logits[i];
    }
    if (tw_step(model, requests, texts) != TW_OK)
      return failed("step");
    for (int i = 0; i < texts; ++i) {
      starts[i] = ends[i];
      tokens[i][ends[i]++] = largest(logits[i], vocabulary);
    }
  }

  for (int i = 0; i < texts; ++i) {
    static char text[longest * 16];
    size_t length;
    if (tw_detokenize(model, tokens[i] + counts[i], wanted, text, sizeof text, &length) != TW_OK)
      return failed("text");
    printf("%s|%.*s\n", argv[3 + i], (int)length, text);
    tw_session_release(sessions[i]);
    free(logits[i]);
  }
  tw_model_release(model);
  return 0;
}

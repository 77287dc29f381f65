// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A host program in plain C, run by a test.
#include "runtime/api/tilewright.h"

#include <stdlib.h>

/* Greedy continuation: writes `wanted` tokens to `out`. Returns a status; tw_last_error() has its message. */
tw_status greedy(const char *folder, const int32_t *prompt, int64_t count, int32_t *out, int64_t wanted) {
  tw_model_options options = {.size = sizeof options, .threads = 2};
  tw_model *model = NULL;
  tw_session *session = NULL;
  float *logits = NULL;

  tw_status status = tw_model_load(folder, &options, &model);
  if (status == TW_OK)
    status = tw_session_create(model, &session);
  const int64_t vocabulary = tw_model_vocab_size(model);
  if (status == TW_OK && !(logits = malloc(sizeof(float) * (size_t)vocabulary)))
    status = TW_EXHAUSTED;

  for (int64_t made = 0; status == TW_OK && made < wanted; ++made) {
    /* The prompt first, then each new token; without `wanted` rows the last row's logits come back. */
    tw_step_request request = {.size = sizeof request, .session = session, .logits = logits};
    request.tokens = made ? out + made - 1 : prompt;
    request.count = made ? 1 : count;
    status = tw_step(model, &request, 1);
    if (status == TW_OK) {
      int32_t best = 0;
      for (int32_t id = 1; id < vocabulary; ++id)
        if (logits[id] > logits[best])
          best = id;
      out[made] = best;
    }
  }

  free(logits);
  tw_session_release(session);
  tw_model_release(model);
  return status;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtime halves for the tests, one of them good: its policy drafts what the fake model will say, or something else.
// What is wrong with the others is a definition.
#include "runtime/api/runtime_half.h"
#include "tests/unit/runtime/fake/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef HALF_NOTE_NAME
#define HALF_NOTE_NAME TILEWRIGHT_PLUGIN_NAME
#endif
#ifndef HALF_GIVEN
#define HALF_GIVEN 1
#endif
#ifndef HALF_POLICY
#define HALF_POLICY 1
#endif
#ifndef HALF_DRAFT
#define HALF_DRAFT 1
#endif
#ifndef HALF_ENTRY
#define HALF_ENTRY TW_RT_ENTRY
#endif

#ifndef HALF_NOTE_API
#ifndef HALF_POLICIES
#define HALF_POLICIES ""
#endif
TW_RT_NOTE(HALF_NOTE_NAME, "1.2.3", HALF_POLICIES)
#else
__attribute__((section(TW_RT_NOTE_SECTION), used, aligned(8))) const tw_rt_note tilewright_rt_note = {
    sizeof TW_RT_NOTE_OWNER,
    sizeof(((tw_rt_note *)0)->descriptor),
    TW_RT_NOTE_TYPE,
    TW_RT_NOTE_OWNER,
    {TW_RT_NOTE_MAGIC, sizeof(((tw_rt_note *)0)->descriptor), HALF_NOTE_API, HALF_NOTE_NAME, "1.2.3", "", 0}};
#endif

static const tw_rt_host *host;
int attached_models; // read by the tests
char attached_description[4096];

static tw_status attach(const tw_rt_host *given, const char *description, void **instance, tw_rt_message *message) {
#ifdef HALF_REFUSES
  snprintf(message->text, message->capacity, "this model is not to its taste");
  return TW_UNSUPPORTED;
#else
  if (given->size < sizeof *given || given->api_version != TW_RT_API_VERSION)
    return TW_INCOMPATIBLE;
  host = given;
  snprintf(attached_description, sizeof attached_description, "%s", description);
  ++attached_models;
  *instance = &attached_models;
  return TW_OK;
#endif
}

static void detach(void *instance) { --*(int *)instance; }

struct tw_rt_policy {
  char kind[16]; // "right", "wrong", "mixed", "none", "heads"
  int64_t drafts;
};

static tw_status create(void *instance, tw_model *model, tw_session *session, const char *options, tw_rt_policy **out,
                        tw_rt_message *message) {
  if (instance != &attached_models || host->session_length(session) != 0 || host->model_vocab_size(model) != FAKE_VOCAB)
    return TW_INTERNAL;
  if (strlen(options) >= sizeof(*out)->kind || !*options) {
    snprintf(message->text, message->capacity, "unknown kind '%s'", options);
    return TW_INVALID;
  }
  *out = calloc(1, sizeof **out);
  strcpy((*out)->kind, options);
  return TW_OK;
}

static tw_status draft(tw_rt_policy *policy, const tw_rt_draft_request *request, int32_t *tokens, int64_t *drafted,
                       tw_rt_message *message) {
  const int64_t capacity = request->capacity, history_count = request->history_count;
  if (!strcmp(policy->kind, "gives up")) {
    snprintf(message->text, message->capacity, "had enough after %lld tokens", (long long)history_count);
    return TW_EXHAUSTED;
  }
  if (!strcmp(policy->kind, "fails"))
    return TW_EXHAUSTED;
  if (!strcmp(policy->kind, "too many")) {
    *drafted = capacity + 1;
    return TW_OK;
  }
  if (!strcmp(policy->kind, "outside")) {
    *drafted = capacity ? 1 : 0;
    if (capacity)
      tokens[0] = FAKE_VOCAB;
    return TW_OK;
  }
  if (!strcmp(policy->kind, "heads")) { // the best token of the first output's row
    *drafted = capacity ? 1 : 0;
    for (int v = 0; v < FAKE_VOCAB && capacity; ++v)
      if (request->outputs[0][v] == 1)
        tokens[0] = v;
    return TW_OK;
  }
  int token = request->history[history_count - 1];
  int64_t count = strcmp(policy->kind, "none") ? capacity : 0;
  if (!strcmp(policy->kind, "mixed"))
    count = capacity < policy->drafts % 5 ? capacity : policy->drafts % 5;
  for (int64_t i = 0; i < count; ++i) {
    token = fake_next_token(token, (int)(history_count - 1 + i));
    // mixed: wrong at each place in turn, the last one among them
    const int wrong = !strcmp(policy->kind, "wrong") || (!strcmp(policy->kind, "mixed") && i == policy->drafts % 7);
    tokens[i] = wrong ? (token + 1) % 200 : token;
  }
  ++policy->drafts;
  *drafted = count;
  return TW_OK;
}

#ifdef HALF_OUTPUT
static const char *const *outputs(tw_rt_policy *policy, int64_t *count) {
  static const char *const names[] = {HALF_OUTPUT};
  *count = 1;
  return names;
}
#endif

#ifdef HALF_VERIFIES
// The rule of the host, by the host's functions; "greedy" needs none of them.
static tw_status verify(tw_rt_policy *policy, const tw_rt_verdict_request *r, int64_t *accepted, int32_t *next,
                        tw_rt_message *message) {
  (void)message;
  int32_t text[4096];
  if (!strcmp(policy->kind, "too far")) {
    *accepted = r->drafted + 1;
    *next = 0;
    return TW_OK;
  }
  memcpy(text, r->history, (size_t)r->history_count * sizeof *text);
  for (int64_t i = 0;; ++i) {
    const float *row = r->logits + i * r->row;
    const tw_rt_choice *choices;
    int64_t count;
    tw_status status = r->sampler->distribution(r->sampler->data, row, text, r->history_count + i, &choices, &count);
    if (status)
      return status;
    const double u = r->sampler->uniform(r->sampler->data);
    double before = 0;
    int64_t place = 0;
    while (place + 1 < count && (before += choices[place].probability) <= u)
      ++place;
    *next = choices[place].id;
    *accepted = i;
    if (i == r->drafted || *next != r->draft[i])
      return TW_OK;
    text[r->history_count + i] = *next;
  }
}
#endif

static void release(tw_rt_policy *policy) { free(policy); }

const tw_rt_half *HALF_ENTRY(void);
const tw_rt_half *HALF_ENTRY(void) {
  static const tw_rt_half half = {
#ifdef HALF_SHORT
      .size = 24,
#else
      .size = sizeof(tw_rt_half),
#endif
      .api_version = TW_RT_API_VERSION,
#ifdef HALF_TABLE_NAME
      .name = HALF_TABLE_NAME,
#else
      .name = HALF_NOTE_NAME,
#endif
      .version = "1.2.3",
      .attach = attach,
      .detach = detach,
      .policy_create = HALF_POLICY ? create : 0,
      .policy_release = HALF_POLICY ? release : 0,
      .policy_draft = HALF_DRAFT ? draft : 0,
#ifdef HALF_VERIFIES
      .policy_verify = verify,
#endif
#ifdef HALF_OUTPUT
      .policy_outputs = outputs,
#endif
  };
  return HALF_GIVEN ? &half : 0;
}

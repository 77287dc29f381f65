/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime half of a plugin: libtilewright_<name>_rt.so, with this C interface and without LLVM. It carries a note,
 * which is read and checked before any of its code runs, and exports one entry function. Structs are size-first and
 * append-only within an API version. A half is loaded when an artifact needs it, or when somebody asks for its policy;
 * it is never unloaded. The host's functions may be called from any function of the half, but not from threads of its
 * own. */
#ifndef TILEWRIGHT_RUNTIME_API_RUNTIME_HALF_H
#define TILEWRIGHT_RUNTIME_API_RUNTIME_HALF_H

#include "runtime/api/tilewright.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TW_RT_API_VERSION 1
#define TW_RT_ENTRY tilewrightRuntimeHalf
#define TW_RT_NOTE_SECTION ".note.tilewright_rt"
#define TW_RT_NOTE_OWNER "Tilewright"
#define TW_RT_NOTE_TYPE 2
#define TW_RT_NOTE_MAGIC {'T', 'W', 'R', 'T', 'H', 'A', 'L', 'F'}

/* An ELF note as it stands in the file. Texts end with a zero byte. */
typedef struct tw_rt_note {
  uint32_t owner_bytes;
  uint32_t descriptor_bytes;
  uint32_t type;
  char owner[12];
  struct {
    char magic[8];
    uint32_t size; /* of this descriptor */
    uint32_t api_version;
    char name[64]; /* the plugin's */
    char version[32];
    char policies[128]; /* names of the policies that it has, separated by spaces */
    uint64_t sources; /* hash of what the half is built from; 0, or a descriptor that ends before it: it is not said */
  } descriptor;
} tw_rt_note;

/* What add_tilewright_runtime_half computes. It is of the sources, not of the file: the same half is made by another
 * compiler, but not from other code under the same version. */
#ifndef TILEWRIGHT_RUNTIME_HALF_SOURCES
#define TILEWRIGHT_RUNTIME_HALF_SOURCES 0
#endif

/* One line in one source file of the half; POLICIES is "" for a half that has none. */
#define TW_RT_NOTE(NAME, VERSION, POLICIES)                                                                            \
  __attribute__((section(TW_RT_NOTE_SECTION), used, aligned(8)))                                                       \
  const tw_rt_note tilewright_rt_note = {sizeof TW_RT_NOTE_OWNER,                                                      \
                                         sizeof(((tw_rt_note *)0)->descriptor),                                        \
                                         TW_RT_NOTE_TYPE,                                                              \
                                         TW_RT_NOTE_OWNER,                                                             \
                                         {TW_RT_NOTE_MAGIC, sizeof(((tw_rt_note *)0)->descriptor), TW_RT_API_VERSION,  \
                                          NAME, VERSION, POLICIES, TILEWRIGHT_RUNTIME_HALF_SOURCES}};

/* What the host gives: the C interface of tilewright.h, so that a half links with nothing. A draft model, for example,
 * is a model of its own with sessions of its own. */
typedef struct tw_rt_host {
  size_t size;
  uint32_t api_version;
  const char *(*last_error)(void);
  tw_status (*model_load)(const char *folder, const tw_model_options *options, tw_model **out);
  void (*model_release)(tw_model *model);
  int64_t (*model_vocab_size)(const tw_model *model);
  int64_t (*model_context)(const tw_model *model);
  const char *(*model_describe)(const tw_model *model);
  tw_status (*session_create)(tw_model *model, tw_session **out);
  void (*session_release)(tw_session *session);
  int64_t (*session_length)(const tw_session *session);
  tw_status (*session_truncate)(tw_session *session, int64_t length);
  tw_status (*step)(tw_model *model, const tw_step_request *requests, int64_t count);
  tw_status (*tokenize)(const tw_model *model, const char *text, size_t length, int32_t parse_special, int32_t *ids,
                        int64_t capacity, int64_t *count);
  tw_status (*detokenize)(const tw_model *model, const int32_t *ids, int64_t count, char *text, size_t capacity,
                          size_t *length);
  tw_status (*token_text)(const tw_model *model, int32_t id, char *text, size_t capacity, size_t *length);
  int64_t (*model_output_count)(const tw_model *model);
  const char *(*model_output_name)(const tw_model *model, int64_t index);
  int64_t (*model_output_size)(const tw_model *model, const char *name);
  tw_status (*session_set_rollback)(tw_session *session, int64_t tokens);
} tw_rt_host;

/* Why a function of the half failed; filled up to `capacity` with a zero byte at the end. */
typedef struct tw_rt_message {
  size_t capacity;
  char *text;
} tw_rt_message;

/* One text that is being generated, as the half sees it. */
typedef struct tw_rt_policy tw_rt_policy;

/* A token and how probable it is. */
typedef struct tw_rt_choice {
  int32_t id;
  double probability;
} tw_rt_choice;

/* The sampler of a text, with the user's settings; belongs to the call. */
typedef struct tw_rt_sampler {
  size_t size;
  void *data;
  int64_t choices; /* the first numbers of a row that may be chosen; rows are as long at least */
  /* One token from a row, as without a policy. */
  tw_status (*sample)(void *data, const float *row, const int32_t *history, int64_t history_count, int32_t *id);
  /* What it would choose from: [*count] by ascending id, without what its filters drop; one token when it is greedy.
   * Valid until the next call of sample or distribution. */
  tw_status (*distribution)(void *data, const float *row, const int32_t *history, int64_t history_count,
                            const tw_rt_choice **choices, int64_t *count);
  /* The next number of its sequence, in [0, 1). */
  double (*uniform)(void *data);
} tw_rt_sampler;

/* Tokens are wanted that may follow a text. */
typedef struct tw_rt_draft_request {
  size_t size;
  const int32_t *history; /* [history_count] prompt and text so far */
  int64_t history_count;
  int64_t capacity; /* tokens at most */
  const tw_rt_sampler *sampler;
  /* [those that policy_outputs names] a row of each, of the row whose logits gave the history's last token. */
  const float *const *outputs;
} tw_rt_draft_request;

/* Tokens that were drafted, with the model's logits, to be judged. */
typedef struct tw_rt_verdict_request {
  size_t size;
  const int32_t *history; /* [history_count] as they were drafted for */
  int64_t history_count;
  const int32_t *draft; /* [drafted] */
  int64_t drafted;
  const float *logits; /* [drafted + 1][row]: row i follows the history and i drafted tokens */
  int64_t row;
  const tw_rt_sampler *sampler;
} tw_rt_verdict_request;

/* What the entry function returns; static storage. */
typedef struct tw_rt_half {
  size_t size; /* sizeof(tw_rt_half) */
  uint32_t api_version;
  const char *name; /* as in the note */
  const char *version;

  /* Before the first step of a model: its description (JSON, as tw_model_describe) may be refused. May be NULL. */
  tw_status (*attach)(const tw_rt_host *host, const char *description, void **instance, tw_rt_message *message);
  void (*detach)(void *instance);

  /* A policy drafts tokens and judges them. NULL: the half has none. `options` are the user's words: one of the
   * note's policies and, from the first ':' or ',' on, what the policy makes of them. Model and session outlive the
   * policy; the session holds the text up to the last token, and the policy leaves it alone. */
  tw_status (*policy_create)(void *instance, tw_model *model, tw_session *session, const char *options,
                             tw_rt_policy **out, tw_rt_message *message);
  void (*policy_release)(tw_rt_policy *policy);
  /* At most request->capacity tokens that may follow the history; 0 is legal. */
  tw_status (*policy_draft)(tw_rt_policy *policy, const tw_rt_draft_request *request, int32_t *draft, int64_t *drafted,
                            tw_rt_message *message);
  /* How many of the drafted tokens stand, and the token behind them. NULL: a drafted token stands if sampling gives
   * just it, so that the text is the one without a policy. */
  tw_status (*policy_verify)(tw_rt_policy *policy, const tw_rt_verdict_request *request, int64_t *accepted,
                             int32_t *next, tw_rt_message *message);
  /* Outputs of the model that policy_draft wants: [*count] names that it has, valid as long as the policy. May be NULL.
   */
  const char *const *(*policy_outputs)(tw_rt_policy *policy, int64_t *count);
} tw_rt_half;

/* const tw_rt_half *tilewrightRuntimeHalf(void); */
typedef const tw_rt_half *(*tw_rt_entry)(void);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tilewright's runtime: C interface. Nothing aborts, nothing throws across it. Structs are size-first and append-only
 * within a major version. A model is immutable and shared by any number of threads; a session belongs to one thread at
 * a time (tw_cancel alone may be called from any thread). */
#ifndef TILEWRIGHT_RUNTIME_API_TILEWRIGHT_H
#define TILEWRIGHT_RUNTIME_API_TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/api/tilewright_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_model tw_model;
typedef struct tw_session tw_session;

typedef enum tw_log_level { TW_LOG_ERROR = 0, TW_LOG_WARNING = 1, TW_LOG_INFO = 2, TW_LOG_DEBUG = 3 } tw_log_level;
typedef void (*tw_log_callback)(void *user, tw_log_level level, const char *message);

/* Where work runs: a host may supply its own; NULL members mean the runtime's own TBB arena of `threads`. `run` calls
 * body(body_data) from up to `concurrency` threads, the calling one among them, and returns when all calls returned. */
typedef struct tw_executor {
  size_t size;
  void *user;
  int32_t concurrency;
  void (*run)(void *user, void (*body)(void *body_data), void *body_data);
} tw_executor;

typedef struct tw_model_options {
  size_t size;           /* sizeof(tw_model_options) */
  int32_t threads;       /* 0: all of this process's CPUs */
  int32_t context;       /* tokens a session may hold; 0: the model's own */
  const char *level;     /* NULL: the best level this CPU has; else "avx2", ... */
  int32_t check_weights; /* 1: verify the packed weights' hashes at load */
  int32_t huge_pages;    /* 1: read the weights into huge pages instead of mapping them */
  uint64_t memory_limit; /* bytes of caches and arenas; 0: none */
  const tw_executor *executor;
  tw_log_callback log; /* NULL: stderr. TILEWRIGHT_LOG=error|warning|info|debug sets the level (default: warning) */
  void *log_user;
  int32_t max_rows; /* rows of one compiled step, a longer prompt takes several; 0: 512 */
  const char
      *kv_type; /* what the K/V caches hold: "f32" or "bf16" (numerics fast only); NULL: the artifact's own, f32 */
  /* File to write what each thread does to while the model lives, as Perfetto reads it; NULL: none. */
  const char *trace;
} tw_model_options;

/* Message of the last failed call on this thread; never NULL, valid until the next call fails on this thread. */
const char *tw_last_error(void);
const char *tw_version(void);

/* options may be NULL. *out is NULL on failure. */
tw_status tw_model_load(const char *folder, const tw_model_options *options, tw_model **out);
/* Its sessions stay usable until they are released themselves. NULL does nothing. */
void tw_model_release(tw_model *model);
/* Questions answer -1 (or NULL) to NULL. */
int64_t tw_model_vocab_size(const tw_model *model);
int64_t tw_model_context(const tw_model *model);
/* JSON description of the loaded artifact (manifest, level chosen, kernels); valid as long as the model. */
const char *tw_model_describe(const tw_model *model);

/* How a model's sessions work: they grow step by step; each step is a whole sequence, of which nothing is kept; or they
 * grow behind a source that tw_encode has read. */
typedef enum tw_model_kind { TW_MODEL_DECODER = 0, TW_MODEL_ENCODER = 1, TW_MODEL_ENCODER_DECODER = 2 } tw_model_kind;
tw_model_kind tw_model_kind_of(const tw_model *model); /* DECODER of NULL */
int32_t tw_model_has_logits(const tw_model *model);    /* 0: its steps give outputs alone, or NULL */

/* Inputs of rows besides tokens and positions, by name (token types): a step that does not give one has zeros. */
int64_t tw_model_input_count(const tw_model *model);
const char *tw_model_input_name(const tw_model *model, int64_t index); /* as long as the model; NULL: no such index */

/* What steps of the model give besides logits, by name: hidden states, prediction heads. Shapes are in the description.
 */
int64_t tw_model_output_count(const tw_model *model);
const char *tw_model_output_name(const tw_model *model, int64_t index); /* as long as the model; NULL: no such index */
int64_t tw_model_output_size(const tw_model *model, const char *name);  /* numbers of a row; -1: no such output */

/* Bytes: packed weights (mapped or read), caches in use, arenas held, and the most of caches and arenas so far. */
typedef struct tw_memory {
  size_t size; /* sizeof(tw_memory) */
  uint64_t weights;
  uint64_t caches;
  uint64_t arenas;
  uint64_t peak;
} tw_memory;
tw_status tw_model_memory(const tw_model *model, tw_memory *out);

tw_status tw_session_create(tw_model *model, tw_session **out);
void tw_session_release(tw_session *session);
int64_t tw_session_length(const tw_session *session);        /* tokens in the cache */
int64_t tw_session_source_length(const tw_session *session); /* tokens of its source */
/* Keeps the first `length` tokens, and the source. Of an encoder's sessions only none can be kept. A model whose rows
 * see a window of tokens gives up those that no later step reads: INVALID, and nothing changes, where a shorter text
 * would read some of them. None can always be kept, and all but the last tokens that tw_session_set_rollback names. */
tw_status tw_session_truncate(tw_session *session, int64_t length);
/* How many tokens can be taken back behind each later step: 1 in a new session. Who drafts tokens, and drops those that
 * do not stand, wants as many as are drafted. With a window of w tokens and r of these, the last w + r - 1 tokens are
 * kept between steps, in at most ceil((w + r - 1) / 64) + 1 pages of 64 tokens. INVALID below 0. */
tw_status tw_session_set_rollback(tw_session *session, int64_t tokens);
/* `session` becomes what `from` is, of the same model: its tokens and its source. The two share memory until one of
 * them goes on. Not while either is in a step. */
tw_status tw_session_assign(tw_session *session, const tw_session *from);
/* Legal from any thread: the running (or next) step returns CANCELLED and leaves the session as before that step. */
tw_status tw_cancel(tw_session *session);

/* An output of the model that a step is to fill. */
typedef struct tw_output {
  size_t size; /* sizeof(tw_output), the same in all outputs of a request */
  const char *name;
  float *values; /* [wanted_count or 1][its numbers]; may be NULL when no row is wanted */
} tw_output;

/* An input of rows that a request gives. */
typedef struct tw_input {
  size_t size; /* sizeof(tw_input), the same in all inputs of a request */
  const char *name;
  const int32_t *values; /* [count] */
} tw_input;

/* Appends tokens to each session and computes logits for wanted rows. Requests of one call share compiled steps; their
 * sessions differ. A failed step leaves every session unchanged (and the logits unspecified). No requests: nothing to
 * do. */
typedef struct tw_step_request {
  size_t size; /* sizeof(tw_step_request), the same in all requests of a call */
  tw_session *session;
  const int32_t *tokens; /* [count], each below the vocabulary's size */
  int64_t count;         /* at least 1 */
  const int64_t *wanted; /* row numbers within this request, ascending; NULL: the last row only */
  int64_t wanted_count;  /* 0 with wanted not NULL: no logits */
  float *logits;         /* [wanted_count or 1][vocab], filled; may be NULL when no row is wanted */
  /* [count] what the model takes for each token's position, 0 to the model's own context - 1; NULL: they continue the
   * session's length. Which tokens a row sees is decided by their order in the session, whatever their positions. */
  const int32_t *positions;
  const tw_output
      *outputs; /* [output_count] for the wanted rows, besides their logits; what only others need is not done */
  int64_t output_count;
  const tw_input *inputs; /* [input_count] */
  int64_t input_count;
} tw_step_request;
/* A session that grows past the model's reread_length, or goes on below it again, is read from its first token within
 * the step (docs/runtime.md). An encoder's request is a whole sequence: its session holds no tokens before. An
 * encoder-decoder's session has read a source. INVALID otherwise. */
tw_status tw_step(tw_model *model, const tw_step_request *requests, int64_t count);

/* Reads each session's source, which its steps then see; the session holds no tokens afterwards. A failed call leaves
 * every session unchanged. UNSUPPORTED for a model that is no encoder-decoder. */
typedef struct tw_encode_request {
  size_t size; /* sizeof(tw_encode_request), the same in all requests of a call */
  tw_session *session;
  const int32_t *tokens;  /* [count], each below the vocabulary's size */
  int64_t count;          /* at least 1, at most the context */
  const tw_input *inputs; /* [input_count] */
  int64_t input_count;
} tw_encode_request;
tw_status tw_encode(tw_model *model, const tw_encode_request *requests, int64_t count);

/* Text. Buffers are filled up to `capacity`; *count or *length is what is needed, EXHAUSTED when it is more.
 * parse_special 1: the text is a prompt, or what an encoder reads: special tokens are read from it, and what the model
 * wants before it stands there (the begin token), for an encoder also what it wants behind it; 0: it is a user's text,
 * nothing in it is special. Text is bytes, without an end mark. NOT_FOUND: no tokenizer inside. */
tw_status tw_tokenize(const tw_model *model, const char *text, size_t length, int32_t parse_special, int32_t *ids,
                      int64_t capacity, int64_t *count);
tw_status tw_detokenize(const tw_model *model, const int32_t *ids, int64_t count, char *text, size_t capacity,
                        size_t *length);
/* The spelling of one token in the vocabulary, control tokens included. INVALID: no token has this id. */
tw_status tw_token_text(const tw_model *model, int32_t id, char *text, size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif
#endif

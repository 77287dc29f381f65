/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers of the fake model that its code and the tests share. */
#ifndef TILEWRIGHT_TESTS_FAKE_MODEL_H
#define TILEWRIGHT_TESTS_FAKE_MODEL_H

enum {
  FAKE_LAYERS = 2,
  FAKE_HEADS = 2,
  FAKE_DIM = 4,
  FAKE_VOCAB = 300,
  FAKE_CONTEXT = 2000,
  FAKE_TOKEN_FAULT = 290,     /* the step returns 5 */
  FAKE_TOKEN_SLOW = 291,      /* the step takes minutes */
  FAKE_TOKEN_BAD_PHASE = 292, /* the step asks for -1 chunks */
  FAKE_ARENA_PER_ROW = 12,
  FAKE_ARENA_PER_LOGIT_ROW = 4,
  FAKE_ARENA_CONSTANT = 128,
  FAKE_REREAD_LENGTH = 100, /* with FAKE_REREAD: rows of longer sequences count as one position further */
  FAKE_MARKS = 6            /* numbers of the first output, [2, 3] */
};

/* The first output's i-th number in the row of `token` at `position`. */
static inline float fake_mark(int token, int position, int i) { return (float)(token * 100 + position * 10 + i); }

/* The token with the highest logit after `token` at `position`; never one of the special ones. */
static inline int fake_next_token(int token, int position) { return (token * 13 + position * 5 + 1) % 256; }

#endif

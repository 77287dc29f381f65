// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stand-in for compiled code: small enough to be computed again by a test, yet it goes through phases, K/V pages,
// attention tiles, the arena and the weights as compiled code does. All sums are of small whole numbers, hence exact.
#include "tests/unit/runtime/fake/model.h"
#include "runtime/api/abi.h"

#include <string.h>
#include <time.h>

#ifndef FAKE_WINDOW_BUILT
#define FAKE_WINDOW_BUILT 0
#endif

static int key_value(int token, int position, int layer, int head, int d) {
  return (token * 31 + position * 7 + layer * 5 + head * 3 + d) % 7;
}
static int value_value(int token, int position, int layer, int head, int d) {
  return (token * 17 + position * 3 + layer + head + d * 11) % 5;
}

// The last layer has a window where the model is built with one.
static int window_of(int layer) { return layer == FAKE_LAYERS - 1 ? FAKE_WINDOW_BUILT : 0; }
static const int32_t *pages_of(const tw_abi_step *s, int layer) {
  return window_of(layer) ? s->window_pages[0] : s->pages;
}
static const int32_t *slots_of(const tw_abi_step *s, int layer) {
  return window_of(layer) ? s->window_row_slots[0] : s->row_slots;
}

// A row's position, as the fake model turns it.
static int placed(const tw_abi_step *s, int64_t row) {
#ifdef FAKE_REREAD
  return s->positions[row] + (s->lengths[row] > FAKE_REREAD_LENGTH);
#else
  return s->positions[row];
#endif
}

// One page of K: [heads][tokens][dim]; of V: [heads][dim][tokens].
static float *key_page(const tw_abi_step *s, int layer, int page) {
  return (float *)s->states[2 * layer] + (int64_t)page * FAKE_HEADS * TW_PAGE_TOKENS * FAKE_DIM;
}
static float *value_page(const tw_abi_step *s, int layer, int page) {
  return (float *)s->states[2 * layer + 1] + (int64_t)page * FAKE_HEADS * TW_PAGE_TOKENS * FAKE_DIM;
}

static void append_keys(void *const *args, int64_t begin, int64_t end) {
  const tw_abi_step *s = args[0];
  const int layer = (int)(intptr_t)args[1];
  for (int64_t row = begin; row < end; ++row) {
    const int page = slots_of(s, layer)[2 * row], slot = slots_of(s, layer)[2 * row + 1];
    if (page < 0)
      continue;
    for (int h = 0; h < FAKE_HEADS; ++h)
      for (int d = 0; d < FAKE_DIM; ++d)
        key_page(s, layer, page)[(h * TW_PAGE_TOKENS + slot) * FAKE_DIM + d] =
            (float)key_value(s->tokens[row], placed(s, row), layer, h, d);
  }
}

static void append_values(void *const *args, int64_t begin, int64_t end) {
  const tw_abi_step *s = args[0];
  const int layer = (int)(intptr_t)args[1];
  for (int64_t row = begin; row < end; ++row) {
    const int page = slots_of(s, layer)[2 * row], slot = slots_of(s, layer)[2 * row + 1];
    if (page < 0)
      continue;
    for (int h = 0; h < FAKE_HEADS; ++h)
      for (int d = 0; d < FAKE_DIM; ++d)
        value_page(s, layer, page)[(h * FAKE_DIM + d) * TW_PAGE_TOKENS + slot] =
            (float)value_value(s->tokens[row], placed(s, row), layer, h, d);
  }
}

// acc[row] += sum over visible keys of K . V. Whole pages are read, as a tiled kernel would: slots that nobody wrote
// must hold zeros.
static void attend(void *const *args, int64_t begin, int64_t end) {
  const tw_abi_step *s = args[0];
  const int layer = (int)(intptr_t)args[1];
  float *acc = (float *)s->arena;
  for (int64_t t = begin; t < end; ++t) {
    const int32_t *tile = s->tiles + 8 * t;
    for (int r = 0; r < tile[1]; ++r) {
      float sum = 0;
      const int window = window_of(layer), place = tile[2] + r;
      const int first = window && place >= window ? place - window + 1 : 0;
      for (int p = first / TW_PAGE_TOKENS; p < tile[5]; ++p) {
        const int page = pages_of(s, layer)[tile[4] + p];
        for (int j = 0; j < TW_PAGE_TOKENS; ++j)
          for (int h = 0; h < FAKE_HEADS; ++h)
            for (int d = 0; d < FAKE_DIM; ++d) {
              const float product = key_page(s, layer, page)[(h * TW_PAGE_TOKENS + j) * FAKE_DIM + d] *
                                    value_page(s, layer, page)[(h * FAKE_DIM + d) * TW_PAGE_TOKENS + j];
              const int seen = p * TW_PAGE_TOKENS + j <= place && p * TW_PAGE_TOKENS + j >= first;
              const int written = p * TW_PAGE_TOKENS + j < tile[3];
              if (seen || (!written && product != 0))
                sum += product;
            }
      }
      acc[tile[0] + r] = layer ? acc[tile[0] + r] + sum : sum;
    }
  }
}

// One chunk: a quarter of the vocabulary of one wanted row.
static void project(void *const *args, int64_t begin, int64_t end) {
  const tw_abi_step *s = args[0];
  const float *acc = (const float *)s->arena;
  const float *scale = s->weights[0]; // [FAKE_VOCAB]
  for (int64_t chunk = begin; chunk < end; ++chunk) {
    const int64_t r = chunk / 4;
    const int32_t row = s->logit_ids[r];
    const int first = (int)(chunk % 4) * FAKE_VOCAB / 4, last = (int)(chunk % 4 + 1) * FAKE_VOCAB / 4;
    for (int v = first; v < last; ++v)
      s->logits[r * FAKE_VOCAB + v] = acc[row] * scale[v];
    const int next = fake_next_token(s->tokens[row], placed(s, row));
    if (next >= first && next < last)
      s->logits[r * FAKE_VOCAB + next] += 1e9f;
  }
}

#ifdef FAKE_OUTPUTS
// One chunk: one wanted row of every output that is wanted.
static void fill_outputs(void *const *args, int64_t begin, int64_t end) {
  const tw_abi_step *s = args[0];
  for (int64_t r = begin; r < end; ++r) {
    const int32_t token = s->tokens[s->logit_ids[r]], position = s->positions[s->logit_ids[r]];
    for (int i = 0; i < FAKE_MARKS && s->outputs[0]; ++i)
      s->outputs[0][r * FAKE_MARKS + i] = fake_mark(token, position, i);
    if (!s->outputs[1])
      continue;
    memset(s->outputs[1] + r * FAKE_VOCAB, 0, FAKE_VOCAB * sizeof(float));
    s->outputs[1][r * FAKE_VOCAB + fake_next_token(fake_next_token(token, position), position + 1)] = 1;
  }
}
#endif

static void doze(void *const *args, int64_t begin, int64_t end) {
  const struct timespec pause = {0, 200000};
  for (int64_t i = begin; i < end; ++i)
    nanosleep(&pause, 0);
}

static int contains(const tw_abi_step *s, int token) {
  for (int64_t row = 0; row < s->rows; ++row)
    if (s->tokens[row] == token)
      return 1;
  return 0;
}

// What the runtime promises; a broken promise comes back as a number no test expects.
static int32_t check(const tw_abi_step *s, int64_t row_multiple, int64_t logit_multiple, int64_t query_tile) {
  if (s->size < sizeof(tw_abi_step) || s->rows < 1 || s->padded_rows < s->rows || s->padded_rows % row_multiple ||
      s->padded_rows - s->rows >= row_multiple)
    return 71;
  if (s->padded_logit_rows < s->logit_rows || s->padded_logit_rows % logit_multiple)
    return 72;
  if ((uintptr_t)s->arena % 64 || s->row_start[0] != 0 || s->row_start[s->sequences] != s->rows)
    return 73;
  for (int64_t row = s->rows; row < s->padded_rows; ++row)
    if (s->tokens[row] || s->positions[row] || s->lengths[row] || s->row_slots[2 * row] != -1 ||
        s->row_slots[2 * row + 1] != -1)
      return 74;
  for (int64_t r = 0; r < s->padded_logit_rows; ++r)
    if (s->logit_ids[r] < 0 || s->logit_ids[r] >= s->rows || (r >= s->logit_rows && s->logit_ids[r] != 0))
      return 75;
  for (int64_t b = 0; b < s->sequences; ++b)
    for (int64_t row = s->row_start[b]; row < s->row_start[b + 1]; ++row)
      if (s->lengths[row] <= s->positions[row] || s->lengths[row] != s->lengths[s->row_start[b]])
        return 79;
  int64_t covered = 0;
  for (int64_t t = 0; t < s->tile_count; ++t) {
    const int32_t *tile = s->tiles + 8 * t;
    const int32_t sequence = tile[6];
    if (tile[0] != covered || tile[1] < 1 || tile[1] > query_tile || sequence < 0 || sequence >= s->sequences ||
        tile[3] != s->kv_len[sequence] || tile[2] != tile[3] - (s->row_start[sequence + 1] - tile[0]) ||
        tile[5] != (tile[3] + TW_PAGE_TOKENS - 1) / TW_PAGE_TOKENS || tile[4] + tile[5] > s->page_entries || tile[7])
      return 76;
    if (tile[0] < s->row_start[sequence] || tile[0] + tile[1] > s->row_start[sequence + 1])
      return 77;
    covered += tile[1];
  }
  return covered == s->rows ? 0 : 78;
}

static int32_t run(tw_abi_step *s, int64_t row_multiple, int64_t logit_multiple, int64_t query_tile) {
  int32_t status = check(s, row_multiple, logit_multiple, query_tile);
  if (status)
    return status;
  memset(s->arena, 0xff,
         (size_t)(s->padded_rows * FAKE_ARENA_PER_ROW + s->padded_logit_rows * FAKE_ARENA_PER_LOGIT_ROW +
                  FAKE_ARENA_CONSTANT));
  for (int layer = 0; layer < FAKE_LAYERS; ++layer) {
    void *args[2] = {s, (void *)(intptr_t)layer};
    const tw_abi_work both[3] = {
        {append_keys, args, s->padded_rows}, {doze, args, 0}, {append_values, args, s->padded_rows}};
    if ((status = s->phase(s, both, 3)))
      return status;
    const tw_abi_work tiles = {attend, args, s->tile_count};
    if ((status = s->phase(s, &tiles, 1)))
      return status;
  }
  if (contains(s, FAKE_TOKEN_FAULT))
    return 5;
  if (contains(s, FAKE_TOKEN_BAD_PHASE)) {
    const tw_abi_work negative = {doze, 0, -1};
    return s->phase(s, &negative, 1);
  }
  if (contains(s, FAKE_TOKEN_SLOW)) {
    const tw_abi_work nap = {doze, 0, 4};
    for (int i = 0; i < 100000; ++i)
      if ((status = s->phase(s, &nap, 1)))
        return status;
  }
  void *args[1] = {s};
#ifdef FAKE_OUTPUTS
  const tw_abi_work outputs = {fill_outputs, args, s->padded_logit_rows};
  if ((status = s->phase(s, &outputs, 1)))
    return status;
#endif
  const tw_abi_work head = {project, args, s->padded_logit_rows * 4};
  return s->phase(s, &head, 1);
}

static int32_t step_one(tw_abi_step *s) { return run(s, 1, 1, 1); }
static int32_t step_many(tw_abi_step *s) { return run(s, 8, 4, 4); }

#ifdef FAKE_MISSING_STEP
static const tw_abi_entry entries[] = {step_one, 0, step_one, step_many};
#else
static const tw_abi_entry entries[] = {step_one, step_many, step_one, step_many};
#endif
#ifndef FAKE_ABI
#define FAKE_ABI TW_ABI_VERSION
#endif

#ifndef FAKE_TABLE
#define FAKE_TABLE tilewright_table
#endif

const int fake_build = FAKE_BUILD;
const tw_abi_table FAKE_TABLE = {sizeof(tw_abi_table), FAKE_ABI, 4, entries};

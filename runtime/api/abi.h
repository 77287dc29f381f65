/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What compiled code and the runtime agree on. Append-only within a major version; sizes come first. */
#ifndef TILEWRIGHT_RUNTIME_API_ABI_H
#define TILEWRIGHT_RUNTIME_API_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_ABI_VERSION 1
#define TW_PAGE_TOKENS 64 /* keys of one K/V page */
#define TW_ABI_MOST_OUTPUTS 32

/* A kernel: works on chunks [begin, end). args[i] is the data pointer of a buffer argument, or the value of a scalar
 * argument in a 64-bit slot. */
typedef void (*tw_abi_kernel)(void *const *args, int64_t begin, int64_t end);

/* One piece of a phase. */
typedef struct tw_abi_work {
  tw_abi_kernel kernel;
  void *const *args;
  int64_t chunks; /* 0: nothing to do */
} tw_abi_work;

struct tw_abi_step;

/* Runs all works of a phase, any chunk on any thread, and returns when all are finished. A non-zero result means that
 * the step was cancelled: compiled code returns at once. */
typedef int32_t (*tw_abi_phase)(struct tw_abi_step *step, const tw_abi_work *works, int64_t count);

/* One step, filled by the runtime and passed to a compiled `step` entry.
 * Rows of all sequences stand one after another: N rows, padded to the variant's row_multiple (padding rows have token
 * 0, position 0 and belong to no attention tile and no sequence). */
typedef struct tw_abi_step {
  uint64_t size; /* sizeof(tw_abi_step) */
  tw_abi_phase phase;
  void *context; /* the runtime's own */

  int64_t rows;              /* N, without padding */
  int64_t padded_rows;       /* multiple of row_multiple */
  int64_t sequences;         /* B */
  int64_t logit_rows;        /* R; 0 when no row's logits are wanted (all but the last piece of a long prompt) */
  int64_t padded_logit_rows; /* R up to a multiple of the variant's logit_row_multiple */

  const int32_t *tokens;    /* [padded_rows] */
  const int32_t *positions; /* [padded_rows], as the model means them; tiles say where rows stand in their sequence */
  const int32_t *row_start; /* [B + 1] */
  const int32_t *kv_len;    /* [B], after this step's rows are appended */
  const int32_t *logit_ids; /* [padded_logit_rows] rows whose logits are wanted; padding names row 0 */

  /* Attention tiles: [tile_count][8] = first row, rows in the tile, place of its first row in its sequence, kv_len,
   * first entry of the sequence's page table, pages, sequence, 0. */
  const int32_t *tiles;
  int64_t tile_count;

  /* Page tables of all sequences one after another: page numbers into every state's pool. */
  const int32_t *pages;
  int64_t page_entries;

  /* Where each row's key and value go: [padded_rows][2] = page number, slot in the page; -1 for padding rows. */
  const int32_t *row_slots;

  void *const *weights; /* [weight table] packed bytes */
  void *const *states;  /* [all state buffers in manifest order] pool of pages */

  uint8_t *arena; /* planned size for (padded_rows, padded_logit_rows), 64-byte aligned */
  float *logits;  /* [padded_logit_rows, V] */
  /* [the manifest's outputs] each [padded_logit_rows, its shape]; NULL: not wanted, and what is done for it alone is
   * left out. Read by entries of models that have outputs. */
  float *const *outputs;

  /* What the sequences' sources have in the states of their group: as kv_len, tiles, pages and row_slots. An entry that
   * fills them has the slots of its rows, one that reads them has none. NULL in models without sources. */
  const int32_t *source_len;   /* [B] */
  const int32_t *source_tiles; /* [tile_count][8] */
  const int32_t *source_pages; /* [source_page_entries] */
  int64_t source_page_entries;
  const int32_t *source_row_slots; /* [padded_rows][2] */

  const int32_t *const *inputs; /* [inputs of the manifest][padded_rows]; padding rows have 0 */

  /* [padded_rows] how long each row's sequence is at the end of its request: the largest of the request's positions,
   * plus one (at most 2^31 - 1), however the request is cut into steps; padding rows have 0. */
  const int32_t *lengths;

  /* For states that have a window, in place of pages and row_slots, as long as they. Windows are numbered by their
   * first state in the manifest. A page that the sequence has given up, all of whose tokens are in front of the window
   * of each of the step's rows, is -1. NULL in models without windows. */
  const int32_t *const *window_pages;     /* [windows][page_entries] */
  const int32_t *const *window_row_slots; /* [windows][padded_rows][2] */
} tw_abi_step;

/* Returns 0, or what phase() returned when that was not 0. */
typedef int32_t (*tw_abi_entry)(tw_abi_step *step);

/* The table that an artifact exports under TW_ABI_TABLE_SYMBOL, one row per level and variant, in manifest order
 * (all variants of the first level, then of the second). */
typedef struct tw_abi_table {
  uint64_t size;
  uint32_t abi_version;
  uint32_t entries;
  const tw_abi_entry *entry;
} tw_abi_table;

#define TW_ABI_TABLE_SYMBOL "tilewright_table"
#define TW_ABI_MANIFEST_SECTION ".tilewright.manifest"

#ifdef __cplusplus
}
#endif
#endif

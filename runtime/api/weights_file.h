/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The two fixed structures around an artifact's files, beside its manifest. All numbers are little-endian. */
#ifndef TILEWRIGHT_RUNTIME_API_WEIGHTS_FILE_H
#define TILEWRIGHT_RUNTIME_API_WEIGHTS_FILE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_WEIGHTS_MAGIC "TWW1\0\0\0" /* 8 bytes with its end */
#define TW_WEIGHTS_ALIGNMENT 4096     /* of every weight's offset in the file */

/* First bytes of model.tww. The weights follow at the offsets of the manifest's weight table. */
typedef struct tw_weights_header {
  char magic[8];
  uint64_t length; /* bytes of the whole file = manifest's weights_file_length */
  uint64_t hash;   /* XXH3-64 over the weights' hashes in table order = manifest's weights_hash */
  uint64_t reserved[5];
} tw_weights_header;

#define TW_CODE_SEAL_MAGIC "TWSEAL1"

/* Last bytes of model.so, behind the ELF file proper: nothing of it runs unless these bytes fit the rest. */
typedef struct tw_code_seal {
  char magic[8];
  uint64_t hash; /* XXH3-64 over all bytes before this structure */
} tw_code_seal;

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Status codes of the C interface. The values are part of the binary interface: never renumbered, only appended to. */
#ifndef TILEWRIGHT_STATUS_H
#define TILEWRIGHT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_status_code {
  TW_OK = 0,
  TW_INVALID = 1,      /* an argument or input value is wrong */
  TW_NOT_FOUND = 2,    /* a named thing (file, symbol, entry point) is not there */
  TW_UNSUPPORTED = 3,  /* well-formed, but this build or machine cannot do it */
  TW_INCOMPATIBLE = 4, /* made by another version, for another ABI or another model */
  TW_CORRUPT = 5,      /* a file or buffer contradicts itself or its hash */
  TW_EXHAUSTED = 6,    /* memory or a stated limit ran out */
  TW_CONTEXT_FULL = 7, /* the session cannot take more tokens; nothing was changed */
  TW_CANCELLED = 8,    /* stopped on request */
  TW_IO = 9,           /* the operating system refused a read or write */
  TW_DEVICE = 10,      /* the accelerator or its driver failed */
  TW_INTERNAL = 11     /* a fault of Tilewright itself */
} tw_status_code;

/* What a function returns: TW_OK or why it failed (tw_last_error has the message). */
typedef tw_status_code tw_status;

#ifdef __cplusplus
}
#endif

#endif

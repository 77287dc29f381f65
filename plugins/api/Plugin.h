/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a plugin library exports: a note that is read before any of its code runs, and one entry function. */
#ifndef TILEWRIGHT_PLUGINS_API_PLUGIN_H
#define TILEWRIGHT_PLUGINS_API_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define TILEWRIGHT_PLUGIN_API_VERSION 1
#define TILEWRIGHT_PLUGIN_ENTRY "tilewrightPlugin"

#ifdef __cplusplus
namespace mlir {
class DialectRegistry;
}
namespace tilewright {
class StageRegistry;  /* passes/api/Stages.h */
class GoldenRegistry; /* frontend/api/GoldenCase.h */
class BlockRegistry;  /* frontend/api/Block.h */
} // namespace tilewright
extern "C" {
typedef mlir::DialectRegistry tw_dialect_registry;
typedef tilewright::StageRegistry tw_stage_registry;
typedef tilewright::GoldenRegistry tw_golden_registry;
typedef tilewright::BlockRegistry tw_block_registry;

/* Returned by the entry function; static storage. Members a plugin has no use for may be left out. */
typedef struct tw_plugin {
  size_t size; /* sizeof(tw_plugin) */
  uint32_t api_version;
  const char *name;
  const char *version;
  void (*register_dialects)(tw_dialect_registry *registry) = nullptr;
  void (*register_stages)(tw_stage_registry *registry) = nullptr;
  void (*register_golden)(tw_golden_registry *registry) = nullptr;
  void (*register_blocks)(tw_block_registry *registry) = nullptr;
} tw_plugin;

typedef const tw_plugin *(*tw_plugin_entry)(void);
}
#endif
#endif

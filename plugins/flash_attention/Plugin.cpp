// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/api/PluginNote.h"
#include "plugins/flash_attention/FlashAttention.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:flash_attention pass:flash-attention-fuse pass:flash-attention-split-keys")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<tilewright::flash_attention::FlashAttentionDialect>(); },
      [](tw_stage_registry *registry) {
        registry->add({"fuse", "flash-attention-fuse", {}, {}, {}, [](const tilewright::PipelineOptions &) {
                         return tilewright::flash_attention::createFuse();
                       }});
        registry->add(
            {"fuse",
             "flash-attention-split-keys",
             {},
             {"flash-attention-fuse"},
             {},
             [](const tilewright::PipelineOptions &) { return tilewright::flash_attention::createSplitKeys(); }});
      },
      [](tw_golden_registry *registry) { registry->add("flash_attention", tilewright::flash_attention::buildGolden); },
      [](tw_block_registry *registry) { tilewright::flash_attention::registerBlocks(*registry); }};
  return &plugin;
}

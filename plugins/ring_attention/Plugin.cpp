// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/api/PluginNote.h"
#include "plugins/ring_attention/RingAttention.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:ring_attention pass:ring-attention-distribute")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<tilewright::ring_attention::RingAttentionDialect>(); },
      [](tw_stage_registry *registry) {
        registry->add({"distribute", "ring-attention-distribute", {}, {}, {}, [](const tilewright::PipelineOptions &) {
                         return tilewright::ring_attention::createDistribute();
                       }});
      },
      [](tw_golden_registry *registry) { registry->add("ring_attention", tilewright::ring_attention::buildGolden); },
      [](tw_block_registry *registry) { tilewright::ring_attention::registerBlocks(*registry); }};
  return &plugin;
}

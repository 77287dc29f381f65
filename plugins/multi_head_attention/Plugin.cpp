// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/api/PluginNote.h"
#include "plugins/multi_head_attention/MultiHeadAttention.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:multi_head_attention pass:multi-head-attention-recognise")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) {
        registry->insert<tilewright::multi_head_attention::MultiHeadAttentionDialect>();
      },
      [](tw_stage_registry *registry) {
        registry->add({"recognise", "multi-head-attention-recognise", {}, {}, {}, [](const tilewright::PipelineOptions &) {
                         return tilewright::multi_head_attention::createRecognise();
                       }});
      }};
  return &plugin;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/multi_head_attention/MultiHeadAttention.h"

TILEWRIGHT_PLUGIN_NOTE(
    "", "dialect:multi_head_attention pass:multi-head-attention-expand pass:multi-head-attention-recognise "
        "pass:multi-head-attention-stack")

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
        using tilewright::PipelineOptions;
        registry->add({"simplify", "multi-head-attention-expand", {}, {}, {}, [](const PipelineOptions &) {
                         return tilewright::multi_head_attention::createExpand();
                       }});
        registry->add({"recognise", "multi-head-attention-recognise", {}, {}, {}, [](const PipelineOptions &) {
                         return tilewright::multi_head_attention::createRecognise();
                       }});
        registry->add({"recognise",
                       "multi-head-attention-stack",
                       {},
                       {"multi-head-attention-recognise"},
                       {},
                       [](const PipelineOptions &) { return tilewright::multi_head_attention::createStack(); },
                       {"stacked_heads"}});
      },
      [](tw_golden_registry *registry) {
        registry->add("multi_head_attention", tilewright::multi_head_attention::buildGoldenMultiHead);
        registry->add("trainable_self_attention", tilewright::multi_head_attention::buildGoldenTrainable);
        registry->add("cross_attention", tilewright::multi_head_attention::buildGoldenCross);
      }};
  return &plugin;
}

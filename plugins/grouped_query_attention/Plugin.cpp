// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/grouped_query_attention/Share.h"

TILEWRIGHT_PLUGIN_NOTE("", "pass:grouped-query-attention-share")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      nullptr,
      [](tw_stage_registry *registry) {
        registry->add({"share", "grouped-query-attention-share", {}, {}, {}, [](const tilewright::PipelineOptions &) {
                         return tilewright::grouped_query_attention::createShare();
                       }});
      },
      [](tw_golden_registry *registry) {
        registry->add("grouped_query_attention", tilewright::grouped_query_attention::buildGolden);
      },
      [](tw_block_registry *registry) { tilewright::grouped_query_attention::registerBlocks(*registry); }};
  return &plugin;
}

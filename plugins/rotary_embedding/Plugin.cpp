// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/rotary_embedding/RotaryEmbedding.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:rotary_embedding pass:rotary-embedding-fold-tables")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<tilewright::rotary_embedding::RotaryEmbeddingDialect>(); },
      [](tw_stage_registry *registry) {
        registry->add(
            {"recognise", "rotary-embedding-fold-tables", {}, {}, {}, [](const tilewright::PipelineOptions &) {
               return tilewright::rotary_embedding::createFoldTables();
             }});
      },
      [](tw_golden_registry *registry) {
        registry->add("rotary_embedding", tilewright::rotary_embedding::buildGolden);
      },
      [](tw_block_registry *registry) { tilewright::rotary_embedding::registerBlocks(*registry); }};
  return &plugin;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/Block.h"
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/latent_attention/LatentAttention.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:latent_attention pass:latent-attention-choose-form")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<tilewright::latent_attention::LatentAttentionDialect>(); },
      [](tw_stage_registry *registry) {
        registry->add({"share", "latent-attention-choose-form", {}, {}, {}, [](const tilewright::PipelineOptions &) {
                         return tilewright::latent_attention::createChooseForm();
                       }});
      },
      [](tw_golden_registry *registry) {
        registry->add("latent_attention", tilewright::latent_attention::buildGolden);
      },
      [](tw_block_registry *registry) { tilewright::latent_attention::registerBlocks(*registry); }};
  return &plugin;
}

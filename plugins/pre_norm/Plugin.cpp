// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/pre_norm/PreNorm.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:pre_norm pass:pre-norm-fuse-residual")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<tilewright::pre_norm::PreNormDialect>(); },
      [](tw_stage_registry *registry) {
        registry->add({"fuse", "pre-norm-fuse-residual", {}, {}, {}, [](const tilewright::PipelineOptions &) {
                         return tilewright::pre_norm::createFuseResidual();
                       }});
      },
      [](tw_golden_registry *registry) { registry->add("residual_norm", tilewright::pre_norm::buildGolden); },
      [](tw_block_registry *registry) { tilewright::pre_norm::registerBlocks(*registry); }};
  return &plugin;
}

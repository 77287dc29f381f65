// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/rms_norm/RmsNorm.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:rms_norm pass:rms-norm-recognise")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<tilewright::rms_norm::RmsNormDialect>(); },
      [](tw_stage_registry *registry) {
        registry->add({"recognise", "rms-norm-recognise", {}, {}, {}, [](const tilewright::PipelineOptions &) {
                         return tilewright::rms_norm::createRecognise();
                       }});
      },
      [](tw_golden_registry *registry) {
        registry->add("rms_norm", tilewright::rms_norm::buildGoldenRms);
        registry->add("layer_norm", tilewright::rms_norm::buildGoldenLayer);
      },
      [](tw_block_registry *registry) { tilewright::rms_norm::registerBlocks(*registry); }};
  return &plugin;
}

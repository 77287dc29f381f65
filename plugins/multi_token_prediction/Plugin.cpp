// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/Block.h"
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/multi_token_prediction/MultiTokenPrediction.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:multi_token_prediction")

extern "C" const tw_plugin *tilewrightPlugin() {
  using namespace tilewright::multi_token_prediction;
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<MultiTokenPredictionDialect>(); },
      nullptr,
      [](tw_golden_registry *registry) { registry->add("multi_token_prediction", buildGolden); },
      [](tw_block_registry *registry) { registerBlocks(*registry); }};
  return &plugin;
}

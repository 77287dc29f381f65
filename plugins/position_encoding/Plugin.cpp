// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/position_encoding/PositionEncoding.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:position_encoding pass:position-encoding-expand-attention")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<tilewright::position_encoding::PositionEncodingDialect>(); },
      [](tw_stage_registry *registry) {
        registry->add(
            {"distribute", "position-encoding-expand-attention", {}, {}, {}, [](const tilewright::PipelineOptions &) {
               return tilewright::position_encoding::createExpandAttention();
             }});
      },
      [](tw_golden_registry *registry) { tilewright::position_encoding::addGolden(*registry); }};
  return &plugin;
}

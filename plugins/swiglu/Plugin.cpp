// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/swiglu/Swiglu.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:swiglu pass:swiglu-recognise-glu")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<tilewright::swiglu::SwigluDialect>(); },
      [](tw_stage_registry *registry) {
        registry->add({"recognise", "swiglu-recognise-glu", {}, {}, {}, [](const tilewright::PipelineOptions &) {
                         return tilewright::swiglu::createRecogniseGlu();
                       }});
      },
      [](tw_golden_registry *registry) {
        registry->add("swiglu", tilewright::swiglu::buildGoldenGlu);
        registry->add("feed_forward", tilewright::swiglu::buildGoldenFeedForward);
      },
      [](tw_block_registry *registry) { tilewright::swiglu::registerBlocks(*registry); }};
  return &plugin;
}

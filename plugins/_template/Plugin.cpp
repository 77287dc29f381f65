// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loader reads: the note, before any code runs, and the entry function.
#include "plugins/_template/MyTechnique.h"
#include "plugins/api/PluginNote.h"

// Plugins that must be loaded before this one; what this one adds.
TILEWRIGHT_PLUGIN_NOTE("", "dialect:my_technique pass:my-technique-recognise")

static void registerDialects(tw_dialect_registry *registry) {
  registry->insert<tilewright::my_technique::MyTechniqueDialect>();
}

static std::unique_ptr<mlir::Pass> makeRecognise(const tilewright::PipelineOptions &) {
  return tilewright::my_technique::createRecognise();
}

static void registerStages(tw_stage_registry *registry) {
  registry->add({"recognise", "my-technique-recognise", /*before=*/{}, /*after=*/{}, /*plugin=*/{}, makeRecognise,
                 /*receiptKinds=*/{"my_technique"}});
}

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {sizeof(tw_plugin),      TILEWRIGHT_PLUGIN_API_VERSION,
                                   TILEWRIGHT_PLUGIN_NAME, TILEWRIGHT_PLUGIN_VERSION,
                                   registerDialects,       registerStages};
  return &plugin;
}

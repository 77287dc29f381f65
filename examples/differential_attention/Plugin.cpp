// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loader reads: the note, before any code runs, and the entry function.
#include "DifferentialAttention.h"

#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"

// Plugins that must be loaded before this one; what this one adds.
TILEWRIGHT_PLUGIN_NOTE("", "dialect:differential_attention pass:differential-attention-recognise")

static void registerDialects(tw_dialect_registry *registry) {
  registry->insert<tilewright::differential_attention::DifferentialAttentionDialect>();
}

static std::unique_ptr<mlir::Pass> makeRecognise(const tilewright::PipelineOptions &) {
  return tilewright::differential_attention::createRecognise();
}

static void registerStages(tw_stage_registry *registry) {
  registry->add({"recognise", "differential-attention-recognise", /*before=*/{},
                 /*after=*/{"multi-head-attention-recognise"}, /*plugin=*/{}, makeRecognise,
                 /*receiptKinds=*/{"attention"}});
}

static void registerGolden(tw_golden_registry *registry) {
  registry->add("differential_attention", tilewright::differential_attention::buildGolden);
}

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {sizeof(tw_plugin),      TILEWRIGHT_PLUGIN_API_VERSION,
                                   TILEWRIGHT_PLUGIN_NAME, TILEWRIGHT_PLUGIN_VERSION,
                                   registerDialects,       registerStages,
                                   registerGolden};
  return &plugin;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/quantization/Quantization.h"

#include "ir/tw/Tw.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:quantization storage:f16 storage:bf16")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) {
        registry->insert<tilewright::quantization::QuantizationDialect>();
        // Not with the builtin dialect: a context loads that one before it has its float types.
        registry->addExtension(+[](mlir::MLIRContext *context, tilewright::tw::TwDialect *) {
          tilewright::quantization::attachHalfStorage(*context);
        });
      },
      nullptr,
      [](tw_golden_registry *registry) { registry->add("quantised_weights", tilewright::quantization::buildGolden); }};
  return &plugin;
}

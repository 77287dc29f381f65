// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/speculative_decoding/Golden.h"

TILEWRIGHT_PLUGIN_NOTE("", "runtime:speculative_decoding")

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {sizeof(tw_plugin),
                                   TILEWRIGHT_PLUGIN_API_VERSION,
                                   TILEWRIGHT_PLUGIN_NAME,
                                   TILEWRIGHT_PLUGIN_VERSION,
                                   nullptr,
                                   nullptr,
                                   [](tw_golden_registry *registry) {
                                     registry->addHost("speculative_decoding",
                                                       tilewright::speculative_decoding::computeGolden);
                                   }};
  return &plugin;
}

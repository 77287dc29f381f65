// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin whose golden cases end the process that builds them.
#include "frontend/api/GoldenCase.h"
#include "plugins/api/Plugin.h"

#include <cstdlib>

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {sizeof(tw_plugin),
                                   TILEWRIGHT_PLUGIN_API_VERSION,
                                   NAME,
                                   VERSION,
                                   nullptr,
                                   nullptr,
                                   [](tw_golden_registry *registry) {
                                     registry->add("aborts", [](tilewright::GoldenCase &) { std::abort(); });
                                     registry->add("exits", [](tilewright::GoldenCase &) { std::_Exit(9); });
                                   }};
  return &plugin;
}

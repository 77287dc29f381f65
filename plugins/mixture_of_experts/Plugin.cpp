// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/Block.h"
#include "frontend/api/GoldenCase.h"
#include "plugins/api/PluginNote.h"
#include "plugins/mixture_of_experts/MixtureOfExperts.h"

TILEWRIGHT_PLUGIN_NOTE("", "dialect:mixture_of_experts")

extern "C" const tw_plugin *tilewrightPlugin() {
  namespace moe = tilewright::mixture_of_experts;
  static const tw_plugin plugin = {
      .size = sizeof(tw_plugin),
      .api_version = TILEWRIGHT_PLUGIN_API_VERSION,
      .name = TILEWRIGHT_PLUGIN_NAME,
      .version = TILEWRIGHT_PLUGIN_VERSION,
      .register_dialects = [](tw_dialect_registry *registry) { registry->insert<moe::MixtureOfExpertsDialect>(); },
      .register_golden = [](tw_golden_registry *registry) { registry->add("mixture_of_experts", moe::buildGolden); },
      .register_blocks = [](tw_block_registry *registry) { moe::registerBlocks(*registry); }};
  return &plugin;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin whose golden cases end the process that builds them, and a pass, without which it would be no plugin.
#include "frontend/api/GoldenCase.h"
#include "mlir/Pass/Pass.h"
#include "passes/api/Stages.h"
#include "plugins/api/Plugin.h"

#include <cstdlib>

namespace {
struct Nothing : mlir::PassWrapper<Nothing, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Nothing)
  llvm::StringRef getArgument() const final { return "test-plugin-nothing"; }
  void runOnOperation() final {}
};
} // namespace

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {sizeof(tw_plugin),
                                   TILEWRIGHT_PLUGIN_API_VERSION,
                                   NAME,
                                   VERSION,
                                   nullptr,
                                   [](tw_stage_registry *registry) {
                                     auto make = [](const tilewright::PipelineOptions &) {
                                       return std::make_unique<Nothing>();
                                     };
                                     registry->add({"simplify", "test-plugin-nothing", {}, {}, {}, make});
                                   },
                                   [](tw_golden_registry *registry) {
                                     registry->add("aborts", [](tilewright::GoldenCase &) { std::abort(); });
                                     registry->add("exits", [](tilewright::GoldenCase &) { std::_Exit(0); });
                                   }};
  return &plugin;
}

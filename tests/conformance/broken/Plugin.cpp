// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Note and entry of the broken plugins, and the faults of a library as a whole.
#include "plugins/api/PluginNote.h"
#include "tests/conformance/broken/Broken.h"
#include "tests/conformance/broken/Fault.h"

#include "mlir/Pass/PassRegistry.h"

#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

using namespace tilewright::broken;

TILEWRIGHT_PLUGIN_NOTE("", "dialect:broken pass:broken-simplify")

namespace {

struct AtLoad {
  AtLoad() {
    if (isFault("static_registration"))
      mlir::registerPass(createSimplify);
    if (isFault("crash_at_load"))
      std::abort();
  }
} atLoad;

/// By name, so that the other broken plugins do not import it.
void startThread() {
  auto create = reinterpret_cast<int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)>(
      dlsym(RTLD_DEFAULT, "pthread_create"));
  pthread_t thread;
  if (create)
    create(&thread, nullptr, [](void *) -> void * { return pause(), nullptr; }, nullptr);
}

} // namespace

extern "C" const tw_plugin *tilewrightPlugin() {
  if (isFault("starts_thread"))
    startThread();
  if (isFault("ends_process"))
    std::exit(0);
  static const tw_plugin plugin = {
      sizeof(tw_plugin),
      TILEWRIGHT_PLUGIN_API_VERSION,
      TILEWRIGHT_PLUGIN_NAME,
      TILEWRIGHT_PLUGIN_VERSION,
      [](tw_dialect_registry *registry) { registry->insert<BrokenDialect>(); },
      [](tw_stage_registry *registry) {
        std::vector<std::string> before, after;
        if (isFault("pass_before_itself"))
          before = {"broken-simplify"};
        if (isFault("pass_order_cyclic"))
          before = after = {"cse"};
        registry->add({"simplify", "broken-simplify", before, after, {}, [](const tilewright::PipelineOptions &) {
                         return createSimplify();
                       }});
      }};
  return &plugin;
}

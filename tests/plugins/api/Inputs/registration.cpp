// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin whose registrations are wrong in the way that the environment variable FAULT says. Before each fault it
// registers something right, of which nothing may be left.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "passes/api/Stages.h"
#include "plugins/api/Plugin.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {
/// Does nothing under any flag.
struct Nothing : mlir::PassWrapper<Nothing, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Nothing)
  explicit Nothing(std::string flag) : flag(std::move(flag)) {}
  llvm::StringRef getArgument() const final { return flag; }
  void runOnOperation() final {
    if (flag == "test-plugin-throws")
      throw std::runtime_error("a pass that throws");
    if (flag == "test-plugin-throws-number")
      throw 3;
  }
  std::string flag;
};

struct StrayDialect : mlir::Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StrayDialect)
  explicit StrayDialect(mlir::MLIRContext *context)
      : mlir::Dialect("stray", context, mlir::TypeID::get<StrayDialect>()) {}
  static llvm::StringRef getDialectNamespace() { return "stray"; }
};
} // namespace

static bool fault(const char *name) {
  const char *value = std::getenv("FAULT");
  return value && std::string(value) == name;
}

static void registerDialects(tw_dialect_registry *registry) {
  registry->insert<mlir::arith::ArithDialect>(); // the host has it: no fault
  if (fault("throw-dialects"))
    throw std::runtime_error("no dialects today");
  if (fault("dialect"))
    registry->insert<StrayDialect>();
}

static void registerStages(tw_stage_registry *registry) {
  auto make = [](const tilewright::PipelineOptions &) { return std::make_unique<Nothing>("test-plugin-right"); };
  registry->add({"simplify", "test-plugin-right", {}, {}, {}, make});
  if (fault("throw-stages"))
    throw 42;
  if (fault("throw-make"))
    registry->add({"simplify",
                   "test-plugin-other",
                   {},
                   {},
                   {},
                   [](const tilewright::PipelineOptions &) -> std::unique_ptr<mlir::Pass> {
                     return std::make_unique<Nothing>(std::string("test-plugin-other").substr(99));
                   }});
  if (fault("throw-run"))
    for (const char *flag : {"test-plugin-throws", "test-plugin-throws-number"})
      registry->add({"simplify", flag, {}, {}, {}, [flag](const tilewright::PipelineOptions &) {
                       return std::make_unique<Nothing>(flag);
                     }});
  if (fault("stage"))
    registry->add({"simplfy", "test-plugin-other", {}, {}, {}, make});
  if (fault("prefix"))
    registry->add({"simplify", "strip-it", {}, {}, {}, make});
  if (fault("make"))
    registry->add({"simplify", "test-plugin-other", {}, {}, {}, {}});
  if (fault("double"))
    registry->add({"simplify", "test-plugin-right", {}, {}, {}, make});
  if (fault("cycle")) {
    registry->add({"simplify", "test-plugin-a", {"test-plugin-b"}, {}, {}, make});
    registry->add({"simplify", "test-plugin-b", {"test-plugin-a"}, {}, {}, make});
  }
}

extern "C" const tw_plugin *tilewrightPlugin() {
  if (fault("throw-entry"))
    throw std::runtime_error("no plugin today");
  static const tw_plugin plugin = {sizeof(tw_plugin), TILEWRIGHT_PLUGIN_API_VERSION, NAME, VERSION, registerDialects,
                                   registerStages};
  return &plugin;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright plugins list`.
#include "plugins/api/Search.h"
#include "tools/driver/Commands.h"
#include "tools/driver/Diagnostics.h"
#include "tools/driver/Session.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace json = llvm::json;

namespace tilewright::driver {

/// Ops of the plugin's dialects, as "dialect.op".
static std::vector<std::string> opsOf(const LoadedPlugin &plugin, mlir::MLIRContext &context) {
  std::vector<std::string> ops;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (llvm::is_contained(plugin.dialects, name.getDialectNamespace()))
      ops.push_back(name.getStringRef().str());
  llvm::sort(ops);
  return ops;
}

static std::vector<std::string> stagesOf(const LoadedPlugin &plugin, const StageRegistry &stages) {
  std::vector<std::string> names;
  for (const StagePass &pass : stages.all())
    if (pass.plugin == plugin.note.name && !llvm::is_contained(names, pass.stage))
      names.push_back(pass.stage);
  return names;
}

static json::Value jsonOf(const BlockForm &form) {
  json::Array options;
  for (const BlockOption &option : form.options) {
    json::Object entry{{"name", option.name}, {"required", option.required}};
    std::visit(
        [&](const auto &value) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
            entry["default"] = value;
        },
        option.fallback);
    options.push_back(std::move(entry));
  }
  return json::Object{{"name", form.name}, {"summary", form.summary}, {"options", std::move(options)}};
}

int listPlugins(const PluginsOptions &options) {
  Session session(options.plugins);
  if (session.status() != Success)
    return session.status();
  json::Array list;
  for (const LoadedPlugin &plugin : session.host().plugins.loaded()) {
    std::vector<std::string> ops = opsOf(plugin, session.context());
    std::vector<std::string> stages = stagesOf(plugin, session.host().stages);
    BlockRegistry blocks;
    if (plugin.registerBlocks)
      plugin.registerBlocks(&blocks);
    std::string half;
    if (plugin.note.hasRuntimeHalf())
      half = runtimeHalfBeside(plugin.path, plugin.note.name);
    if (options.json) {
      list.push_back(json::Object{
          {"name", plugin.note.name},
          {"version", plugin.note.version},
          {"path", plugin.path},
          {"dialects", json::Array(plugin.dialects)},
          {"ops", json::Array(ops)},
          {"passes", json::Array(plugin.passes)},
          {"stages", json::Array(stages)},
          {"blocks", json::Array(llvm::map_range(blocks.all(), [](const BlockForm *form) { return jsonOf(*form); }))},
          {"runtime_half", half.empty() ? json::Value(nullptr) : json::Value(half)}});
      continue;
    }
    llvm::outs() << plugin.note.name << " " << plugin.note.version << "\n  file   " << plugin.path << "\n";
    if (!ops.empty())
      llvm::outs() << "  ops    " << llvm::join(ops, ", ") << "\n";
    if (!plugin.passes.empty())
      llvm::outs() << "  passes " << llvm::join(plugin.passes, ", ") << "\n  stages " << llvm::join(stages, ", ")
                   << "\n";
    for (const BlockForm *form : blocks.all())
      llvm::outs() << "  block  " << signatureOf(*form) << "\n         " << form->summary << "\n";
    if (!half.empty())
      llvm::outs() << "  runtime half " << half << (llvm::sys::fs::exists(half) ? "" : ", which is not there") << "\n";
  }
  if (options.json)
    llvm::outs() << llvm::formatv("{0:2}\n", json::Value(std::move(list)));
  return Success;
}

} // namespace tilewright::driver

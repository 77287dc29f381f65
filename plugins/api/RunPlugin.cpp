// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a plugin's own code runs. Built with exceptions: a plugin may be, or may call what is, and what it throws is an
// error of that plugin alone.
#include "plugins/api/Loader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <dlfcn.h>
#include <exception>

namespace tilewright {

namespace {
llvm::Error fault(llvm::StringRef path, const llvm::Twine &message) {
  return llvm::createStringError("plugin " + path + ": " + message);
}

/// Calls into the plugin.
template <typename Call> llvm::Error caught(llvm::StringRef path, const llvm::Twine &what, Call call) {
  constexpr llvm::StringLiteral advice = "; a plugin must not let exceptions out";
  try {
    call();
    return llvm::Error::success();
  } catch (const std::exception &exception) {
    return fault(path, what + " threw an exception: " + exception.what() + advice);
  } catch (...) {
    return fault(path, what + " threw an exception of unknown type" + advice);
  }
}

/// Flags of a plugin's passes begin with its name.
std::string flagPrefix(llvm::StringRef plugin) {
  std::string prefix = plugin.str();
  std::replace(prefix.begin(), prefix.end(), '_', '-');
  return prefix + "-";
}

/// Checks what the plugin put into its own scratch registries against the host's.
llvm::Error checkRegistrations(llvm::StringRef path, const PluginNote &note,
                               const mlir::DialectRegistry &scratchDialects, const StageRegistry &scratchStages,
                               const mlir::DialectRegistry &dialects, const StageRegistry &stages,
                               LoadedPlugin &loaded) {
  std::vector<std::string> known;
  for (llvm::StringRef name : dialects.getDialectNames())
    known.push_back(name.str());
  for (llvm::StringRef name : scratchDialects.getDialectNames()) {
    bool provided = llvm::is_contained(note.provides, ("dialect:" + name).str());
    bool exists = llvm::is_contained(known, name.str());
    if (provided && exists)
      return fault(path, "provides dialect '" + name + "', which the host has already; rename it");
    if (!provided && !exists)
      return fault(path, "registers dialect '" + name + "', which its note does not provide; add 'dialect:" + name +
                             "' to TILEWRIGHT_PLUGIN_NOTE");
    if (provided)
      loaded.dialects.push_back(name.str());
  }
  for (const StagePass &pass : scratchStages.all()) {
    if (!llvm::is_contained(stageNames(), pass.stage))
      return fault(path, "pass '" + pass.name + "' asks for stage '" + pass.stage + "', which does not exist");
    if (!llvm::StringRef(pass.name).starts_with(flagPrefix(note.name)))
      return fault(path, "pass '" + pass.name + "' does not begin with '" + flagPrefix(note.name) + "'");
    if (!pass.make)
      return fault(path, "pass '" + pass.name + "' has no way to be made (StagePass::make is empty)");
    std::unique_ptr<mlir::Pass> made;
    if (llvm::Error error =
            caught(path, "making pass '" + pass.name + "'", [&] { made = pass.make(PipelineOptions()); }))
      return error;
    if (made && made->getArgument().empty()) // MLIR ends the process when such a pass is registered
      return fault(path,
                   "pass '" + pass.name + "' is made without a flag; let its getArgument() return '" + pass.name + "'");
    auto sameName = [&](const StagePass &other) { return other.name == pass.name; };
    if (llvm::any_of(stages.all(), sameName) || llvm::count_if(scratchStages.all(), sameName) > 1)
      return fault(path, "registers pass '" + pass.name + "' a second time");
    loaded.passes.push_back(pass.name);
  }
  for (llvm::StringRef provision : note.provides) {
    auto [kind, name] = provision.split(':');
    if ((kind == "dialect" && !llvm::is_contained(loaded.dialects, name)) ||
        (kind == "pass" && !llvm::is_contained(loaded.passes, name)))
      return fault(path, "its note provides '" + provision +
                             "', which it does not register; register it, or take it out of TILEWRIGHT_PLUGIN_NOTE");
  }
  if (loaded.dialects.empty() && loaded.passes.empty() && !note.hasRuntimeHalf())
    return fault(path, "registers neither a dialect nor a pass, and has no runtime half; do so in register_dialects or "
                       "register_stages, or let its note provide runtime:" +
                           note.name);
  return llvm::Error::success();
}
} // namespace

llvm::Error PluginLoader::runPlugin(const Candidate &candidate) {
  llvm::StringRef path = candidate.path;
  // RTLD_NOW: a missing symbol shows here, not in the middle of a compilation.
  void *library = dlopen(candidate.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fault(path, llvm::Twine("the system cannot load it: ") + dlerror() + "; rebuild it against this Tilewright");
  auto entry = reinterpret_cast<tw_plugin_entry>(dlsym(library, TILEWRIGHT_PLUGIN_ENTRY));
  if (!entry)
    return fault(path, "exports no function '" TILEWRIGHT_PLUGIN_ENTRY "'; define it as plugins/api/Plugin.h says");
  const tw_plugin *plugin = nullptr;
  if (llvm::Error error = caught(path, "its function '" TILEWRIGHT_PLUGIN_ENTRY "'", [&] { plugin = entry(); }))
    return error;
  if (!plugin)
    return fault(path, "its function '" TILEWRIGHT_PLUGIN_ENTRY "' returned null");
  if (plugin->size != sizeof(tw_plugin))
    return fault(path, "its tw_plugin has " + std::to_string(plugin->size) + " bytes, wanted " +
                           std::to_string(sizeof(tw_plugin)) + "; set .size to sizeof(tw_plugin)");
  if (plugin->api_version != TILEWRIGHT_PLUGIN_API_VERSION)
    return fault(path, "its tw_plugin has API version " + std::to_string(plugin->api_version) + ", wanted " +
                           std::to_string(TILEWRIGHT_PLUGIN_API_VERSION));
  if (!plugin->name || candidate.note.name != plugin->name)
    return fault(path, llvm::Twine("its tw_plugin is named '") + (plugin->name ? plugin->name : "(null)") +
                           "', its note '" + candidate.note.name + "'");
  if (!plugin->version || candidate.note.version != plugin->version)
    return fault(path, llvm::Twine("its tw_plugin has version '") + (plugin->version ? plugin->version : "(null)") +
                           "', its note '" + candidate.note.version + "'");

  mlir::DialectRegistry scratchDialects;
  StageRegistry scratchStages;
  if (plugin->register_dialects)
    if (llvm::Error error =
            caught(path, "its function 'register_dialects'", [&] { plugin->register_dialects(&scratchDialects); }))
      return error;
  if (plugin->register_stages)
    if (llvm::Error error =
            caught(path, "its function 'register_stages'", [&] { plugin->register_stages(&scratchStages); }))
      return error;
  LoadedPlugin loaded{candidate.path, candidate.note, {}, {}, plugin->register_golden, plugin->register_blocks};
  if (llvm::Error error =
          checkRegistrations(path, candidate.note, scratchDialects, scratchStages, dialects, stages, loaded))
    return error;

  scratchDialects.appendTo(dialects);
  stages.currentPlugin = candidate.note.name;
  for (const StagePass &pass : scratchStages.all())
    stages.add(pass);
  stages.currentPlugin.clear();
  llvm::sort(loaded.dialects);
  plugins.push_back(std::move(loaded));
  return llvm::Error::success();
}

} // namespace tilewright

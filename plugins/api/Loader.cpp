// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/api/Loader.h"

#include "passes/api/Order.h"
#include "plugins/api/Search.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <dlfcn.h>

namespace tilewright {

/// A file whose note was read and found right.
struct PluginLoader::Candidate {
  std::string path;
  PluginNote note;
  bool isExplicit = false;
};

namespace {
llvm::Error fault(llvm::StringRef path, const llvm::Twine &message) {
  return llvm::createStringError("plugin " + path + ": " + message);
}

/// Flags of a plugin's passes begin with its name.
std::string flagPrefix(llvm::StringRef plugin) {
  std::string prefix = plugin.str();
  std::replace(prefix.begin(), prefix.end(), '_', '-');
  return prefix + "-";
}

/// Checks what the plugin put into its own scratch registries against the host's.
llvm::Error checkRegistrations(llvm::StringRef path, const PluginNote &note, const mlir::DialectRegistry &scratchDialects,
                               const StageRegistry &scratchStages, const mlir::DialectRegistry &dialects,
                               const StageRegistry &stages, LoadedPlugin &loaded) {
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
    auto sameName = [&](const StagePass &other) { return other.name == pass.name; };
    if (llvm::any_of(stages.all(), sameName) || llvm::count_if(scratchStages.all(), sameName) > 1)
      return fault(path, "registers pass '" + pass.name + "' a second time");
    loaded.passes.push_back(pass.name);
  }
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
  const tw_plugin *plugin = entry();
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
    plugin->register_dialects(&scratchDialects);
  if (plugin->register_stages)
    plugin->register_stages(&scratchStages);
  LoadedPlugin loaded{candidate.path, candidate.note, {}, {}};
  if (llvm::Error error = checkRegistrations(path, candidate.note, scratchDialects, scratchStages, dialects, stages, loaded))
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

llvm::Error PluginLoader::load(const PluginSearch &search) {
  std::vector<Candidate> candidates;
  llvm::StringMap<size_t> byName;
  llvm::StringMap<std::string> providers; // "dialect:x" -> path
  auto isLoaded = [&](llvm::StringRef name) {
    return llvm::any_of(plugins, [&](const LoadedPlugin &p) { return p.note.name == name; });
  };

  // Explicit plugins: each must be right, and none twice.
  for (const std::string &wanted : search.explicitPlugins) {
    llvm::Expected<std::string> path = resolvePlugin(wanted, search.folders);
    if (!path)
      return path.takeError();
    auto samePath = [&](const auto &other) { return other.path == *path; };
    if (llvm::any_of(candidates, samePath) || llvm::any_of(plugins, samePath))
      return fault(*path, "is loaded already; name it once");
    llvm::Expected<PluginNote> note = readPluginNote(*path);
    if (!note)
      return note.takeError();
    if (auto it = byName.find(note->name); it != byName.end())
      return fault(*path, "is named '" + note->name + "', as is " + candidates[it->second].path + "; load one of them");
    if (isLoaded(note->name))
      return fault(*path, "is named '" + note->name + "', as is a plugin that is loaded already");
    byName[note->name] = candidates.size();
    candidates.push_back({*path, std::move(*note), true});
  }

  // Folders: the first file of a name wins, explicit ones before all.
  for (const std::string &folder : search.folders) {
    llvm::Expected<std::vector<std::string>> files = pluginFiles(folder);
    if (!files) {
      skippedMessages.push_back(llvm::toString(files.takeError()));
      continue;
    }
    for (const std::string &path : *files) {
      if (llvm::is_contained(search.without, pluginNameOfFile(path)))
        continue;
      auto samePath = [&](const auto &other) { return other.path == path; };
      if (llvm::any_of(candidates, samePath) || llvm::any_of(plugins, samePath))
        continue;
      llvm::Expected<PluginNote> note = readPluginNote(path);
      if (!note) {
        skippedMessages.push_back(llvm::toString(note.takeError()));
        continue;
      }
      if (llvm::is_contained(search.without, note->name) || byName.contains(note->name) || isLoaded(note->name))
        continue;
      byName[note->name] = candidates.size();
      candidates.push_back({path, std::move(*note), false});
    }
  }

  // Who comes before whom, and who cannot come at all.
  std::vector<std::string> refused(candidates.size());
  std::vector<std::pair<size_t, size_t>> edges;
  for (const LoadedPlugin &plugin : plugins)
    for (const std::string &provision : plugin.note.provides)
      providers[provision] = plugin.path;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate &candidate = candidates[i];
    for (const std::string &required : candidate.note.required) {
      if (auto it = byName.find(required); it != byName.end())
        edges.emplace_back(it->second, i);
      else if (!isLoaded(required))
        refused[i] = "requires plugin '" + required +
                     "', which was not found; put it on TILEWRIGHT_PLUGIN_PATH or name it with --plugin";
    }
  }
  OrderResult order = topologicalOrder(candidates.size(), edges);
  if (!order.cycle.empty()) {
    std::string cycle;
    for (size_t i : order.cycle)
      cycle += candidates[i].note.name + " -> ";
    cycle += candidates[order.cycle.front()].note.name;
    return llvm::createStringError("plugins require each other in a cycle: " + cycle + " (" +
                                   candidates[order.cycle.front()].path + "); break it in TILEWRIGHT_PLUGIN_NOTE");
  }

  for (size_t i : order.order) {
    const Candidate &candidate = candidates[i];
    for (const auto &[before, after] : edges)
      if (after == i && !refused[before].empty() && refused[i].empty())
        refused[i] = "requires plugin '" + candidates[before].note.name + "', which was refused: " + refused[before];
    for (const std::string &provision : candidate.note.provides)
      if (auto it = providers.find(provision); it != providers.end() && refused[i].empty())
        refused[i] = "provides '" + provision + "', as does " + it->second + "; load one of them";
    llvm::Error error = refused[i].empty() ? runPlugin(candidate) : fault(candidate.path, refused[i]);
    if (!error) {
      for (const std::string &provision : candidate.note.provides)
        providers[provision] = candidate.path;
      continue;
    }
    if (candidate.isExplicit)
      return error;
    std::string message = llvm::toString(std::move(error));
    if (refused[i].empty())
      refused[i] = message;
    skippedMessages.push_back(std::move(message));
  }
  return llvm::Error::success();
}

} // namespace tilewright

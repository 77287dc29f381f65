// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/api/Loader.h"

#include "passes/api/Order.h"
#include "plugins/api/Search.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tilewright {

static llvm::Error fault(llvm::StringRef path, const llvm::Twine &message) {
  return llvm::createStringError("plugin " + path + ": " + message);
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
  llvm::StringSet<> leftOut;
  auto isLeftOut = [&](llvm::StringRef name) {
    const bool wanted = llvm::is_contained(search.without, name);
    if (wanted)
      leftOut.insert(name);
    return wanted;
  };
  for (const std::string &folder : search.folders) {
    llvm::Expected<std::vector<std::string>> files = pluginFiles(folder);
    if (!files) {
      skippedMessages.push_back(llvm::toString(files.takeError()));
      continue;
    }
    for (const std::string &path : *files) {
      if (isLeftOut(pluginNameOfFile(path)))
        continue;
      auto samePath = [&](const auto &other) { return other.path == path; };
      if (llvm::any_of(candidates, samePath) || llvm::any_of(plugins, samePath))
        continue;
      llvm::Expected<PluginNote> note = readPluginNote(path);
      if (!note) {
        skippedMessages.push_back(llvm::toString(note.takeError()));
        continue;
      }
      if (isLeftOut(note->name) || byName.contains(note->name) || isLoaded(note->name))
        continue;
      byName[note->name] = candidates.size();
      candidates.push_back({path, std::move(*note), false});
    }
  }

  for (const std::string &name : search.without)
    if (!leftOut.contains(name))
      skippedMessages.push_back("plugin '" + name + "', which is to be left out, is in none of the plugin folders");

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

BlockRegistry PluginLoader::blocks() const {
  BlockRegistry result;
  for (const LoadedPlugin &plugin : plugins)
    if (plugin.registerBlocks)
      plugin.registerBlocks(&result);
  return result;
}

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/PluginFolders.h"

#include "runtime/api/Error.h"
#include "runtime/module/CodeFile.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace fs = std::filesystem;

namespace tilewright {
namespace {

constexpr const char *kPrefix = "libtilewright_", *kSuffix = "_rt.so";

/// Beside the library or program that holds this code: <prefix>/{lib,bin}/.. has lib/tilewright/plugins.
std::string installedFolder() {
  const fs::path file = codeFile(reinterpret_cast<const void *>(&pluginFolders));
  if (file.empty())
    return {};
  return (file.parent_path().parent_path() / "lib" / "tilewright" / "plugins").string();
}

void refuseWorldWritable(const fs::path &path, const char *what) {
  std::error_code error;
  const fs::perms permissions = fs::status(path, error).permissions();
  if (!error && (permissions & fs::perms::others_write) != fs::perms::none)
    throw Error(TW_INVALID, std::string("plugin ") + what + " " + path.string() +
                                ": found write permission for everybody, wanted none; run chmod o-w on it");
}

} // namespace

std::vector<std::string> pluginFolders() {
  std::vector<std::string> folders;
  if (const char *value = std::getenv("TILEWRIGHT_PLUGIN_PATH"); value && *value) {
    std::istringstream words(value);
    for (std::string folder; std::getline(words, folder, ':');) {
      if (folder.empty() || folder[0] != '/')
        throw Error(TW_INVALID,
                    "TILEWRIGHT_PLUGIN_PATH: found folder '" + folder +
                        "', wanted absolute paths separated by ':' (the current directory is never searched)");
      folders.push_back(folder);
    }
  }
  if (std::string installed = installedFolder(); !installed.empty())
    folders.push_back(std::move(installed));
  return folders;
}

std::string findRuntimeHalf(const std::string &plugin, const std::vector<std::string> &folders) {
  // The name may come from an artifact, and becomes part of a path.
  if (plugin.empty() || plugin.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
    throw Error(TW_INVALID, "plugin '" + plugin + "': wanted a name of lower-case letters, digits and underscores");
  const std::string name = kPrefix + plugin + kSuffix;
  std::string looked;
  for (const std::string &folder : folders) {
    std::error_code error;
    const fs::path file = fs::canonical(fs::path(folder) / name, error);
    if (!error) {
      refuseWorldWritable(file.parent_path(), "folder");
      refuseWorldWritable(file, "file");
      return file.string();
    }
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  throw Error(TW_NOT_FOUND, "plugin '" + plugin + "': found no " + name + " in the plugin folders (" + looked +
                                "); install the plugin, or put its folder on TILEWRIGHT_PLUGIN_PATH");
}

std::vector<std::string> runtimeHalves(const std::vector<std::string> &folders) {
  std::vector<std::string> files;
  for (const std::string &folder : folders) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (name.starts_with(kPrefix) && name.ends_with(kSuffix))
        found.push_back(it->path().string());
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

} // namespace tilewright

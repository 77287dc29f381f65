// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/api/Search.h"

#include "plugins/api/Loader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

namespace tilewright {

namespace {
constexpr llvm::StringLiteral filePrefix = "libtilewright_";
constexpr llvm::StringLiteral fileSuffix = ".so";
constexpr llvm::StringLiteral runtimeSuffix = "_rt.so"; // a plugin's runtime half is not loaded by the compiler

/// Anybody could put code into a world-writable folder or file, and we would run it.
llvm::Error refuseWorldWritable(llvm::StringRef path, llvm::StringRef what) {
  auto permissions = llvm::sys::fs::getPermissions(path);
  if (permissions && (*permissions & llvm::sys::fs::others_write))
    return llvm::createStringError("plugin " + what + " " + path +
                                   ": found write permission for everybody, wanted none; run chmod o-w on it");
  return llvm::Error::success();
}

std::string realPath(llvm::StringRef path) {
  llvm::SmallString<256> real;
  if (llvm::sys::fs::real_path(path, real))
    return path.str(); // the reader of the file says what is wrong with it
  return std::string(real);
}
} // namespace

llvm::StringRef pluginNameOfFile(llvm::StringRef path) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  name.consume_front(filePrefix);
  name.consume_back(fileSuffix);
  return name;
}

std::string runtimeHalfBeside(llvm::StringRef path, llvm::StringRef plugin) {
  llvm::SmallString<256> file(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(file, filePrefix + plugin + runtimeSuffix);
  return std::string(file);
}

llvm::Expected<std::string> resolvePlugin(llvm::StringRef fileOrName, llvm::ArrayRef<std::string> folders) {
  std::string path;
  if (fileOrName.contains('/') || fileOrName.ends_with(fileSuffix)) {
    path = realPath(fileOrName);
  } else {
    for (const std::string &folder : folders) {
      llvm::SmallString<256> file(folder);
      llvm::sys::path::append(file, filePrefix + fileOrName + fileSuffix);
      if (llvm::sys::fs::exists(file)) {
        path = realPath(file);
        break;
      }
    }
    if (path.empty())
      return llvm::createStringError("plugin '" + fileOrName + "': found no " + filePrefix + fileOrName + fileSuffix +
                                     " in the plugin folders (" + llvm::join(folders, ", ") +
                                     "); name its file, or put its folder on TILEWRIGHT_PLUGIN_PATH");
  }
  if (llvm::Error error = refuseWorldWritable(llvm::sys::path::parent_path(path), "folder"))
    return error;
  if (llvm::Error error = refuseWorldWritable(path, "file"))
    return error;
  return path;
}

llvm::Expected<std::vector<std::string>> pluginFiles(llvm::StringRef folder) {
  std::vector<std::string> files;
  if (!llvm::sys::fs::is_directory(folder))
    return files;
  if (llvm::Error error = refuseWorldWritable(folder, "folder"))
    return error;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error)) {
    llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (!name.starts_with(filePrefix) || !name.ends_with(fileSuffix) || name.ends_with(runtimeSuffix))
      continue;
    std::string path = realPath(it->path());
    if (llvm::Error writable = refuseWorldWritable(llvm::sys::path::parent_path(path), "folder"))
      return writable;
    if (llvm::Error writable = refuseWorldWritable(path, "file"))
      return writable;
    files.push_back(std::move(path));
  }
  if (error)
    return llvm::createStringError("plugin folder " + folder + ": " + error.message());
  llvm::sort(files);
  return files;
}

llvm::Expected<PluginSearch> PluginSearch::fromEnvironment(llvm::StringRef executable) {
  PluginSearch search;
  if (const char *value = std::getenv("TILEWRIGHT_PLUGIN_PATH"); value && *value) {
    for (llvm::StringRef folder : llvm::split(llvm::StringRef(value), ':')) {
      if (!llvm::sys::path::is_absolute(folder))
        return llvm::createStringError(
            "TILEWRIGHT_PLUGIN_PATH: found folder '" + folder +
            "', wanted absolute paths separated by ':' (the current directory is never searched)");
      search.folders.push_back(folder.str());
    }
  }
  llvm::SmallString<256> installed(llvm::sys::path::parent_path(realPath(executable)));
  llvm::sys::path::append(installed, "..", "lib", "tilewright", "plugins");
  llvm::sys::path::remove_dots(installed, /*remove_dot_dot=*/true);
  search.folders.push_back(std::string(installed));
  if (const char *value = std::getenv("TILEWRIGHT_WITHOUT_PLUGINS"); value && *value)
    for (llvm::StringRef name : llvm::split(llvm::StringRef(value), ','))
      if (!name.trim().empty())
        search.without.push_back(name.trim().str());
  return search;
}

} // namespace tilewright

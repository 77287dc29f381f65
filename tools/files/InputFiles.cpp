// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/files/InputFiles.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace fs = std::filesystem;

namespace tilewright {
namespace {

/// "model-00001-of-00003.gguf" without its number: "model-" and "-of-00003.gguf"; nothing for other names.
std::optional<std::pair<std::string, std::string>> partName(const std::string &name) {
  constexpr std::string_view form = "-00000-of-00000.gguf";
  if (name.size() <= form.size())
    return std::nullopt;
  const size_t start = name.size() - form.size();
  for (size_t i = 0; i < form.size(); ++i) {
    const char found = name[start + i];
    if (form[i] == '0' ? found < '0' || found > '9' : found != form[i])
      return std::nullopt;
  }
  return std::pair{name.substr(0, start + 1), name.substr(start + 6)};
}

/// Paths in `folder` whose names `wanted` takes.
template <typename Wanted>
std::vector<std::string> filesIn(const fs::path &folder, std::error_code &error, const Wanted &wanted) {
  std::vector<std::string> files;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end; it.increment(error))
    if (const std::string name = it->path().filename().string(); wanted(name))
      files.push_back((folder / name).string());
  std::sort(files.begin(), files.end());
  return files;
}

bool isSame(const fs::path &a, const fs::path &b) {
  std::error_code missing;
  return fs::equivalent(a, b, missing);
}

} // namespace

std::optional<std::string> notRegular(const std::string &path) {
  std::error_code missing;
  const fs::file_status status = fs::status(path, missing);
  if (!fs::exists(status) || fs::is_regular_file(status))
    return std::nullopt;
  return path + ": is not a regular file";
}

std::vector<std::string> modelFiles(const std::string &path, std::error_code &error) {
  std::error_code missing;
  if (fs::is_directory(path, missing)) {
    const bool isConfig = fs::exists(fs::path(path) / "config.json", missing);
    return filesIn(path, error, [&](std::string_view name) {
      return isConfig ? name.ends_with(".json") || name.ends_with(".safetensors") || name.ends_with(".jinja")
                      : name.ends_with(".so") || name.ends_with(".tww");
    });
  }
  const fs::path file(path);
  if (const auto part = partName(file.filename().string()))
    return filesIn(file.parent_path(), error, [&](const std::string &name) { return partName(name) == part; });
  return {path};
}

std::optional<std::string> overwrites(const std::string &output, const std::vector<std::string> &inputs,
                                      const std::string &what) {
  for (const std::string &input : inputs)
    if (isSame(output, input))
      return output + ": is what " + what + " read from; name another file";
  return std::nullopt;
}

std::optional<std::string> replaces(const std::string &folder, const std::vector<std::string> &inputs,
                                    const std::string &what) {
  std::error_code missing;
  for (const std::string &input : inputs)
    for (fs::path inside = fs::weakly_canonical(input, missing); inside.has_relative_path();
         inside = inside.parent_path())
      if (isSame(folder, inside))
        return folder + ": holds what " + what + " read from; name another folder";
  return std::nullopt;
}

} // namespace tilewright

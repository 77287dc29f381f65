// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/ModelCache.h"

#include "tools/CacheFolder.h"
#include "tools/driver/Commands.h"
#include "tools/driver/Diagnostics.h"
#include "tools/driver/OutputFolder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = llvm::sys::fs;

namespace tilewright::driver {

namespace {
constexpr llvm::StringLiteral kModel = "model.so", kWeights = "model.tww", kLock = ".lock";
constexpr llvm::StringLiteral kLimit = "TILEWRIGHT_CACHE_SIZE";

/// "50G" in bytes; nothing for what is no size.
std::optional<uint64_t> parseSize(llvm::StringRef text) {
  uint64_t factor = 1, number;
  constexpr llvm::StringLiteral units = "KMGT";
  if (size_t unit = text.empty() ? llvm::StringRef::npos : units.find(text.back()); unit != llvm::StringRef::npos) {
    for (size_t i = 0; i <= unit; ++i)
      factor *= 1000;
    text = text.drop_back();
  }
  if (text.getAsInteger(10, number) || number > UINT64_MAX / factor)
    return std::nullopt;
  return number * factor;
}
} // namespace

std::string sizeText(uint64_t bytes) {
  return bytes >= 1'000'000'000 ? llvm::formatv("{0:f1} GB", static_cast<double>(bytes) / 1e9).str()
                                : llvm::formatv("{0:f1} MB", static_cast<double>(bytes) / 1e6).str();
}

llvm::Expected<uint64_t> ModelCache::sizeLimit() {
  constexpr uint64_t kDefault = 50'000'000'000;
  const char *text = std::getenv(kLimit.data());
  if (!text || !*text)
    return kDefault;
  std::optional<uint64_t> size = parseSize(text);
  if (!size)
    return llvm::createStringError(kLimit + ": found '" + text + "', wanted a size in bytes, such as 20G");
  return *size;
}

bool ModelCache::use(llvm::StringRef key) const {
  llvm::SmallString<128> file(path(key));
  llvm::sys::path::append(file, kModel);
  return utimensat(AT_FDCWD, file.c_str(), nullptr, 0) == 0;
}

ModelCache::Lock::~Lock() {
  if (file >= 0)
    close(file); // which unlocks it
}

llvm::Expected<ModelCache::Lock> ModelCache::lock(llvm::StringRef key) const {
  if (std::error_code error = fs::create_directories(folder))
    return llvm::createStringError("the cache '" + folder + "' cannot be made: " + error.message());
  const std::string name = path(key) + kLock.str();
  const int file = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  int failed = file < 0 ? -1 : flock(file, LOCK_EX);
  while (file >= 0 && failed < 0 && errno == EINTR)
    failed = flock(file, LOCK_EX);
  if (failed < 0) {
    std::string why = std::strerror(errno);
    if (file >= 0)
      close(file);
    return llvm::createStringError(name + ": cannot be locked: " + why);
  }
  return Lock(file);
}

std::vector<ModelCache::Entry> ModelCache::entries() const {
  OutputFolder::removeLeftIn(folder);
  std::vector<Entry> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error; it.increment(error)) {
    Entry entry;
    entry.name = llvm::sys::path::filename(it->path()).str();
    if (OutputFolder::isTemporary(entry.name))
      continue;
    struct stat model, weights;
    if (stat((it->path() + "/" + kModel).str().c_str(), &model) != 0)
      continue;
    entry.bytes = static_cast<uint64_t>(model.st_size);
    if (stat((it->path() + "/" + kWeights).str().c_str(), &weights) == 0)
      entry.bytes += static_cast<uint64_t>(weights.st_size);
    entry.used = std::chrono::system_clock::from_time_t(model.st_mtim.tv_sec) +
                 std::chrono::duration_cast<std::chrono::system_clock::duration>(
                     std::chrono::nanoseconds(model.st_mtim.tv_nsec));
    found.push_back(std::move(entry));
  }
  llvm::sort(found, [](const Entry &a, const Entry &b) { return std::tie(a.used, a.name) < std::tie(b.used, b.name); });
  return found;
}

llvm::Expected<std::vector<ModelCache::Entry>> ModelCache::shrink(uint64_t bytes, llvm::StringRef kept) const {
  std::vector<Entry> all = entries(), removed;
  uint64_t total = 0;
  for (const Entry &entry : all)
    total += entry.bytes;
  for (Entry &entry : all) {
    if (total <= bytes)
      break;
    if (entry.name == kept)
      continue;
    if (std::error_code error = fs::remove_directories(path(entry.name), /*IgnoreErrors=*/false))
      return llvm::createStringError(path(entry.name) + ": cannot be removed: " + error.message());
    fs::remove(path(entry.name) + kLock.str());
    total -= entry.bytes;
    removed.push_back(std::move(entry));
  }
  return removed;
}

int listCache(const CacheOptions &options) {
  ModelCache cache(cacheFolder());
  llvm::Expected<uint64_t> limit = ModelCache::sizeLimit();
  if (!limit)
    return report(limit.takeError(), Usage);
  uint64_t total = 0;
  llvm::json::Array list;
  for (const ModelCache::Entry &entry : cache.entries()) {
    const auto age = std::chrono::duration_cast<std::chrono::hours>(std::chrono::system_clock::now() - entry.used);
    total += entry.bytes;
    if (options.json)
      list.push_back(llvm::json::Object{{"path", cache.path(entry.name)},
                                        {"bytes", static_cast<int64_t>(entry.bytes)},
                                        {"hours_unused", static_cast<int64_t>(age.count())}});
    else
      llvm::outs() << llvm::formatv("{0,10}  used {1} h ago  {2}\n", sizeText(entry.bytes), age.count(),
                                    cache.path(entry.name));
  }
  if (options.json)
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(list)));
  else
    llvm::outs() << sizeText(total) << " of at most " << sizeText(*limit) << " in " << cacheFolder() << "\n";
  return Success;
}

int cleanCache(const CacheOptions &options) {
  std::optional<uint64_t> keep = options.keep.empty() ? std::optional<uint64_t>(0) : parseSize(options.keep);
  if (!keep)
    return report(llvm::createStringError("--keep: found '" + options.keep + "', wanted a size in bytes, such as 20G"),
                  Usage);
  auto removed = ModelCache(cacheFolder()).shrink(*keep);
  if (!removed)
    return report(removed.takeError(), WorkFailed);
  uint64_t bytes = 0;
  for (const ModelCache::Entry &entry : *removed)
    bytes += entry.bytes;
  llvm::outs() << "removed " << removed->size() << (removed->size() == 1 ? " model, " : " models, ") << sizeText(bytes)
               << "\n";
  return Success;
}

} // namespace tilewright::driver

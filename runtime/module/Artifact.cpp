// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/Artifact.h"

#include "runtime/api/Error.h"
#include "runtime/api/weights_file.h"
#include "runtime/module/ElfFile.h"

#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <set>
#include <xxhash.h>

namespace tilewright {
namespace {

/// The file without its seal. Throws Error(CORRUPT) unless the seal fits.
std::span<const uint8_t> unsealed(std::span<const uint8_t> file, const std::string &path) {
  tw_code_seal seal;
  if (file.size() < sizeof seal)
    throw Error(TW_CORRUPT, path + ": has " + std::to_string(file.size()) + " bytes, its seal alone has " +
                                std::to_string(sizeof seal));
  const std::span<const uint8_t> code = file.first(file.size() - sizeof seal);
  std::memcpy(&seal, file.data() + code.size(), sizeof seal);
  if (std::memcmp(seal.magic, TW_CODE_SEAL_MAGIC, sizeof seal.magic) != 0)
    throw Error(TW_CORRUPT, path + ": has no seal at its end: it is truncated, changed after compiling, or no compiled "
                                   "model");
  if (seal.hash != XXH3_64bits(code.data(), code.size()))
    throw Error(TW_CORRUPT, path + ": its content does not fit the hash in its seal: it is damaged");
  return code;
}

/// Code files that are loaded now. dlopen compares names before it looks at files, so a folder compiled anew while its
/// older code is in use would get the older code: each file gets a spelling of its path that no other loaded file has.
class LoadedFiles {
public:
  using Identity = std::pair<dev_t, ino_t>;

  static LoadedFiles &instance() {
    static LoadedFiles files;
    return files;
  }

  std::string acquire(const std::string &folder, Identity identity) {
    std::lock_guard lock(mutex);
    auto [entry, isNew] = files.try_emplace(identity);
    if (isNew) {
      std::set<size_t> taken;
      for (const auto &[other, use] : files)
        if (other != identity)
          taken.insert(use.serial);
      while (taken.count(entry->second.serial))
        ++entry->second.serial;
    }
    ++entry->second.count;
    std::string name = folder;
    for (size_t i = 0; i < entry->second.serial; ++i)
      name += "/.";
    return name + "/model.so";
  }

  void release(Identity identity) {
    std::lock_guard lock(mutex);
    const auto entry = files.find(identity);
    if (--entry->second.count == 0)
      files.erase(entry);
  }

private:
  struct Use {
    size_t serial = 0;
    size_t count = 0;
  };
  std::mutex mutex;
  std::map<Identity, Use> files;
};

std::string missingFeatures(const artifact::Level &level, const CpuFeatures &features) {
  std::string missing;
  for (const auto *name : *level.features())
    if (!features.has(name->str()))
      missing += (missing.empty() ? "" : ", ") + name->str();
  return missing;
}

bool needsTiles(const artifact::Level &level) {
  for (const auto *name : *level.features())
    if (name->str() == "amx-tile")
      return true;
  return false;
}

} // namespace

std::unique_ptr<Artifact> Artifact::load(const std::string &folder, const ArtifactOptions &options) {
  std::unique_ptr<Artifact> artifact(new Artifact(folder));
  const std::string path = folder + "/model.so";
  const FileBytes code = FileBytes::map(path);
  const std::span<const uint8_t> elf = unsealed(code.bytes(), path);
  artifact->content = Manifest::parse(findElfSection(elf, TW_ABI_MANIFEST_SECTION, path), path);
  artifact->openWeights(options);
  artifact->chooseLevel(options);
  artifact->chooseKvElement(options);
  artifact->loadCode(path, code.fileIdentity());
  return artifact;
}

Manifest Artifact::readManifest(const std::string &folder) {
  const std::string path = folder + "/model.so";
  const FileBytes code = FileBytes::map(path);
  return Manifest::parse(findElfSection(unsealed(code.bytes(), path), TW_ABI_MANIFEST_SECTION, path), path);
}

Artifact::~Artifact() {
  if (library)
    ::dlclose(library);
  if (codeIdentity)
    LoadedFiles::instance().release(*codeIdentity);
}

void Artifact::openWeights(const ArtifactOptions &options) {
  const std::string path = root + "/" + content->weights_file()->str();
  weightFile = options.hugePages ? FileBytes::readHuge(path) : FileBytes::map(path);
  const std::span<const uint8_t> bytes = weightFile.bytes();
  tw_weights_header header;
  if (bytes.size() < sizeof header)
    throw Error(TW_CORRUPT, path + ": has " + std::to_string(bytes.size()) + " bytes, its header alone has " +
                                std::to_string(sizeof header));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, TW_WEIGHTS_MAGIC, sizeof header.magic) != 0)
    throw Error(TW_CORRUPT, path + ": is no file of packed weights (bad magic)");
  if (header.length != bytes.size())
    throw Error(TW_CORRUPT, path + ": has " + std::to_string(bytes.size()) + " bytes, its header says " +
                                std::to_string(header.length) + ": it is truncated or damaged");
  if (header.hash != content->weights_hash() || header.length != content->weights_file_length())
    throw Error(TW_INCOMPATIBLE, path + ": belongs to another build than " + root +
                                     "/model.so: compile the model again, or restore both "
                                     "files of one build");
  const uint32_t count = content->weights() ? content->weights()->size() : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const auto *weight = content->weights()->Get(i);
    const uint8_t *at = bytes.data() + weight->offset();
    if (options.checkWeights && XXH3_64bits(at, weight->length()) != weight->hash())
      throw Error(TW_CORRUPT, path + ": weight '" + weight->name()->str() + "' does not fit its hash: it is damaged");
    // Compiled code takes mutable pointers for all buffers; the pages themselves are read-only.
    weightPointers.push_back(const_cast<uint8_t *>(at));
  }
}

void Artifact::chooseLevel(const ArtifactOptions &options) {
  const CpuFeatures &features = options.features ? *options.features : CpuFeatures::host();
  std::string available, reasons;
  bool named = false;
  for (size_t i = content->levels()->size(); i-- > 0;) {
    const artifact::Level &candidate = *content->levels()->Get(static_cast<uint32_t>(i));
    const std::string name = candidate.name()->str();
    available += (available.empty() ? "" : ", ") + name;
    if (!options.level.empty() && options.level != name)
      continue;
    named = true;
    std::string missing = missingFeatures(candidate, features);
    if (missing.empty() && needsTiles(candidate) && !requestTileRegisters())
      missing = "the kernel's permission for tile registers";
    if (missing.empty()) {
      levelIndex = i;
      return;
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string("level ") + name + " needs " + missing;
  }
  if (!named)
    throw Error(TW_INVALID, root + ": has no level '" + options.level + "'; it has: " + available);
  throw Error(TW_INCOMPATIBLE,
              root + ": this CPU lacks what the artifact's levels need: " + reasons + ". Compile it for this machine");
}

void Artifact::chooseKvElement(const ArtifactOptions &options) {
  kvElementName = options.kvElement.empty() ? content->kv_element()->str() : options.kvElement;
  if (kvElementName != "f32" && kvElementName != "bf16")
    throw Error(TW_INVALID, "K/V caches of '" + kvElementName + "', wanted f32 or bf16");
  for (const auto *step : *level().steps())
    if (content.kvElementOf(*step) == kvElementName)
      formsOf(*step).variants.push_back(step);
  if (variants().empty())
    throw Error(TW_UNSUPPORTED, root + ": has no steps for K/V caches of " + kvElementName + "; numerics " +
                                    content->numerics()->str() + " keeps them in " + content->kv_element()->str());
}

void Artifact::loadCode(const std::string &path, std::pair<dev_t, ino_t> identity) {
  const std::string name = LoadedFiles::instance().acquire(root, identity);
  codeIdentity = identity;
  library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = ::dlerror();
    throw Error(TW_CORRUPT, path + ": cannot load its code: " + (reason ? reason : "unknown reason"));
  }
  const auto *table = static_cast<const tw_abi_table *>(::dlsym(library, TW_ABI_TABLE_SYMBOL));
  if (!table)
    throw Error(TW_CORRUPT, path + ": does not export " TW_ABI_TABLE_SYMBOL);
  if (table->size < sizeof(tw_abi_table) || table->abi_version != TW_ABI_VERSION)
    throw Error(TW_INCOMPATIBLE, path + ": compiled for ABI version " + std::to_string(table->abi_version) +
                                     " with a table of " + std::to_string(table->size) + " bytes, this runtime has " +
                                     std::to_string(TW_ABI_VERSION) + " with " + std::to_string(sizeof(tw_abi_table)));
  if (table->entries != content.entries())
    throw Error(TW_CORRUPT, path + ": exports " + std::to_string(table->entries) + " steps, its manifest lists " +
                                std::to_string(content.entries()));
  const size_t first = content.firstEntry(levelIndex);
  for (uint32_t i = 0; i < level().steps()->size(); ++i) {
    if (!table->entry || !table->entry[first + i])
      throw Error(TW_CORRUPT, path + ": step " + std::to_string(first + i) + " is missing from its table");
    const artifact::StepVariant &step = *level().steps()->Get(i);
    if (content.kvElementOf(step) == kvElementName)
      formsOf(step).code.push_back(table->entry[first + i]);
  }
}

} // namespace tilewright

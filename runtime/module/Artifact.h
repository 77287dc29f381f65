// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled model from its folder: model.so and its weights, verified before any of its code runs.
#pragma once

#include "runtime/api/abi.h"
#include "runtime/module/CpuFeatures.h"
#include "runtime/module/FileBytes.h"
#include "runtime/module/Manifest.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

struct ArtifactOptions {
  std::string level = {};                ///< empty: the strongest this CPU can run
  std::string kvElement = {};            ///< what the K/V caches hold, "f32" or "bf16"; empty: the manifest's
  bool checkWeights = false;             ///< hash every packed weight
  bool hugePages = false;                ///< read the weights into huge pages instead of mapping them
  const CpuFeatures *features = nullptr; ///< null: this machine's
};

/// The compiled functions of a model that the runtime calls.
enum class StepEntry { Step, Encode };

/// Immutable after load(); shared by any number of threads.
class Artifact {
public:
  /// Checks, in this order: the seal of model.so, its ELF structure, the manifest, that the weights file belongs to it,
  /// the CPU level, that it has steps for the K/V element, and only then loads the code. Throws Error with NOT_FOUND,
  /// IO, CORRUPT, INCOMPATIBLE, UNSUPPORTED or INVALID.
  static std::unique_ptr<Artifact> load(const std::string &folder, const ArtifactOptions &options = {});

  /// The manifest alone, of any CPU's artifact: checks the seal of model.so and the manifest, loads nothing.
  static Manifest readManifest(const std::string &folder);

  ~Artifact();
  Artifact(const Artifact &) = delete;
  Artifact &operator=(const Artifact &) = delete;

  const std::string &folder() const { return root; }
  const Manifest &manifest() const { return content; }
  const artifact::Level &level() const { return *content->levels()->Get(static_cast<uint32_t>(levelIndex)); }
  /// What the K/V caches hold: "f32" or "bf16".
  const std::string &kvElement() const { return kvElementName; }
  /// The level's forms of an entry for that element; none of Encode where the model reads no sources.
  std::span<const artifact::StepVariant *const> variants(StepEntry which = StepEntry::Step) const {
    return forms[static_cast<size_t>(which)].variants;
  }
  /// Compiled entry of variants(which)[index].
  tw_abi_entry entry(size_t index, StepEntry which = StepEntry::Step) const {
    return forms[static_cast<size_t>(which)].code[index];
  }
  /// Packed bytes of each weight, in the manifest's order.
  void *const *weights() const { return weightPointers.data(); }
  uint64_t weightBytes() const { return weightFile.bytes().size(); }

private:
  explicit Artifact(std::string folder) : root(std::move(folder)) {}
  void openWeights(const ArtifactOptions &options);
  void chooseLevel(const ArtifactOptions &options);
  void chooseKvElement(const ArtifactOptions &options);
  void loadCode(const std::string &path, std::pair<dev_t, ino_t> identity);

  std::string root;
  Manifest content;
  FileBytes weightFile;
  std::vector<void *> weightPointers;
  size_t levelIndex = 0;
  std::string kvElementName;
  struct Forms {
    std::vector<const artifact::StepVariant *> variants;
    std::vector<tw_abi_entry> code;
  };
  Forms &formsOf(const artifact::StepVariant &step) { return forms[Manifest::isEncode(step) ? 1 : 0]; }
  Forms forms[2]; ///< by StepEntry
  void *library = nullptr;
  std::optional<std::pair<dev_t, ino_t>> codeIdentity; ///< of the loaded file
};

} // namespace tilewright

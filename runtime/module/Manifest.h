// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one way from bytes to a manifest that may be used: structure first, then meaning.
#pragma once

#include "runtime/api/artifact_generated.h"
#include "runtime/api/layout.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

constexpr uint32_t kManifestVersion = 3; ///< newest format this runtime reads

/// A verified manifest with its own copy of the bytes. Immutable; movable.
class Manifest {
public:
  /// `path` is for messages. Throws Error(CORRUPT) for damaged or contradicting content, Error(INCOMPATIBLE) for a
  /// newer format or another page size.
  static Manifest parse(std::span<const uint8_t> bytes, const std::string &path);

  Manifest() = default;
  Manifest(Manifest &&) = default;
  Manifest &operator=(Manifest &&) = default;

  const artifact::Manifest *operator->() const { return root; }
  const artifact::Manifest &operator*() const { return *root; }

  /// Steps of all levels before `level`: where its variants start in the exported table.
  size_t firstEntry(size_t level) const;
  size_t entries() const { return firstEntry(root->levels()->size()); }
  /// What the K/V caches of a step form hold: "f32" or "bf16".
  std::string kvElementOf(const artifact::StepVariant &step) const;
  /// Whether it is a form of the entry that reads sources.
  static bool isEncode(const artifact::StepVariant &step) { return step.entry() && step.entry()->str() == "encode"; }

private:
  std::vector<uint64_t> storage; ///< 64-bit words: FlatBuffers reads aligned
  const artifact::Manifest *root = nullptr;
};

LayoutDescriptor layoutFromManifest(const artifact::Layout &layout);

/// The step's results besides the logits, in the manifest's order.
std::vector<const artifact::Output *> manifestOutputs(const artifact::Manifest &manifest);

/// The windows that states have, by number: distinct, in the order of the states.
std::vector<int64_t> stateWindows(const artifact::Manifest &manifest);

/// Numbers that an output has for each wanted row.
int64_t outputRowSize(const artifact::Output &output);

/// Rows (product of all extents but the last) and columns of a weight. Throws Error(CORRUPT) for a bad shape.
std::pair<int64_t, int64_t> weightShape(const artifact::Weight &weight);

} // namespace tilewright

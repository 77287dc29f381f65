// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes an artifact folder around the fake model: adds the manifest section to its shared object, seals it, packs the
// weights.
#pragma once

#include "runtime/api/artifact_generated.h"
#include "tests/unit/runtime/TemporaryFolder.h"
#include "tests/unit/runtime/fake/model.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tilewright::testing {

struct FakeArtifactOptions {
  std::string code = "fake_model"; ///< which build of the shared object
  uint32_t weightSeed = 1;
  std::function<void(artifact::ManifestT &)> change = {}; ///< applied to the good manifest
};

/// Writes model.so and model.tww into `folder`, replacing what is there.
void writeFakeArtifact(const std::string &folder, const FakeArtifactOptions &options = {});

/// The manifest as writeFakeArtifact writes it (before the section is added).
std::vector<uint8_t> manifestBytes(const artifact::ManifestT &manifest);

/// The shared object with one more section, and where that section's bytes start.
std::vector<uint8_t> withSection(std::vector<uint8_t> elf, const std::string &name, const std::vector<uint8_t> &content,
                                 size_t *contentOffset = nullptr);

/// The weight the fake model multiplies logits by.
float fakeScale(uint32_t seed, int v);

/// Logits [FAKE_VOCAB] after the last of `tokens`, computed without pages, phases or chunks. No `positions`: they
/// count. `window` > 0: the last layer sees as many tokens.
std::vector<float> fakeLogits(const std::vector<int32_t> &tokens, uint32_t seed = 1,
                              const std::vector<int32_t> &positions = {}, size_t window = 0);

} // namespace tilewright::testing

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as an artifact's manifest: refused with an error, or usable without further checks.
#include "runtime/module/Manifest.h"
#include "runtime/api/Error.h"
#include "tests/unit/runtime/TemporaryFolder.h"
#include "tests/unit/runtime/fake/FakeArtifact.h"

#include <cstdlib>
#include <fstream>

using namespace tilewright;

/// Writes the manifest of the unit tests' artifact into the folder that TILEWRIGHT_FUZZ_SEEDS names, if it does.
extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  const char *folder = std::getenv("TILEWRIGHT_FUZZ_SEEDS");
  if (!folder)
    return 0;
  testing::FakeArtifactOptions options;
  options.change = [&](artifact::ManifestT &manifest) {
    std::vector<uint8_t> bytes = testing::manifestBytes(manifest);
    std::ofstream file(std::string(folder) + "/good", std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file)
      std::abort();
  };
  testing::TemporaryFolder scratch;
  testing::writeFakeArtifact(scratch.path(), options);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    Manifest manifest = Manifest::parse({data, size}, "fuzz");
    size_t sum = manifest.entries();
    for (const artifact::Level *level : *manifest->levels())
      for (const artifact::StepVariant *step : *level->steps())
        sum += manifest.kvElementOf(*step).size();
    if (const auto *weights = manifest->weights())
      for (const artifact::Weight *weight : *weights)
        sum += static_cast<size_t>(weightShape(*weight).first);
    volatile size_t used = sum;
    (void)used;
  } catch (const Error &error) {
    if (!*error.what())
      std::abort();
  }
  return 0;
}

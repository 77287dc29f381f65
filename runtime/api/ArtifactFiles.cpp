// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/ArtifactFiles.h"

#include "runtime/api/Error.h"
#include "runtime/api/OutcomeOf.h"
#include "runtime/module/WeightsWriter.h"

namespace tilewright {
struct WeightsFile::Writer : WeightsWriter {
  using WeightsWriter::WeightsWriter;
};

WeightsFile::WeightsFile() = default;
WeightsFile::~WeightsFile() = default;
WeightsFile::WeightsFile(WeightsFile &&) noexcept = default;
WeightsFile &WeightsFile::operator=(WeightsFile &&) noexcept = default;

Outcome checkLayout(const LayoutDescriptor &layout) {
  return outcomeOf([&] { validateLayout(layout); });
}

Outcome WeightsFile::open(const std::string &path) {
  return outcomeOf([&] {
    writer.reset();
    writer = std::make_unique<Writer>(path);
  });
}

Outcome WeightsFile::add(const LayoutDescriptor &layout, int64_t rows, int64_t columns,
                         const RowPermutation *permutation, const uint8_t *source, uint64_t sourceBytes,
                         Placed &placed) {
  return outcomeOf([&] {
    if (!writer)
      throw Error(TW_INVALID, "weights file: add() before open() or after finish()");
    Packer packer(layout, rows, columns, permutation ? std::optional<RowPermutation>(*permutation) : std::nullopt);
    const PlacedWeight at = writer->add(packer, {source, sourceBytes});
    placed = {at.offset, at.length, at.hash};
  });
}

Outcome WeightsFile::finish(Finished &finished) {
  return outcomeOf([&] {
    if (!writer)
      throw Error(TW_INVALID, "weights file: finish() before open()");
    const FinishedWeights done = writer->finish();
    writer.reset();
    finished = {done.length, done.hash};
  });
}

Outcome sealCode(const std::string &path) {
  return outcomeOf([&] { sealCodeFile(path); });
}

} // namespace tilewright

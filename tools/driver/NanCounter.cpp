// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/NanCounter.h"

#include "ir/interfaces/Interfaces.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/STLExtras.h"

#include <atomic>
#include <cmath>

using namespace mlir;

namespace tilewright::driver {

static constexpr size_t kBlocksPerTask = 8192;
static constexpr size_t kNamed = 8;

void NanCounter::look(StringRef name, Type type, ArrayRef<uint8_t> bytes) {
  ++weights;
  auto storage = dyn_cast<StorageType>(type);
  if (!storage)
    return;
  const auto blockBytes = static_cast<size_t>(storage.getBlockBytes());
  const auto blockElements = static_cast<size_t>(storage.getBlockElements());
  // Rows of floats need not be whole blocks: the last block is the only one that is short.
  const size_t blocks = llvm::divideCeil(bytes.size(), blockBytes);
  std::atomic<int64_t> count = 0;
  parallelFor(&context, 0, llvm::divideCeil(blocks, kBlocksPerTask), [&](size_t task) {
    SmallVector<float> decoded(blockElements);
    SmallVector<uint8_t> padded;
    int64_t here = 0;
    for (size_t block = task * kBlocksPerTask; block < std::min(blocks, (task + 1) * kBlocksPerTask); ++block) {
      ArrayRef<uint8_t> stored = bytes.drop_front(block * blockBytes).take_front(blockBytes);
      if (stored.size() < blockBytes) {
        padded.assign(stored.begin(), stored.end());
        padded.resize(blockBytes);
        stored = padded;
      }
      storage.decodeBlock(stored.data(), decoded.data());
      here += llvm::count_if(decoded, [](float number) { return std::isnan(number); });
    }
    count += here;
  });
  if (count > 0)
    found.push_back({name.str(), count});
}

void NanCounter::warn(StringRef model) const {
  if (found.empty())
    return;
  int64_t total = 0;
  for (const Found &weight : found)
    total += weight.count;
  const Location place = UnknownLoc::get(&context);
  InFlightDiagnostic warning = emitWarning(place);
  warning << model << ": " << total << (total == 1 ? " number in " : " numbers in ") << found.size() << " of "
          << weights << " weights " << (total == 1 ? "is" : "are") << " NaN, the first in weight '"
          << found.front().name << "'; what is computed from them is NaN as well";
  for (const Found &weight : ArrayRef(found).take_front(kNamed))
    warning.attachNote(place) << "weight '" << weight.name << "' holds " << weight.count;
  if (found.size() > kNamed)
    warning.attachNote(place) << "and so do " << found.size() - kNamed << " more weights";
}

} // namespace tilewright::driver

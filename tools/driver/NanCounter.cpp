// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/NanCounter.h"

#include "ir/interfaces/DecodeBlocks.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/STLExtras.h"

#include <atomic>
#include <cmath>

using namespace mlir;

namespace tilewright::driver {

static constexpr size_t kBlocksPerTask = 1024;
static constexpr size_t kNamed = 8;

void NanCounter::look(StringRef name, Type type, ArrayRef<uint8_t> bytes) {
  ++weights;
  auto storage = dyn_cast<StorageType>(type);
  if (!storage)
    return;
  const auto blockBytes = static_cast<size_t>(storage.getBlockBytes());
  const auto blockElements = static_cast<size_t>(storage.getBlockElements());
  const size_t taskBytes = kBlocksPerTask * blockBytes;
  std::atomic<int64_t> count = 0;
  parallelFor(&context, 0, llvm::divideCeil(bytes.size(), taskBytes), [&](size_t task) {
    const ArrayRef<uint8_t> stored = bytes.drop_front(task * taskBytes).take_front(taskBytes);
    std::vector<float> decoded(stored.size() * blockElements / blockBytes);
    decodeBlocks(storage, stored, decoded);
    count += llvm::count_if(decoded, [](float number) { return std::isnan(number); });
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

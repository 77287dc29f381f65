// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin's storage types: their blocks and layouts. Products with them are checked as kernels of the samples.
#include "ir/interfaces/Interfaces.h"
#include "tools/conformance/Environment.h"

#include "mlir/AsmParser/AsmParser.h"

#include <cstring>

using namespace mlir;

namespace tilewright::conformance {

/// What is wrong with a field of a layout, or nothing.
static std::string fieldProblem(const LayoutField &field, int64_t blockBytes) {
  if (!llvm::is_contained({1u, 2u, 4u, 8u, 16u, 32u}, field.bits))
    return "has items of " + std::to_string(field.bits) + " bits, wanted 1, 2, 4, 8, 16 or 32";
  uint64_t last = field.sourceBit + field.bits;
  SmallVector<int32_t> wanted = {LayoutField::kRow}, order(field.order.begin(), field.order.end());
  for (auto [i, split] : llvm::enumerate(field.splits)) {
    if (split.extent == 0)
      return "has a split of extent 0";
    last += uint64_t(split.extent - 1) * split.strideBits;
    wanted.push_back(static_cast<int32_t>(i));
  }
  if (last > uint64_t(blockBytes) * 8)
    return "reads up to bit " + std::to_string(last) + " of a block of " + std::to_string(blockBytes * 8);
  llvm::sort(order);
  if (!llvm::equal(order, wanted))
    return "has an order that does not name each split and the row once";
  return "";
}

Finding checkStorage(const Environment &environment, StringRef name) {
  CapturedDiagnostics diagnostics(environment.context.get());
  Type type = parseType(name, environment.context.get());
  if (!type)
    return failed("does not parse: " + diagnostics.error("no reason given"));
  auto storage = dyn_cast<StorageType>(type);
  if (!storage)
    return absent("no storage type");
  int64_t elements = storage.getBlockElements(), bytes = storage.getBlockBytes();
  if (elements < 1 || bytes < 1)
    return failed("has blocks of " + std::to_string(elements) + " elements in " + std::to_string(bytes) + " bytes");
  LayoutDescriptor layout = storage.getLayout();
  // A layout's block may be several of the file's (single floats are blocks of one element).
  if (layout.blockElements % elements != 0 || layout.blockBytes != layout.blockElements / elements * bytes)
    return failed("packs blocks of " + std::to_string(layout.blockElements) + " elements in " +
                  std::to_string(layout.blockBytes) + " bytes, but stores " + std::to_string(elements) + " in " +
                  std::to_string(bytes));
  if (layout.fields.empty())
    return failed("its layout '" + layout.name + "' has no field");
  for (auto [i, field] : llvm::enumerate(layout.fields))
    if (std::string problem = fieldProblem(field, layout.blockBytes); !problem.empty())
      return failed("field " + std::to_string(i) + " of its layout '" + layout.name + "' " + problem);
  // Decoding stays within the block: what lies behind it does not matter.
  for (int fill : {0x00, 0x3C, 0x5A}) {
    std::vector<uint8_t> block(bytes + 64, static_cast<uint8_t>(fill));
    std::vector<float> first(elements), second(elements);
    storage.decodeBlock(block.data(), first.data());
    std::fill(block.begin() + bytes, block.end(), 0xA7);
    storage.decodeBlock(block.data(), second.data());
    if (std::memcmp(first.data(), second.data(), elements * sizeof(float)) != 0)
      return failed("decodes what lies behind its block");
  }
  bool isUsed = llvm::any_of(environment.samples, [&](const SampleText *sample) {
    return !sample->isBad && sample->mentions(name.drop_front());
  });
  if (!isUsed)
    return failed("stands in no good sample");
  return passed(std::to_string(elements) + " elements in " + std::to_string(bytes) + " bytes, layout " + layout.name);
}

} // namespace tilewright::conformance

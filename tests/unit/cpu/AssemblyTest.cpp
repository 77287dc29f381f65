// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of innermost product loops: nothing is stored in them, so no accumulator is spilled, and they use the
// level's instruction. Levels that this machine lacks are checked, too.
#include "tests/unit/cpu/KernelRunner.h"

#include "mlir/Pass/PassManager.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

class Assembly : public testing::TestWithParam<const CpuLevel *> {
protected:
  /// Loops of one block whose instructions include at least `count` of `mnemonic`.
  std::vector<std::string> loops(llvm::StringRef file, llvm::StringRef mnemonic, size_t count) {
    std::string path = (TILEWRIGHT_TEST_DATA "/unit/cpu/kernels/" + file).str();
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context());
    mlir::PassManager passes(&context());
    buildCpuPipeline(passes, *GetParam());
    if (!module || failed(passes.run(*module)))
      return {};
    ObjectBytes text = *emitAssembly(*module, *GetParam());
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(text.data(), text.size()).split(lines, '\n');
    std::vector<std::string> found;
    std::string block;
    llvm::StringRef label;
    for (llvm::StringRef line : lines) {
      if (line.starts_with(".L") && line.contains(':')) {
        label = line.take_until([](char c) { return c == ':'; });
        block.clear();
        continue;
      }
      block += line.str() + "\n";
      llvm::StringRef instruction = line.trim();
      if (instruction.starts_with("j") && instruction.ends_with(label) &&
          llvm::StringRef(block).count(mnemonic) >= count)
        found.push_back(block);
    }
    return found;
  }
  /// Stores of vector registers in a block.
  static size_t stores(llvm::StringRef block) {
    size_t count = 0;
    llvm::SmallVector<llvm::StringRef> lines;
    block.split(lines, '\n');
    for (llvm::StringRef line : lines)
      count += line.trim().starts_with("vmov") && line.trim().ends_with(")");
    return count;
  }
};

llvm::SmallVector<const CpuLevel *> everyLevel() {
  llvm::SmallVector<const CpuLevel *> levels;
  for (const CpuLevel &level : CpuLevel::all())
    levels.push_back(&level);
  return levels;
}
INSTANTIATE_TEST_SUITE_P(Levels, Assembly, testing::ValuesIn(everyLevel()), levelName);

} // namespace

TEST_P(Assembly, MatmulLoopKeepsItsAccumulators) {
  std::vector<std::string> found = loops("matmul_f32.mlir", "vfmadd231ps", 8);
  ASSERT_FALSE(found.empty());
  for (const std::string &loop : found)
    EXPECT_EQ(stores(loop), 0u) << loop;
}

TEST_P(Assembly, FlashLoopsKeepTheirAccumulators) {
  std::vector<std::string> found = loops("flash_attention.mlir", "vfmadd", 4);
  // The rows of exponentials are multiplied and added, too; they alone have a lower bound.
  llvm::erase_if(found, [](llvm::StringRef loop) { return loop.contains("vmaxps"); });
  ASSERT_GE(found.size(), 4u); // two products before the diagonal and two on it
  for (const std::string &loop : found)
    EXPECT_EQ(stores(loop), 0u) << loop;
}

TEST_P(Assembly, OneRowOfNibblesIsReadOnce) {
  bool vnni = GetParam()->dotProductI8;
  std::vector<std::string> found = loops("matmul_q4_1.mlir", vnni ? "vpdpbusd" : "vpmaddubsw", 8);
  ASSERT_FALSE(found.empty());
  // AVX2 parks two of the eight weight registers; the sums stay.
  EXPECT_LE(stores(found[0]), vnni ? 0u : 2u) << found[0];
  if (vnni) {
    EXPECT_EQ(llvm::StringRef(found[0]).count("vpdpbusd"), 8u);
    EXPECT_EQ(llvm::StringRef(found[0]).count("{1to16}, %zmm"), 10u)
        << found[0]; // items, scale and sum, all from memory
  }
}

TEST_P(Assembly, RowsOfNibblesStayInRegisters) {
  if (!GetParam()->dotProductI8)
    GTEST_SKIP() << "AVX2 has too few registers for a block of rows";
  std::vector<std::string> found = loops("matmul_q4_1.mlir", "vpdpbusd", 64);
  ASSERT_EQ(found.size(), 2u); // 8 rows, and 16 in two groups
  for (const std::string &loop : found)
    EXPECT_EQ(stores(loop), 0u) << loop;
}

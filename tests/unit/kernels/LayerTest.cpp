// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decoder layer with everything around it, compiled and run on batches of sequences, against plain arithmetic.
#include "tests/unit/kernels/Batch.h"
#include "tests/unit/kernels/Inputs.h"
#include "tests/unit/kernels/ProgramRunner.h"
#include "tests/unit/kernels/ReferenceModel.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct Variant {
  const char *name;
  ModelShape shape;
  const char *weight; ///< tests/e2e/Inputs/weight-<this>.mlir
  const char *stage;  ///< where compilation starts: "tile", or "fuse" for the plugins' fused forms
  const char *numerics;
  double bound; ///< largest difference of a logit, relative to the largest logit
};

std::string programText(const Variant &v) {
  std::string text = inputText("layer.mlir");
  const ModelShape &s = v.shape;
  for (auto [word, number] : std::vector<std::pair<const char *, int64_t>>{{"E", s.embedding},
                                                                           {"H", s.heads},
                                                                           {"K", s.headsKv},
                                                                           {"D", s.dim},
                                                                           {"F", s.hidden},
                                                                           {"V", s.vocabulary},
                                                                           {"HD", s.heads * s.dim},
                                                                           {"KD", s.headsKv * s.dim}})
    text = replaced(text, word, std::to_string(number));
  return inputText(std::string("weight-") + v.weight + ".mlir") + text;
}

class Layer : public testing::TestWithParam<std::tuple<Variant, const CpuLevel *>> {};

/// Random weights: their bytes in the file's format, and what they decode to.
struct Weights {
  std::map<std::string, std::vector<uint8_t>> bytes;
  std::map<std::string, std::vector<double>> numbers;

  void add(const std::string &name, int64_t rows, int64_t columns, mlir::Type element, double scale) {
    std::mt19937 random(std::hash<std::string>()(name) % 1000);
    auto storage = mlir::cast<StorageType>(element);
    int64_t block = storage.getBlockElements(), size = storage.getBlockBytes();
    std::vector<uint8_t> &file = bytes[name];
    std::vector<double> &decoded = numbers[name];
    for (int64_t i = 0; i < llvm::divideCeilSigned(rows * columns, block); ++i) {
      std::vector<uint8_t> one(size);
      if (element.isF32()) {
        for (int64_t e = 0; e < block; ++e)
          reinterpret_cast<float *>(one.data())[e] = scale * (double(random() >> 8) / 8388608.0 - 1.0);
      } else {
        for (uint8_t &byte : one)
          byte = random();
        // A normal f16 near `value`.
        auto half = [&](double value) -> uint16_t {
          int exponent = std::max(-14, std::ilogb(std::fabs(value)));
          int fraction = std::max(0, int(std::ldexp(std::fabs(value), 10 - exponent)) - 1024);
          return (value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction;
        };
        auto *numbers = reinterpret_cast<uint16_t *>(one.data());
        if (element.isF16())
          for (int64_t e = 0; e < block; ++e)
            numbers[e] = half(scale * (double(random() >> 8) / 8388608.0 - 1.0));
        // In front of quants: the scale and, in a block of 20 bytes, the minimum; 16 quants or 255 make the range.
        double step = scale / (size > 24 ? 127 : 8) * (1 + random() % 4 * 0.25);
        if (!element.isF16())
          numbers[0] = half(step);
        if (size == 20)
          numbers[1] = half(-7.5 * step);
      }
      std::vector<float> out(block);
      storage.decodeBlock(one.data(), out.data());
      file.insert(file.end(), one.begin(), one.end());
      decoded.insert(decoded.end(), out.begin(), out.end());
    }
    // Rows of floats need not be whole blocks.
    file.resize(rows * columns * size / block);
    decoded.resize(rows * columns);
  }
};

} // namespace

TEST_P(Layer, AgreesWithPlainArithmetic) {
  auto [v, level] = GetParam();
  std::string text = programText(v);
  if (!hasDialects(text))
    GTEST_SKIP() << "a plugin of the program is not built";
  const ModelShape &s = v.shape;
  Weights weights;
  mlir::Type f32 = mlir::Float32Type::get(&context()),
             element = mlir::parseType(llvm::StringRef(text).split("!weight = ").second.split('\n').first, &context()),
             mixed = mlir::parseType(llvm::StringRef(text).split("!mixed = ").second.split('\n').first, &context());
  double in = 1.7 / std::sqrt(s.embedding);
  weights.add("emb", s.vocabulary, s.embedding, element, 1.0);
  weights.add("wq", s.heads * s.dim, s.embedding, element, 2 * in);
  weights.add("wk", s.headsKv * s.dim, s.embedding, element, 2 * in);
  weights.add("wv", s.headsKv * s.dim, s.embedding, mixed, in);
  weights.add("wo", s.embedding, s.heads * s.dim, element, 1.7 / std::sqrt(s.heads * s.dim));
  weights.add("wg", s.hidden, s.embedding, element, in);
  weights.add("wu", s.hidden, s.embedding, mixed, in);
  weights.add("wd", s.embedding, s.hidden, element, 1.7 / std::sqrt(s.hidden));
  for (const char *name : {"g1", "g2", "gf"})
    weights.add(name, 1, s.embedding, f32, 1.0);

  std::map<std::string, std::unique_ptr<ProgramRunner>> runners;
  for (const ShapeClass &shapeClass : shapeClasses()) {
    auto &runner = runners[shapeClass.name.str()] =
        std::make_unique<ProgramRunner>(text, v.stage, shapeClass.name, v.numerics, *level);
    ASSERT_TRUE(runner->ready());
    for (auto &[name, bytes] : weights.bytes)
      runner->setWeight(name, bytes);
  }
  Batch batch(*runners["decode"], 16, s.headsKv, s.dim, s.dim);
  for (auto &[name, runner] : runners)
    runner->pools = runners["decode"]->pools;
  std::vector<ReferenceModel> reference(2, ReferenceModel(s, weights.numbers));

  std::mt19937 random(5);
  // Two prompts of odd lengths in one batch (the first crosses a page), some rows at once, single rows, a page's last
  // rows.
  for (auto [first, second] : std::vector<std::pair<int, int>>{{67, 5}, {1, 1}, {3, 2}, {1, 1}, {1, 56}, {1, 2}}) {
    int64_t rows = first + second;
    const ShapeClass &shapeClass = *findShapeClass(first == 1 && second == 1 ? "decode"
                                                   : rows <= 8               ? "small"
                                                                             : "prefill");
    std::vector<std::vector<int32_t>> tokens(2);
    for (int i = 0; i < first; ++i)
      tokens[0].push_back(random() % s.vocabulary);
    for (int i = 0; i < second; ++i)
      tokens[1].push_back(random() % s.vocabulary);
    Step step = batch.step(tokens, shapeClass);
    ProgramRunner &runner = *runners[shapeClass.name.str()];
    auto table = [&](const std::vector<int32_t> &data) { return runner.table(data); };
    auto logits = runner.run("step",
                             {table(step.tokens), table(step.positions), table(step.rowStart), table(step.kvLen),
                              table(step.logitIds), nullptr},
                             step);
    ASSERT_TRUE(logits);
    double error = 0, largest = 1e-30;
    int64_t row = 0;
    for (size_t b = 0; b < tokens.size(); ++b)
      for (int32_t token : tokens[b]) {
        Row want = reference[b].next(token);
        for (int64_t i = 0; i < s.vocabulary; ++i) {
          double difference = std::fabs(logits->as<float>()[row * s.vocabulary + i] - want[i]);
          error = std::isnan(difference) ? HUGE_VAL : std::max(error, difference);
          largest = std::max(largest, std::fabs(want[i]));
        }
        ++row;
      }
    EXPECT_LE(error / largest, v.bound) << first << " and " << second << " rows, class " << shapeClass.name.str();
  }
}

static const Variant variants[] = {
    {"f32_9_3", {576, 9, 3, 64, 96, 199}, "f32", "tile", "precise", 1e-5},
    {"f32_28_4_wide", {64, 28, 4, 128, 160, 35}, "f32", "tile", "precise", 1e-5},
    {"f32_12_1_eighty", {96, 12, 1, 80, 64, 48}, "f32", "tile", "precise", 1e-5},
    {"fused_9_3", {576, 9, 3, 64, 96, 199}, "f32", "fuse", "precise", 1e-5},
    {"fused_28_4_wide", {64, 28, 4, 128, 160, 35}, "f32", "fuse", "precise", 1e-5},
    {"fused_12_1_eighty", {96, 12, 1, 80, 64, 48}, "f32", "fuse", "precise", 1e-5},
    {"q4_1_precise", {192, 6, 3, 64, 256, 199}, "q4_1", "tile", "precise", 1e-5},
    {"q4_1_fast", {192, 6, 3, 64, 256, 199}, "q4_1", "fuse", "fast", 3e-2},
    {"q4_0_fast", {192, 6, 3, 64, 256, 199}, "q4_0", "fuse", "fast", 3e-2},
    {"f16_precise", {96, 6, 3, 32, 64, 48}, "f16", "tile", "precise", 1e-5},
    {"q8_0_precise", {192, 6, 3, 64, 256, 199}, "q8_0", "tile", "precise", 1e-5},
    {"q4_0_f16_fast", {192, 6, 3, 64, 256, 199}, "q4_0-f16", "fuse", "fast", 3e-2},
    {"f32_odd_rows", {60, 6, 3, 10, 90, 35}, "f32", "tile", "precise", 1e-5},
    {"fused_odd_rows", {60, 6, 3, 10, 90, 35}, "f32", "fuse", "precise", 1e-5},
    {"f16_odd_rows", {60, 6, 3, 10, 90, 35}, "f16", "tile", "precise", 1e-5},
    {"q8_0_fast", {192, 6, 3, 64, 256, 199}, "q8_0", "fuse", "fast", 3e-2},
};

INSTANTIATE_TEST_SUITE_P(Variants, Layer,
                         testing::Combine(testing::ValuesIn(variants), testing::ValuesIn(hostCpuLevels())),
                         [](const testing::TestParamInfo<std::tuple<Variant, const CpuLevel *>> &info) {
                           return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param)->name.str();
                         });

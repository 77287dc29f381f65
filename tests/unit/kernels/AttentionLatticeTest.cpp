// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every variant of dense and packed attention together with the others, compiled, against the reference interpreter in
// f64: kernels of random shapes and features, each with many random lengths, prefixes, segments, masks and values.
// TILEWRIGHT_LATTICE=N sets the number of combinations (1000; tests/check-full: 20000), of at most 150 kernels.
#include "tests/unit/kernels/FunctionCase.h"

#include <cstdlib>
#include <limits>

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// One kernel: what its function says, and what its run-time arguments may be.
class Lattice {
public:
  explicit Lattice(unsigned seed) : random(seed) {}

  std::string function();
  std::vector<reference::Tensor> inputs();
  /// Scores are sums of up to 80 products of up to 4: in f32 one is off by 320 * 2^-24 = 2e-5, and its probability by
  /// as much of itself. Else five roundings of bf16 (2^-8), eight of f16 (2^-11).
  double bound() const { return element == "f32" ? 3e-5 : element == "bf16" ? 2e-2 : 4e-3; }

private:
  enum class Kind { Values, Scores, Mask, Start, End, Prefix, RowSegments, KeySegments, Sinks };
  struct Argument {
    Kind kind;
    std::vector<int64_t> shape;
    std::string element;
  };

  int64_t pick(std::initializer_list<int64_t> choices) { return choices.begin()[random() % choices.size()]; }
  bool chance(unsigned percent) { return random() % 100 < percent; }
  void add(const char *name, Kind kind, std::vector<int64_t> shape, llvm::StringRef type);
  std::vector<int64_t> laidOut(int64_t headCount, int64_t rows, int64_t depth) const;
  double number();
  reference::Tensor draw(const Argument &argument);

  std::mt19937 random;
  std::string element, layout, arguments, operands;
  std::vector<Argument> list;
  int64_t batch = 1, heads = 1, headsKv = 1, queries = 1, keys = 1, dim = 1, dimV = 1, segments = 0;
};

std::vector<int64_t> Lattice::laidOut(int64_t headCount, int64_t rows, int64_t depth) const {
  if (layout == "bhtd")
    return {batch, headCount, rows, depth};
  return {batch, rows, headCount, depth};
}

void Lattice::add(const char *name, Kind kind, std::vector<int64_t> shape, llvm::StringRef type) {
  std::string text = typeText(shape, type), value = "%a" + std::to_string(list.size());
  arguments += (list.empty() ? "" : ", ") + value + ": " + text;
  operands += std::string(" ") + name + "(" + value + " : " + text + ")";
  list.push_back({kind, std::move(shape), type.str()});
}

std::string Lattice::function() {
  const int64_t ratios[][2] = {{1, 1}, {2, 2}, {4, 2}, {9, 3}, {28, 4}, {12, 1}, {5, 1}, {6, 2}};
  const int64_t *ratio = ratios[random() % std::size(ratios)];
  heads = ratio[0], headsKv = ratio[1];
  queries = pick({0, 1, 1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 65, 129});
  keys = pick({0, 1, 2, 5, 15, 16, 17, 33, 63, 64, 65, 127, 130, 200});
  if (heads > 9)
    queries = std::min<int64_t>(queries, 17);
  batch = pick({1, 1, 2, 3});
  dim = pick({1, 3, 8, 16, 24, 40, 64, 80});
  dimV = chance(50) ? dim : pick({1, 5, 16, 32, 72});
  element = chance(70) ? "f32" : chance(50) ? "f16" : "bf16";
  layout = chance(60) ? "bhtd" : chance(60) ? "bthd" : "bt3hd";
  const bool packed = chance(25);
  if (packed)
    batch = 1, segments = pick({1, 2, 3, 5});
  if (layout == "bt3hd") {
    headsKv = heads, keys = queries, dimV = dim;
    add("query", Kind::Values, {batch, queries, 3, heads, dim}, element);
  } else {
    add("query", Kind::Values, laidOut(heads, queries, dim), element);
    add("key", Kind::Values, laidOut(headsKv, keys, dim), element);
    add("value", Kind::Values, laidOut(headsKv, keys, dimV), element);
  }
  auto scores = [&] {
    std::vector<int64_t> shape = {chance(50) ? 1 : batch, chance(50) ? 1 : heads, chance(40) ? 1 : queries, keys};
    if (chance(30))
      shape.erase(shape.begin() + 1);
    else if (chance(30))
      shape.erase(shape.begin(), shape.begin() + 2);
    return shape;
  };
  if (chance(30))
    add("mask", Kind::Mask, scores(), chance(60) ? "i1" : chance(50) ? "i32" : "f32");
  if (chance(30))
    add("bias", Kind::Scores, scores(), element);
  if (chance(30))
    add("sinks", Kind::Sinks, {heads}, "f32");
  if (!packed && chance(30))
    add("kv_start", Kind::Start, {batch}, "i32");
  if (!packed && chance(40))
    add("kv_end", Kind::End, {batch}, "i32");
  const bool causal = chance(65);
  if (causal && chance(25))
    add("prefix_len", Kind::Prefix, {packed ? segments : batch}, "i32");
  if (packed) {
    add("cu_seqlens_q", Kind::RowSegments, {segments + 1}, "i32");
    add("cu_seqlens_kv", Kind::KeySegments, {segments + 1}, "i32");
  }
  if (chance(15))
    operands +=
        " score {\n  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):\n    %d = arith.subi %j, %i : i32\n"
        "    %x = arith.addi %h, %b : i32\n    %y = arith.muli %d, %x : i32\n    %f = arith.sitofp %y : i32 to f32\n"
        "    %c = arith.constant 0.01 : f32\n    %g = arith.mulf %f, %c : f32\n    %r = arith.addf %s, %g : f32\n"
        "    tw.yield %r : f32\n  }";
  std::string attributes = "scale = " + std::string(chance(50) ? "0.3" : "1.0") + " : f64, layout = \"" + layout + "\"";
  const bool atEnd = causal && chance(60);
  if (causal)
    attributes += std::string(", causal = \"") + (atEnd ? "end" : "start") + "\"";
  else if (chance(40))
    attributes += ", radius = " + std::to_string(pick({0, 1, 5, 70})) + " : i64";
  if (chance(causal ? 40 : 20))
    attributes += ", window = " + std::to_string(pick({1, 2, 7, 64, 1000})) + " : i64";
  if (chance(20))
    attributes += ", chunk = " + std::to_string(pick({1, 3, 16, 100})) + " : i64";
  if (!atEnd && chance(30))
    attributes += ", offset = " + std::to_string(pick({-3, 1, 40})) + " : i64";
  if (chance(25))
    attributes += ", softcap = " + std::string(chance(50) ? "1.5" : "30.0") + " : f64";
  std::string results = typeText(laidOut(heads, queries, dimV), element), names = "%y", returned = "%y";
  if (chance(60)) {
    results += ", " + typeText({batch, heads, queries}, "f32");
    names += ", %l";
  }
  return "func.func @f(" + arguments + ") -> (" + results + ") {\n  " + names + " = tw.attention" + operands + " {" +
         attributes + "} -> " + results + "\n  return " + names + " : " + results + "\n}\n";
}

/// Few enough bits for every type.
double Lattice::number() { return static_cast<double>(random() % 257) / 64.0 - 2.0; }

reference::Tensor Lattice::draw(const Argument &argument) {
  const bool isFloat = llvm::StringRef(argument.element).contains("f");
  auto tensor = isFloat ? reference::Tensor::floats(argument.shape) : reference::Tensor::ints(argument.shape);
  const bool sparse = chance(30);
  switch (argument.kind) {
  case Kind::Values:
    for (double &value : tensor.reals)
      value = number();
    break;
  case Kind::Sinks:
    for (double &value : tensor.reals)
      value = chance(20) ? -std::numeric_limits<double>::infinity() : number();
    break;
  case Kind::Scores: // some hide their key, and now and then all of a row's
    for (double &value : tensor.reals)
      value = chance(sparse ? 80 : 5) ? -std::numeric_limits<double>::infinity() : number();
    break;
  case Kind::Mask:
    for (double &value : tensor.reals)
      value = chance(sparse ? 90 : 30) ? 0.0 : number();
    for (int64_t &value : tensor.integers)
      value = chance(sparse ? 90 : 30) ? 0 : argument.element == "i1" ? 1 : static_cast<int64_t>(random() % 7) - 3;
    break;
  case Kind::Start:
    for (int64_t &value : tensor.integers)
      value = static_cast<int64_t>(random() % (keys + 3)) - 1;
    break;
  case Kind::End: // beyond the keys, or before the start, too
    for (int64_t &value : tensor.integers)
      value = static_cast<int64_t>(random() % (keys + 4)) - 1;
    break;
  case Kind::Prefix:
    for (int64_t &value : tensor.integers)
      value = static_cast<int64_t>(random() % (keys + 2));
    break;
  case Kind::RowSegments:
  case Kind::KeySegments: {
    const int64_t all = argument.kind == Kind::RowSegments ? queries : keys;
    for (int64_t &value : tensor.integers)
      value = static_cast<int64_t>(random() % (all + 1));
    llvm::sort(tensor.integers);
    if (chance(70)) // nothing before the first and behind the last
      tensor.integers.front() = 0, tensor.integers.back() = all;
    break;
  }
  }
  return tensor;
}

std::vector<reference::Tensor> Lattice::inputs() {
  std::vector<reference::Tensor> tensors;
  for (const Argument &argument : list)
    tensors.push_back(draw(argument));
  return tensors;
}

TEST(AttentionLattice, AgreesWithTheReference) {
  const char *wanted = std::getenv("TILEWRIGHT_LATTICE");
  const int combinations = wanted ? std::max(1, std::atoi(wanted)) : 1000;
  const int kernels = std::min(150, (combinations + 13) / 14);
  for (int kernel = 0, done = 0; kernel < kernels; ++kernel) {
    Lattice lattice(1000 + kernel);
    std::string text = lattice.function();
    SCOPED_TRACE("kernel " + std::to_string(kernel) + ":\n" + text);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
    ASSERT_TRUE(module);
    reference::NoWeights none;
    auto interpreter = reference::Interpreter::create(*module, none, reference::Precision::F64);
    ASSERT_TRUE(succeeded(interpreter));
    FunctionOptions options;
    // Every third kernel is core's own, the others what a plugin makes of it.
    options.firstStage = kernel % 3 == 0 ? "tile" : "simplify";
    auto compiled = CompiledFunction::create(*module, "f", host().stages, none, options);
    ASSERT_TRUE(succeeded(compiled));
    for (; done < static_cast<int64_t>(combinations) * (kernel + 1) / kernels; ++done) {
      std::vector<reference::Tensor> inputs = lattice.inputs();
      auto want = (*interpreter)->run("f", {inputs.begin(), inputs.end()});
      auto got = (*compiled)->run(inputs);
      ASSERT_TRUE(succeeded(want) && succeeded(got));
      for (size_t i = 0; i < got->size(); ++i) {
        const auto &found = (*got)[i], &right = std::get<reference::Tensor>((*want)[i]);
        ASSERT_EQ(firstDisagreement(found, right, lattice.bound()), "") << "result " << i << ", combination " << done;
      }
    }
  }
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dense form of tw.attention, compiled, against the reference interpreter in f64: each attribute and operand.
#include "tests/unit/kernels/FunctionCase.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct Variant {
  const char *name;
  const char *attributes;
  const char *mask = nullptr; ///< dimensions of the operand's type, "" for none
  const char *bias = nullptr;
  bool sinks = false;
};

struct Sizes {
  int64_t batch, heads, headsKv, queries, keys, dim, dimV;
};

std::string functionText(const Variant &v, const Sizes &s, llvm::StringRef type, Shapes &shapes) {
  auto tensor = [&](llvm::ArrayRef<int64_t> shape, llvm::StringRef element) {
    shapes.emplace_back(shape.begin(), shape.end());
    return typeText(shape, element);
  };
  // "1 H T S" -> sizes
  auto scores = [&](llvm::StringRef dims, llvm::StringRef element) {
    llvm::SmallVector<int64_t> shape;
    for (char c : dims)
      shape.push_back(c == '1' ? 1 : c == 'B' ? s.batch : c == 'H' ? s.heads : c == 'T' ? s.queries : s.keys);
    return tensor(shape, element);
  };
  std::string q = tensor({s.batch, s.heads, s.queries, s.dim}, type),
              k = tensor({s.batch, s.headsKv, s.keys, s.dim}, type);
  std::string value = tensor({s.batch, s.headsKv, s.keys, s.dimV}, type);
  std::string arguments = "%q: " + q + ", %k: " + k + ", %v: " + value;
  std::string operands = "query(%q : " + q + ") key(%k : " + k + ") value(%v : " + value + ")";
  auto add = [&](llvm::StringRef name, const std::string &operandType) {
    arguments += ", %" + name.str() + ": " + operandType;
    operands += " " + name.str() + "(%" + name.str() + " : " + operandType + ")";
  };
  if (v.mask)
    add("mask", scores(v.mask, "i1"));
  if (v.bias)
    add("bias", scores(v.bias, type));
  if (v.sinks)
    add("sinks", tensor({s.heads}, type));
  std::string result = typeText({s.batch, s.heads, s.queries, s.dimV}, type);
  return "func.func @f(" + arguments + ") -> " + result + " {\n  %y = tw.attention " + operands +
         " {scale = 0.4 : f64" + v.attributes + "} -> " + result + "\n  return %y : " + result + "\n}\n";
}

const Variant kVariants[] = {
    {"plain", ""},
    {"end", ", causal = \"end\""},
    {"start", ", causal = \"start\""},
    {"window", ", causal = \"end\", window = 3 : i64"},
    {"startWindow", ", causal = \"start\", window = 2 : i64"},
    {"windowAlone", ", window = 2 : i64, offset = 1 : i64"},
    {"windowAndRadius", ", window = 2 : i64, radius = 4 : i64"},
    {"softcap", ", softcap = 0.7 : f64"},
    {"mask", "", "TS"},
    {"maskPerHead", ", causal = \"end\"", "1HTS"},
    {"maskPerBatch", "", "B1TS"},
    {"bias", "", nullptr, "1HTS"},
    {"biasFull", ", softcap = 1.5 : f64", nullptr, "BHTS"},
    {"sinks", "", nullptr, nullptr, true},
    {"everything", ", causal = \"end\", window = 5 : i64, softcap = 2.0 : f64", "BHTS", "TS", true},
};

class DenseAttention : public testing::TestWithParam<Variant> {};

TEST_P(DenseAttention, AgreesWithTheReference) {
  for (Sizes sizes : {Sizes{2, 4, 2, 5, 7, 8, 6},
                      {1, 1, 1, 1, 1, 1, 1},
                      {1, 6, 2, 16, 130, 16, 32},
                      {2, 3, 3, 9, 4, 5, 3},
                      {1, 2, 1, 3, 0, 4, 4},
                      {2, 2, 2, 0, 3, 4, 4}})
    for (const char *type : {"f32", "bf16", "f16"}) {
      Shapes shapes;
      std::string text = functionText(GetParam(), sizes, type, shapes);
      expectAgreement(text, shapes, boundOf(type));
    }
}
INSTANTIATE_TEST_SUITE_P(CompiledFunction, DenseAttention, testing::ValuesIn(kVariants),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace

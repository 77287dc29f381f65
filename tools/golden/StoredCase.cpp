// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/golden/StoredCase.h"

#include "tools/golden/TensorValues.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace tilewright {

namespace {

/// What holds its values: integers of a graph have signs and, but for bytes and truth values, 32 bits. Null for a dtype
/// that no case has.
Type elementType(StringRef dtype, Builder b) {
  return llvm::StringSwitch<Type>(dtype)
      .Case("F64", b.getF64Type())
      .Case("F32", b.getF32Type())
      .Case("F16", b.getF16Type())
      .Case("BF16", b.getBF16Type())
      .Cases({"I64", "I32", "I16", "U32", "U16", "U8"}, b.getI32Type())
      .Case("I8", b.getI8Type())
      .Case("BOOL", b.getI1Type())
      .Default(Type());
}

/// That of f32; for values stored in 16 bits at least one unit in the last place of the largest.
double limitOf(const llvm::json::Object &errors, StringRef tensor, const GoldenTensor &wanted, Type element) {
  if (auto type = cast<FloatType>(element); type.getWidth() == 16)
    return errorLimit(errors, tensor, wanted, std::ldexp(1.0, 1 - static_cast<int>(type.getFPMantissaWidth())));
  return errorLimit(errors, tensor, wanted);
}

} // namespace

llvm::Expected<StoredCase> StoredCase::read(StringRef path, MLIRContext *context) {
  SafetensorsFile file;
  if (std::optional<std::string> error = readSafetensors(path.str(), file))
    return llvm::createStringError(*error);
  StoredCase stored;
  for (auto [key, field] : {std::pair("case", &stored.contents.name), std::pair("technique", &stored.technique)}) {
    auto entry = file.metadata.find(key);
    if (entry == file.metadata.end())
      return llvm::createStringError(path + ": is no golden case: its metadata has no '" + key + "'");
    *field = entry->second;
  }
  llvm::Expected<llvm::json::Object> attributes = metadataObject(file, path, "attrs"),
                                     errors = metadataObject(file, path, "f32_err");
  if (!attributes || !errors)
    return llvm::joinErrors(attributes.takeError(), errors.takeError());
  stored.contents.attributes = std::move(*attributes);

  auto isOfOneThing = [](const auto &entry) {
    return StringRef(entry.first).starts_with("in.") || StringRef(entry.first).starts_with("out.");
  };
  const bool byKind = llvm::none_of(file.tensors, isOfOneThing);
  for (const auto &[key, tensor] : file.tensors) {
    auto [group, name] = StringRef(key).split('.');
    if (byKind) {
      group = name == "y" ? "out" : "in";
      name = key;
    }
    if (group != "in" && group != "out" && group != "aux") // gradients and cotangents
      continue;
    Type element = elementType(tensor.dtype, Builder(context));
    if (group == "aux") {
      if (element)
        stored.contents.explanations.emplace_back(name.str(), RankedTensorType::get(tensor.shape, element));
      continue;
    }
    if (!element) {
      stored.unsupported = llvm::formatv("tensor {0} of dtype {1}", key, tensor.dtype).str();
      continue;
    }
    bool isFloat = isa<FloatType>(element);
    auto type = RankedTensorType::get(tensor.shape, element);
    GoldenTensor values = tensorValues(tensor);
    if (group == "in") {
      for (int64_t value : values.integers)
        if (value != static_cast<int32_t>(value))
          stored.unsupported = llvm::formatv("tensor {0} holds {1}, which is no 32-bit integer", key, value).str();
      stored.contents.inputs.emplace_back(name.str(), type);
      stored.contents.values[name] = std::move(values);
    } else {
      stored.contents.outputs.emplace_back(name.str(), type);
      auto exact = file.tensors.find("f64." + key);
      if (isFloat && exact != file.tensors.end() && exact->second.shape == tensor.shape)
        values = tensorValues(exact->second);
      double limit = isFloat ? limitOf(*errors, key, values, element) : 0.0;
      stored.outputs.emplace(name.str(), Output{std::move(values), limit});
    }
  }
  return stored;
}

} // namespace tilewright

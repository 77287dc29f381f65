// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/golden/TensorValues.h"

#include "backends/reference/Compare.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Endian.h"

using llvm::StringRef;

namespace tilewright {

namespace {

template <typename T> T at(const NamedTensor &tensor, int64_t i) {
  return llvm::support::endian::read<T>(tensor.bytes.data() + i * sizeof(T), llvm::endianness::little);
}

double floatAt(const NamedTensor &tensor, int64_t i) {
  if (tensor.dtype == "F64")
    return at<double>(tensor, i);
  if (tensor.dtype == "F32")
    return at<float>(tensor, i);
  const llvm::fltSemantics &semantics = tensor.dtype == "F16" ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
  return llvm::APFloat(semantics, llvm::APInt(16, at<uint16_t>(tensor, i))).convertToDouble();
}

/// One return for each type: a conditional expression of several would take signed numbers for unsigned ones.
int64_t integerAt(const NamedTensor &tensor, int64_t i) {
  if (tensor.dtype == "I64")
    return at<int64_t>(tensor, i);
  if (tensor.dtype == "U32")
    return at<uint32_t>(tensor, i);
  if (tensor.dtype == "I32")
    return at<int32_t>(tensor, i);
  if (tensor.dtype == "U16")
    return at<uint16_t>(tensor, i);
  if (tensor.dtype == "I16")
    return at<int16_t>(tensor, i);
  return tensor.dtype == "I8" ? at<int8_t>(tensor, i) : tensor.bytes[i];
}

} // namespace

GoldenTensor tensorValues(const NamedTensor &tensor) {
  const bool isFloat = StringRef(tensor.dtype).contains('F');
  GoldenTensor values{{tensor.shape.begin(), tensor.shape.end()}, isFloat, {}, {}};
  int64_t count = 1;
  for (int64_t extent : tensor.shape)
    count *= extent;
  for (int64_t i = 0; i < count; ++i)
    if (isFloat)
      values.reals.push_back(floatAt(tensor, i));
    else
      values.integers.push_back(integerAt(tensor, i));
  return values;
}

llvm::Expected<llvm::json::Object> metadataObject(const SafetensorsFile &file, StringRef path, const std::string &key) {
  auto text = file.metadata.find(key);
  if (text == file.metadata.end())
    return llvm::json::Object();
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text->second);
  if (!value)
    return llvm::createStringError(path + ": metadata " + key + ": " + llvm::toString(value.takeError()));
  llvm::json::Object *object = value->getAsObject();
  if (!object)
    return llvm::createStringError(path + ": metadata " + key + " is no JSON object");
  return std::move(*object);
}

double errorLimit(const llvm::json::Object &errors, StringRef tensor, const GoldenTensor &wanted, double relative) {
  double plain = 0;
  if (const llvm::json::Array *entry = errors.getArray(tensor); entry && !entry->empty())
    plain = (*entry)[0].getAsNumber().value_or(0.0);
  return std::max(20 * plain, relative * reference::largestMagnitude(wanted.reals));
}

} // namespace tilewright

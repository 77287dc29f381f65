// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors and metadata of golden safetensors files as values.
#pragma once

#include "frontend/api/GoldenCase.h"
#include "tools/safetensors/Safetensors.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace tilewright {

/// The elements of a tensor of F64, F32, F16 or BF16, or of I64, I32, I16, I8, U32, U16, U8 or BOOL.
GoldenTensor tensorValues(const NamedTensor &tensor);

/// The JSON object that an entry of the metadata holds; an empty one without the entry. `path` names the file in
/// errors.
llvm::Expected<llvm::json::Object> metadataObject(const SafetensorsFile &file, llvm::StringRef path,
                                                  const std::string &key);

/// How far results may be from `wanted`: twenty times the error of a plain implementation in f32, which the object
/// `errors` ("f32_err" of the metadata) has for `tensor`, and at least `relative` of the largest value.
double errorLimit(const llvm::json::Object &errors, llvm::StringRef tensor, const GoldenTensor &wanted,
                  double relative = 2e-5);

} // namespace tilewright

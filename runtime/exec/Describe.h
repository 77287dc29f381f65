// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loaded model is, as JSON for tools and logs.
#pragma once

#include <string>

namespace tilewright {

class Model;

/// An object with: folder, producer, model, numerics, kv_element, context, model_context, vocabulary, threads, level,
/// levels[] {name, features[], available}, steps[] {symbol, min_rows, max_rows, row_multiple, query_tile, arena,
/// arena_lower_bound, arena_without_reuse} of the chosen level and K/V element, kernels[] of the chosen level,
/// states[], weights {count, bytes, layer_parameters, file}, page_bytes, plugins[] and tokenizer. Sizes in bytes.
std::string describeModel(const Model &model);

} // namespace tilewright

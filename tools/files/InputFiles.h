// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The files that a command reads: what they are, and that none of them is written to. Nothing here throws but for want
// of memory.
#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace tilewright {

/// "PATH: is not a regular file", when there is something else: opening a FIFO would wait for ever. Nothing where there
/// is nothing: whoever opens it says so.
std::optional<std::string> notRegular(const std::string &path);

/// The files that a model at `path` consists of, sorted: itself, with all parts of a split GGUF file; what a folder has
/// of config and tensors, or of a compiled model.
std::vector<std::string> modelFiles(const std::string &path, std::error_code &error);

/// Why a command that reads `inputs` must not write the file `output` (empty: none): it is one of them, by whatever
/// name. `what` is read from them: "the model is".
std::optional<std::string> overwrites(const std::string &output, const std::vector<std::string> &inputs,
                                      const std::string &what);
/// The same of a folder that is replaced: it holds one of them.
std::optional<std::string> replaces(const std::string &folder, const std::vector<std::string> &inputs,
                                    const std::string &what);

} // namespace tilewright

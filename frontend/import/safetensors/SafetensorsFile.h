// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the headers of safetensors files. Format: https://github.com/huggingface/safetensors (version 0.8): the tensors
// cover the rest of the file without gap or overlap. What its reference reader refuses is refused; so is, besides,
//   - a header that does not begin with its brace, as the format's text wants;
//   - a key twice: the reference takes the last of two tensors, and one vanishes;
//   - a name that is empty, longer than 1024 bytes or has control characters, which no graph could hold;
//   - metadata that are null, an entry that is a list of its fields or has others besides, a dtype that is an object:
//     the reference's JSON library reads them so, and nothing writes them;
//   - a size of 2^63 or more beside one of 0.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_SAFETENSORS_SAFETENSORSFILE_H
#define TILEWRIGHT_FRONTEND_IMPORT_SAFETENSORS_SAFETENSORSFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilewright::safetensors {

struct TensorEntry {
  std::string name;
  std::string dtype;
  llvm::SmallVector<int64_t, 4> shape;
  uint64_t offset = 0; ///< from the start of the file
  uint64_t bytes = 0;
};

/// The element type in graphs of a dtype ("F32": "f32"); empty for one that graphs do not have.
llvm::StringRef graphElement(llvm::StringRef dtype);

/// The tensors of a file whose bytes are `file`, in order of their places. `name` stands for it in messages.
llvm::Expected<std::vector<TensorEntry>> readHeader(llvm::ArrayRef<uint8_t> file, llvm::StringRef name);

} // namespace tilewright::safetensors

#endif // TILEWRIGHT_FRONTEND_IMPORT_SAFETENSORS_SAFETENSORSFILE_H

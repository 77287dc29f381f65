// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_H
#define TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_H

#include "frontend/graph/graph_generated.h"
#include "frontend/import/Family.h"
#include "frontend/import/gguf/GgufFile.h"

namespace tilewright {

/// The graph's tokenizer from the metadata of a GGUF file. Ids are within the vocabulary, and lists of one entry for
/// each token have as many.
llvm::Expected<graph::TokenizerT> readTokenizer(const TokenizerRule &rule, const gguf::GgufFile &file);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_GGUFTOKENIZER_H
#define TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_GGUFTOKENIZER_H

#include "frontend/graph/graph_generated.h"
#include "frontend/import/gguf/GgufFile.h"

namespace tilewright {

/// The graph's tokenizer from the metadata of a GGUF file (keys "tokenizer.ggml.*", see
/// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). The kinds "llama" (SentencePiece's byte-pair encoding),
/// "t5" (its unigram) and "bert" (word pieces) become the graph's own kinds and steps; "gpt2" and any other stay what
/// they are called. Ids are within the vocabulary, and lists of one entry for each token have as many.
llvm::Expected<graph::TokenizerT> readTokenizer(const gguf::GgufFile &file);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_GGUFTOKENIZER_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_TOKENIZERFOLDER_H
#define TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_TOKENIZERFOLDER_H

#include "frontend/graph/graph_generated.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace tilewright {

/// The graph's tokenizer from a model's folder, or null if it has none. Read are
///   tokenizer.json           all of it, strictly: an error names every part that is not understood
///   tokenizer_config.json    names of the begin, end, unknown and padding tokens, further added tokens, whether a
///   begin
///                            and an end token are added, chat template
///   special_tokens_map.json  the same names, where tokenizer_config.json lacks them
///   chat_template.jinja, chat_template.json  in place of the one in tokenizer_config.json
///   generation_config.json, config.json      further tokens that end a text (eos_token_id)
/// Files are regular ones directly in the folder, and no links. A folder with another tokenizer alone
/// (tokenizer.model, vocab.txt, ...) is an error that names it.
llvm::Expected<std::unique_ptr<graph::TokenizerT>> readTokenizerFolder(llvm::StringRef folder);

/// The same from the text of a tokenizer.json alone; `name` names it in messages.
llvm::Expected<std::unique_ptr<graph::TokenizerT>> readTokenizerJson(llvm::StringRef text, llvm::StringRef name);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_TOKENIZERFOLDER_H

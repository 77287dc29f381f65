// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/tokenizer/TokenizerFolder.h"

#include "frontend/graph/BeneathFile.h"
#include "frontend/graph/Errors.h"
#include "frontend/import/json/StrictJson.h"
#include "frontend/import/tokenizer/ConfigReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tilewright {

using namespace tokenizer;

/// Deeper than any file of these kinds.
static constexpr unsigned kMostDepth = 64;
/// The longest published ones have some 40 MB.
static constexpr uint64_t kMostBytes = 512u << 20;

static Expected<Draft> readMain(StringRef text, StringRef name) {
  Expected<json::Object> root = parseStrictJson(text, name, kMostDepth);
  if (!root)
    return root.takeError();
  Draft draft;
  Problems problems(name);
  {
    Fields fields(*root, "", problems);
    if (std::string version = fields.optionalString("version").value_or("1.0"); version != "1.0")
      problems.unsupported("version", "found '" + version + "', wanted '1.0'");
    // How batches of texts are cut and filled up; texts are encoded one by one, and whole.
    fields.ignore("truncation");
    fields.ignore("padding");
    readModel(fields, draft, problems);
    readNormalizer(fields, draft, problems);
    readPreTokenizer(fields, draft, problems);
    readPostProcessor(fields, draft, problems);
    readDecoder(fields, draft, problems);
  }
  if (draft.out.tokens.empty() && problems.empty())
    problems.bad("model.vocab", "found no tokens");
  if (Error error = problems.take())
    return error;
  return std::move(draft);
}

Expected<std::unique_ptr<graph::TokenizerT>> readTokenizerJson(StringRef text, StringRef name) {
  Expected<Draft> draft = readMain(text, name);
  if (!draft)
    return draft.takeError();
  closeVocabulary(*draft);
  return std::make_unique<graph::TokenizerT>(std::move(draft->out));
}

namespace {

/// The files of one folder.
class Folder {
public:
  explicit Folder(StringRef path) : path(path) {}

  /// Nothing if there is no such file.
  Expected<std::optional<MappedFile>> open(StringRef name) const {
    Expected<MappedFile> file = MappedFile::openBeneath(path, name);
    if (file) {
      if (file->bytes().size() > kMostBytes)
        return badInput(shown(name) + ": found " + Twine(file->bytes().size()) + " bytes, wanted at most " +
                        Twine(kMostBytes));
      return std::optional(std::move(*file));
    }
    std::optional<MappedFile> none;
    Error other = handleErrors(file.takeError(), [](std::unique_ptr<ErrorInfoBase> error) -> Error {
      if (error->convertToErrorCode() == std::errc::no_such_file_or_directory)
        return Error::success();
      return Error(std::move(error));
    });
    if (other)
      return std::move(other);
    return std::move(none);
  }

  std::string shown(StringRef name) const {
    SmallString<128> full(path);
    sys::path::append(full, name);
    return std::string(full);
  }

  /// Calls `read` with the file's object, if the file is there.
  Error withJson(StringRef name, function_ref<void(const json::Object &, Problems &)> read) const {
    Expected<std::optional<MappedFile>> file = open(name);
    if (!file)
      return file.takeError();
    if (!*file)
      return Error::success();
    Expected<json::Object> root = parseStrictJson(toStringRef((*file)->bytes()), shown(name), kMostDepth);
    if (!root)
      return root.takeError();
    Problems problems(shown(name));
    read(*root, problems);
    return problems.take();
  }

private:
  StringRef path;
};

} // namespace

Expected<std::unique_ptr<graph::TokenizerT>> readTokenizerFolder(StringRef path) {
  Folder folder(path);
  Expected<std::optional<MappedFile>> main = folder.open("tokenizer.json");
  if (!main)
    return main.takeError();
  if (!*main) {
    for (StringRef other : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.txt", "vocab.json"}) {
      Expected<std::optional<MappedFile>> file = folder.open(other);
      if (!file)
        return file.takeError();
      if (*file)
        return unsupported(folder.shown(other) +
                           ": found a tokenizer of this kind alone, wanted tokenizer.json beside it");
    }
    return nullptr;
  }
  Expected<Draft> draft = readMain(toStringRef((*main)->bytes()), folder.shown("tokenizer.json"));
  if (!draft)
    return draft.takeError();

  ConfigReader config(*draft);
  if (Error error = folder.withJson("tokenizer_config.json",
                                    [&](const auto &root, Problems &problems) { config.readConfig(root, problems); }))
    return error;
  if (Error error = folder.withJson("special_tokens_map.json",
                                    [&](const auto &root, Problems &problems) { config.readMap(root, problems); }))
    return error;
  if (Error error = folder.withJson("chat_template.json",
                                    [&](const auto &root, Problems &problems) { config.readTemplate(root, problems); }))
    return error;
  for (StringRef name : {"generation_config.json", "config.json"})
    if (Error error =
            folder.withJson(name, [&](const auto &root, Problems &problems) { config.readEndTokens(root, problems); }))
      return error;
  Expected<std::optional<MappedFile>> chat = folder.open("chat_template.jinja");
  if (!chat)
    return chat.takeError();
  if (*chat)
    draft->out.chat_template = toStringRef((*chat)->bytes()).str();
  config.finish();
  closeVocabulary(*draft);
  return std::make_unique<graph::TokenizerT>(std::move(draft->out));
}

} // namespace tilewright

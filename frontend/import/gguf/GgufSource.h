// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_GGUF_GGUFSOURCE_H
#define TILEWRIGHT_FRONTEND_IMPORT_GGUF_GGUFSOURCE_H

#include "frontend/import/ModelSource.h"
#include "frontend/import/gguf/GgufFile.h"

namespace tilewright::gguf {

/// A GGUF file as a model's source, or several that a model is split into. The first has the metadata.
class GgufSource : public ModelSource {
public:
  /// `path` is the only file, or the first of several: NAME-00001-of-00003.gguf, and the others beside it, as
  /// llama.cpp's gguf-split writes them (https://github.com/ggml-org/llama.cpp, tools/gguf-split). `types` outlives the
  /// result.
  static llvm::Expected<GgufSource> open(llvm::StringRef path, const TypeTable &types);

  const GgufFile &gguf() const { return files.front(); }

  SourceKind kind() const override { return SourceKind::Gguf; }
  llvm::StringRef path() const override { return gguf().name(); }
  llvm::StringRef folder() const override { return realFolder; }
  llvm::ArrayRef<SourceTensor> tensors() const override { return list; }
  const SourceTensor *findTensor(llvm::StringRef name) const override;
  llvm::ArrayRef<uint8_t> bytes(const SourceTensor &tensor) const override;
  std::vector<std::string> keys() const override;
  bool has(llvm::StringRef key) const override { return gguf().has(key); }
  bool isNull(llvm::StringRef) const override { return false; }
  llvm::Expected<tilewright::Value> get(llvm::StringRef key, ParameterKind kind) const override;
  llvm::Expected<int64_t> count(llvm::StringRef key) const override;
  std::string metadataFile() const override { return gguf().name().str(); }
  std::string place(llvm::StringRef key) const override;

private:
  GgufSource() = default;
  llvm::Error add(GgufFile file);
  llvm::Expected<tilewright::Value> getList(llvm::StringRef key) const;

  std::vector<GgufFile> files;
  std::string realFolder;         ///< with links resolved, as the names of the files in it
  std::vector<SourceTensor> list; ///< in the order of the files'
  std::vector<size_t> fileOf;     ///< by tensor
  llvm::StringMap<size_t> index;  ///< of a tensor's name in `list`
};

} // namespace tilewright::gguf

#endif // TILEWRIGHT_FRONTEND_IMPORT_GGUF_GGUFSOURCE_H

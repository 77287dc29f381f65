// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_GGUF_GGUFSOURCE_H
#define TILEWRIGHT_FRONTEND_IMPORT_GGUF_GGUFSOURCE_H

#include "frontend/import/ModelSource.h"
#include "frontend/import/gguf/GgufFile.h"

namespace tilewright::gguf {

/// A GGUF file as a model's source.
class GgufSource : public ModelSource {
public:
  explicit GgufSource(GgufFile file);

  const GgufFile &gguf() const { return file; }

  SourceKind kind() const override { return SourceKind::Gguf; }
  llvm::StringRef path() const override { return file.name(); }
  llvm::StringRef folder() const override { return realFolder; }
  llvm::ArrayRef<SourceTensor> tensors() const override { return list; }
  const SourceTensor *findTensor(llvm::StringRef name) const override;
  llvm::ArrayRef<uint8_t> bytes(const SourceTensor &tensor) const override;
  std::vector<std::string> keys() const override;
  bool has(llvm::StringRef key) const override { return file.has(key); }
  bool isNull(llvm::StringRef) const override { return false; }
  llvm::Expected<tilewright::Value> get(llvm::StringRef key, ParameterKind kind) const override;
  llvm::Expected<int64_t> count(llvm::StringRef key) const override;
  std::string metadataFile() const override { return file.name().str(); }
  std::string place(llvm::StringRef key) const override;

private:
  llvm::Expected<tilewright::Value> getList(llvm::StringRef key) const;

  GgufFile file;
  std::string realFolder;         ///< with links resolved, as the name of the file in it
  std::vector<SourceTensor> list; ///< in the order of the file's
};

} // namespace tilewright::gguf

#endif // TILEWRIGHT_FRONTEND_IMPORT_GGUF_GGUFSOURCE_H

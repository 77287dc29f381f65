// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder as Transformers' save_pretrained writes it: config.json beside model.safetensors, or beside
// model.safetensors.index.json and the shards that it names.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_SAFETENSORS_CONFIGFOLDER_H
#define TILEWRIGHT_FRONTEND_IMPORT_SAFETENSORS_CONFIGFOLDER_H

#include "frontend/graph/BeneathFile.h"
#include "frontend/import/ModelSource.h"

#include <memory>

namespace tilewright::safetensors {

class ConfigFolder : public ModelSource {
public:
  /// Whether `path` is a folder that has a config.json.
  static bool isOne(llvm::StringRef path);

  /// Maps config, index and all tensor files, regular ones directly in the folder and no links, and checks that the
  /// index and the files have the same tensors. The folder itself is trusted.
  static llvm::Expected<std::unique_ptr<ConfigFolder>> open(llvm::StringRef path);

  const llvm::json::Object &config() const { return root; }

  SourceKind kind() const override { return SourceKind::Config; }
  llvm::StringRef path() const override { return folderPath; }
  llvm::StringRef folder() const override { return folderPath; }
  llvm::ArrayRef<SourceTensor> tensors() const override { return list; }
  const SourceTensor *findTensor(llvm::StringRef name) const override;
  llvm::ArrayRef<uint8_t> bytes(const SourceTensor &tensor) const override;
  /// "rope_parameters.rope_theta": entries of nested objects; lists and empty objects are entries.
  std::vector<std::string> keys() const override;
  bool has(llvm::StringRef key) const override;
  bool isNull(llvm::StringRef key) const override;
  llvm::Expected<Value> get(llvm::StringRef key, ParameterKind kind) const override;
  llvm::Expected<int64_t> count(llvm::StringRef key) const override;
  std::string metadataFile() const override { return folderPath + "/config.json"; }
  std::string place(llvm::StringRef key) const override;

private:
  explicit ConfigFolder(llvm::StringRef path) : folderPath(path.str()) {}
  llvm::Error readTensors();
  llvm::Error addFile(llvm::StringRef name);
  /// Opens the files that the index names; its entries have to be what they hold.
  llvm::Error readIndex(const MappedFile &index);
  /// Null when there is none.
  const llvm::json::Value *find(llvm::StringRef key) const;

  std::string folderPath;
  llvm::json::Object root; ///< of the config
  llvm::StringMap<MappedFile> files;
  std::vector<SourceTensor> list;
  llvm::StringMap<size_t> places; ///< in `list`, by name; owns the names
};

} // namespace tilewright::safetensors

#endif // TILEWRIGHT_FRONTEND_IMPORT_SAFETENSORS_CONFIGFOLDER_H

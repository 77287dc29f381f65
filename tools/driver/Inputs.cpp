// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/Inputs.h"

#include "frontend/graph/Access.h"
#include "frontend/graph/GraphFile.h"
#include "frontend/import/ImportModel.h"
#include "tools/files/InputFiles.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"

namespace tilewright::driver {

/// The files that the weights of a graph file lie in, where they may be.
static std::vector<std::string> weightFiles(const std::string &path, const std::string &weightsDir) {
  LoadOptions load;
  load.openWeights = false;
  llvm::Expected<GraphFile> graph = GraphFile::load(path, load);
  if (!graph) {
    llvm::consumeError(graph.takeError()); // who reads it tells of it
    return {};
  }
  llvm::StringSet<> names;
  for (const graph::Weight *weight : elements(graph->graph().weights())) {
    names.insert(text(weight->file()));
    for (const graph::WeightPart *part : elements(weight->parts()))
      names.insert(text(part->file()));
  }
  names.erase(""); // of weights in the graph itself
  std::vector<std::string> files;
  for (llvm::StringRef name : names.keys())
    for (llvm::StringRef folder : {llvm::StringRef(weightsDir), llvm::sys::path::parent_path(path)}) {
      llvm::SmallString<256> file(folder);
      llvm::sys::path::append(file, name);
      files.push_back(file.str().str());
    }
  return files;
}

llvm::Error checkOutputs(const Outputs &outputs, const std::string &input, const std::string &weightsDir) {
  std::error_code unreadable;
  const std::vector<std::string> model = modelFiles(input, unreadable);
  const std::vector<std::string> weights = isModel(input) ? std::vector<std::string>() : weightFiles(input, weightsDir);
  const auto refused = [](const std::optional<std::string> &problem) {
    return problem ? llvm::createStringError(*problem) : llvm::Error::success();
  };
  for (const std::string &file : outputs.files) {
    if (llvm::Error error = refused(overwrites(file, model, "the model is")))
      return error;
    if (llvm::Error error = refused(overwrites(file, weights, "the weights are")))
      return error;
  }
  if (llvm::Error error = refused(replaces(outputs.folder, model, "the model is")))
    return error;
  return refused(replaces(outputs.folder, weights, "the weights are"));
}

} // namespace tilewright::driver

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright import`: a model file becomes a graph file.
#include "frontend/graph/AtomicFile.h"
#include "frontend/graph/graph_generated.h"
#include "frontend/import/ImportModel.h"
#include "tools/driver/Commands.h"
#include "tools/driver/Diagnostics.h"
#include "tools/driver/Inputs.h"
#include "tools/driver/QuantizeGraph.h"
#include "tools/driver/Session.h"
#include "tools/driver/text/GraphText.h"
#include "tools/progress/Progress.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace tilewright::driver {

static void printNotes(const std::vector<std::string> &notes) {
  for (const std::string &text : notes)
    note(text);
}

/// Whether the runtime understands the tokenizer shows when it is made; a model works without one, by token ids.
static void noteUnusableTokenizer(const ImportResult &imported) {
  const graph::Tokenizer *tokenizer = graph::GetGraph(imported.bytes.data())->tokenizer();
  GraphText text;
  std::string problem;
  if (tokenizer && !text.open(tokenizer, problem))
    note("the model will take token ids, and no text: " + problem);
}

/// Where the weights of a graph lie that has its own.
static std::string weightsBeside(const std::string &graph) {
  llvm::SmallString<256> weights(graph);
  llvm::sys::path::replace_extension(weights, "weights");
  return weights.str().str();
}

/// The imported graph with its weights in another type, in a file of their own; an exit code.
static int quantize(const ImportOptions &options, const ImportResult &imported, const std::string &graphPath,
                    Progress &progress) {
  Session session(options.plugins);
  if (session.status() != Success)
    return session.status();
  llvm::Expected<StorageType> type = storageTypeNamed(options.quantize, session.context());
  if (!type)
    return report(type.takeError(), Usage);
  llvm::StringRef bytes(reinterpret_cast<const char *>(imported.bytes.data()), imported.bytes.size());
  llvm::Expected<GraphFile> file = GraphFile::loadBytes(llvm::MemoryBuffer::getMemBufferCopy(bytes), graphPath);
  if (!file)
    return report(file.takeError(), BadInput);
  const std::string weights = weightsBeside(options.output);
  QuantizeRules rules{*type, options.keepTables, llvm::sys::path::filename(weights).str()};
  llvm::Expected<QuantizedGraph> quantized = quantizeGraph(*file, rules, session.context(), weights, progress);
  if (!quantized)
    return report(quantized.takeError(), BadInput);
  progress.done();
  printNotes(quantized->notes);
  if (int code = report(writeFileAtomically(options.output, quantized->bytes), WorkFailed))
    return code;
  if (quantized->weights == 0)
    llvm::errs() << "tilewright: warning: no weight became " << options.quantize
                 << (quantized->notes.empty() ? ": no float matrix is multiplied with or looked up in"
                                              : "; the notes above say why")
                 << "\n";
  llvm::errs() << options.output << ": a graph of family '" << imported.family << "', " << quantized->bytes.size()
               << " bytes; " << quantized->weights << " weights are " << options.quantize << " now, all are in "
               << weights << "\n";
  return Success;
}

int importModel(const ImportOptions &options) {
  Outputs outputs{{options.output}, ""};
  if (!options.quantize.empty())
    outputs.files.push_back(weightsBeside(options.output));
  if (int code = report(checkOutputs(outputs, options.input), BadInput))
    return code;
  // A graph whose weights go into a file of its own has them beside the model until then.
  const std::string graphPath = options.quantize.empty() ? options.output : graphPathBeside(options.input);
  Progress progress(options.quiet);
  progress.step("reading " + options.input);
  llvm::Expected<ImportResult> result = tilewright::importModel(options.input, graphPath, options.outputs);
  if (!result)
    return report(result.takeError(), BadInput);
  progress.done();
  printNotes(result->notes);
  noteUnusableTokenizer(*result);
  if (!options.quantize.empty())
    return quantize(options, *result, graphPath, progress);
  if (int code = report(writeFileAtomically(options.output, result->bytes), WorkFailed))
    return code;
  llvm::errs() << options.output << ": a graph of family '" << result->family << "', " << result->bytes.size()
               << " bytes; weights stay in " << options.input << "\n";
  return Success;
}

int listFamilies() {
  llvm::Expected<std::vector<std::string>> families = tilewright::listFamilies();
  if (!families)
    return report(families.takeError(), BadInput);
  for (const std::string &family : *families)
    llvm::outs() << family << "\n";
  return Success;
}

} // namespace tilewright::driver

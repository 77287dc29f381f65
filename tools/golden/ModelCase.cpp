// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/golden/ModelCase.h"

#include "backends/cpu/Level.h"
#include "backends/reference/Compare.h"
#include "frontend/graph/AtomicFile.h"
#include "frontend/import/ImportModel.h"
#include "tools/driver/Commands.h"
#include "tools/driver/ReferenceModel.h"
#include "tools/golden/TensorValues.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <set>

namespace tilewright {

namespace {

using driver::LogitsModel;

std::string modelOf(llvm::StringRef folder) {
  std::string gguf = (folder + "/model.gguf").str();
  return llvm::sys::fs::exists(gguf) ? gguf : folder.str();
}

/// One of the parts of a model's case.
class ModelRun {
public:
  ModelRun(LogitsModel &model, const SafetensorsFile &io, const llvm::json::Object &errors)
      : model(model), io(io), errors(errors) {}

  /// Logits of each token; of an encoder-decoder those of its text behind what it reads.
  llvm::Error prefill(const std::string &part) {
    std::optional<GoldenTensor> ids = values(part + ".input_ids"), positions = values(part + ".position_ids"),
                                mask = values(part + ".attention_mask"), types = values(part + ".token_type_ids"),
                                texts = values(part + ".decoder_input_ids"), logits = values(part + ".logits");
    if (!ids)
      return llvm::Error::success();
    if (!logits)
      return llvm::createStringError(part + ".logits is not there");
    const double limit = errorLimit(errors, part + ".logits", *logits);
    for (int64_t b = 0; b < ids->shape[0]; ++b) {
      Row row = rowOf(*ids, mask, b);
      for (auto [i, place] : llvm::enumerate(row.places))
        if (positions && positions->integers[place] != static_cast<int64_t>(i))
          return llvm::createStringError(part + ".position_ids do not count the tokens");
      driver::RowInputs inputs;
      if (types)
        for (int64_t place : row.places)
          inputs["token_type_ids"].push_back(static_cast<int32_t>(types->integers[place]));
      if (llvm::Error error = model.reset())
        return error;
      if (texts) {
        if (llvm::Error error = model.encode(row.tokens, inputs))
          return error;
        row = rowOf(*texts, std::nullopt, b);
        inputs.clear();
      }
      driver::OutputRows outputs;
      llvm::Expected<std::vector<double>> found = model.step(row.tokens, /*lastOnly=*/false, inputs, &outputs);
      if (!found)
        return found.takeError();
      for (auto [i, place] : llvm::enumerate(row.places))
        if (llvm::Error error = compareRow(part, *found, i, *logits, place, limit))
          return error;
      // The last of the stored ones is what no layer reads.
      size_t layers = 0;
      while (outputs.count("hidden_states." + std::to_string(layers)))
        ++layers;
      if (layers > 0 && outputs.count("hidden"))
        outputs["hidden_states." + std::to_string(layers)] = outputs["hidden"];
      for (const auto &[name, rows] : outputs)
        if (llvm::Error error = compareOutput(part, name, rows, row.places))
          return error;
    }
    return note(part, limit);
  }

  /// Rows of an encoder-decoder's encoder; the model is that alone.
  llvm::Error readSource(const std::string &part) {
    std::optional<GoldenTensor> ids = values(part + ".input_ids"), mask = values(part + ".attention_mask");
    for (int64_t b = 0; ids && b < ids->shape[0]; ++b) {
      const Row row = rowOf(*ids, mask, b);
      if (llvm::Error error = model.reset())
        return error;
      driver::OutputRows outputs;
      llvm::Expected<std::vector<double>> found = model.step(row.tokens, /*lastOnly=*/false, {}, &outputs);
      if (!found)
        return found.takeError();
      if (llvm::Error error = compareOutput(part, "encoder_last_hidden_state", outputs["hidden"], row.places))
        return error;
    }
    return llvm::Error::success();
  }

  /// Tokens chosen greedily, and the logits that they were chosen by.
  llvm::Error generate(const std::string &part) {
    std::optional<GoldenTensor> prompts = values(part + ".prompt_ids"), mask = values(part + ".attention_mask"),
                                ids = values(part + ".new_ids"), logits = values(part + ".step_logits"),
                                texts = values("plain.decoder_input_ids"); // which begin as all texts do
    if (!prompts)
      return llvm::Error::success();
    if (!ids || !logits)
      return llvm::createStringError(part + ".new_ids or .step_logits is not there");
    const int64_t batch = prompts->shape[0], steps = ids->shape[1];
    const double limit = errorLimit(errors, "plain.logits", *logits);
    for (int64_t b = 0; b < batch; ++b) {
      std::vector<int32_t> tokens = rowOf(*prompts, mask, b).tokens;
      if (llvm::Error error = model.reset())
        return error;
      if (texts) {
        if (llvm::Error error = model.encode(tokens))
          return error;
        tokens = {static_cast<int32_t>(texts->integers.front())};
      }
      for (int64_t step = 0; step < steps; ++step) {
        llvm::Expected<std::vector<double>> found = model.step(tokens, /*lastOnly=*/true);
        if (!found)
          return found.takeError();
        const int64_t place = b * steps + step;
        if (llvm::Error error = compareRow(part, *found, 0, *logits, place, limit))
          return error;
        const auto chosen = static_cast<int64_t>(std::max_element(found->begin(), found->end()) - found->begin());
        if (chosen != ids->integers[place])
          return llvm::createStringError(llvm::formatv("{0}: token {1} of sequence {2} is {3}, wanted {4}", part, step,
                                                       b, chosen, ids->integers[place])
                                             .str());
        tokens = {static_cast<int32_t>(chosen)};
      }
    }
    return note(part, limit);
  }

  const std::string &text() const { return passed; }
  /// Outputs that were compared, by part and name.
  const std::set<std::string> &compared() const { return names; }

private:
  /// The tokens of a batch entry that are no padding, and where they stand.
  struct Row {
    std::vector<int32_t> tokens;
    std::vector<int64_t> places;
  };
  static Row rowOf(const GoldenTensor &ids, const std::optional<GoldenTensor> &mask, int64_t b) {
    Row row;
    for (int64_t place = b * ids.shape[1]; place < (b + 1) * ids.shape[1]; ++place) {
      if (mask && !mask->integers[place])
        continue;
      row.tokens.push_back(static_cast<int32_t>(ids.integers[place]));
      row.places.push_back(place);
    }
    return row;
  }

  std::optional<GoldenTensor> values(const std::string &name) const {
    auto tensor = io.tensors.find(name);
    return tensor == io.tensors.end() ? std::nullopt : std::optional(tensorValues(tensor->second));
  }

  /// Hidden rows, where they are stored.
  llvm::Error compareOutput(const std::string &part, const std::string &name, const std::vector<double> &rows,
                            llvm::ArrayRef<int64_t> places) {
    const std::string stored = part + "." + (name == "hidden" ? "last_hidden_state" : name);
    std::optional<GoldenTensor> wanted = values(stored);
    if (!wanted)
      return llvm::Error::success();
    if (static_cast<int64_t>(rows.size()) != static_cast<int64_t>(places.size()) * wanted->shape.back())
      return llvm::createStringError(llvm::formatv("{0}: found {1} numbers in {2} rows, wanted {3} a row", stored,
                                                   rows.size(), places.size(), wanted->shape.back())
                                         .str());
    const double limit = errorLimit(errors, stored, *wanted), logitsWorst = worst;
    for (auto [i, place] : llvm::enumerate(places))
      if (llvm::Error error = compareNumbers(stored, rows, i, *wanted, place, limit))
        return error;
    worst = logitsWorst;
    names.insert(stored);
    return llvm::Error::success();
  }

  llvm::Error compareRow(const std::string &part, const std::vector<double> &found, size_t row,
                         const GoldenTensor &wanted, int64_t place, double limit) {
    if (model.vocab() != wanted.shape.back())
      return llvm::createStringError(
          llvm::formatv("{0}: found {1} logits, wanted {2}", part, model.vocab(), wanted.shape.back()).str());
    return compareNumbers(part + ": logit", found, row, wanted, place, limit);
  }

  llvm::Error compareNumbers(const std::string &what, const std::vector<double> &found, size_t row,
                             const GoldenTensor &wanted, int64_t place, double limit) {
    const int64_t width = wanted.shape.back();
    for (int64_t v = 0; v < width; ++v) {
      const double is = found[row * width + v], should = wanted.reals[place * width + v];
      const double error = reference::distance(is, should);
      if (!(error <= limit))
        return llvm::createStringError(
            llvm::formatv("{0} {1} of row {2} is {3:e6}, wanted {4:e6}: error {5:e2}, limit {6:e2}", what, v, place, is,
                          should, error, limit)
                .str());
      worst = std::max(worst, error);
    }
    return llvm::Error::success();
  }

  llvm::Error note(llvm::StringRef part, double limit) {
    passed += llvm::formatv("{0}{1} {2:e2} of {3:e2}", passed.empty() ? "" : ", ", part, worst, limit).str();
    worst = 0;
    return llvm::Error::success();
  }

  LogitsModel &model;
  const SafetensorsFile &io;
  const llvm::json::Object &errors;
  double worst = 0;
  std::string passed;
  std::set<std::string> names;
};

/// The outputs that the stored rows are of; they have to be compared.
std::vector<std::string> outputsOf(const SafetensorsFile &io) {
  std::vector<std::string> outputs;
  if (io.tensors.count("plain.last_hidden_state"))
    outputs.push_back("hidden");
  if (io.tensors.count("plain.hidden_states.0"))
    outputs.push_back("hidden_states");
  return outputs;
}

/// What is compared of a model: returns the error, or what was compared.
using Comparison = llvm::function_ref<llvm::Error(ModelRun &run)>;

llvm::Error compareParts(ModelRun &run) {
  for (const char *part : {"plain", "padded"})
    if (llvm::Error error = run.prefill(part))
      return error;
  for (const char *part : {"gen", "gen_padded"})
    if (llvm::Error error = run.generate(part))
      return error;
  return run.text().empty() ? llvm::createStringError("io.safetensors has no part that can be run")
                            : llvm::Error::success();
}

llvm::Error compareEncoder(ModelRun &run) {
  for (const char *part : {"plain", "padded"})
    if (llvm::Error error = run.readSource(part))
      return error;
  return llvm::Error::success();
}

/// A model's case on one backend.
class ModelCase {
public:
  ModelCase(const std::string &folder, const GoldenRun &settings, const std::vector<std::string> &plugins,
            llvm::StringRef temporary, const SafetensorsFile &io, const llvm::json::Object &errors)
      : folder(folder), settings(settings), plugins(plugins), graph((temporary + "/case.twg").str()), io(io),
        errors(errors) {}

  CaseResult run() {
    CaseResult result = compare(outputsOf(io), compareParts);
    if (result.outcome == Outcome::Passed && io.tensors.count("plain.encoder_last_hidden_state")) {
      const std::string text = result.text;
      result = compare({"encoder"}, compareEncoder);
      result.text = text + result.text;
    }
    if (result.outcome != Outcome::Passed)
      return result;
    for (const auto &[name, tensor] : io.tensors)
      if (llvm::StringRef(name).contains("hidden_state") && !compared.count(name))
        return {Outcome::Failed, name + " was not compared"};
    result.text += llvm::formatv(", {0} hidden", compared.size()).str();
    return result;
  }

private:
  /// The model with these outputs.
  CaseResult compare(const std::vector<std::string> &outputs, Comparison comparison) {
    llvm::Expected<ImportResult> imported = importModel(modelOf(folder), graph, outputs);
    const int code = imported ? driver::report(writeFileAtomically(graph, imported->bytes), WorkFailed)
                              : driver::report(imported.takeError(), BadInput);
    if (code)
      return notDone(code, "imported");
    return settings.compiled ? compileAndRun(comparison) : interpret(comparison);
  }

  CaseResult interpret(Comparison comparison) {
    driver::Session session(plugins, /*threads=*/1);
    mlir::ModuleOp module = session.open(graph, folder);
    if (!module)
      return notDone(session.status(), "imported");
    auto model = driver::ReferenceModel::create(session, module, reference::Precision::F64);
    if (!model)
      return {Outcome::Failed, llvm::toString(model.takeError())};
    return finish(**model, comparison);
  }

  CaseResult compileAndRun(Comparison comparison) {
    driver::CompileOptions options;
    options.input = graph;
    options.weightsDir = folder;
    options.output = graph + ".model";
    if (auto levels = hostCpuLevels(); !levels.empty())
      options.targets = {"cpu:" + levels.back()->name.str()};
    options.numerics = settings.numerics;
    options.requireFused = {"attention"};
    options.plugins = plugins;
    options.quiet = true;
    if (int code = driver::compileModel(options))
      return notDone(code, "compiled");
    auto model = driver::artifactModel(options.output, "");
    if (!model)
      return {Outcome::Failed, llvm::toString(model.takeError())};
    return finish(**model, comparison);
  }

  CaseResult finish(LogitsModel &model, Comparison comparison) {
    ModelRun run(model, io, errors);
    if (llvm::Error error = comparison(run))
      return {Outcome::Failed, llvm::toString(std::move(error))};
    compared.insert(run.compared().begin(), run.compared().end());
    return {Outcome::Passed, run.text()};
  }

  static CaseResult notDone(int code, llvm::StringRef what) {
    return {code == Unsupported ? Outcome::Unsupported : Outcome::Failed,
            ("it cannot be " + what + " (see above)").str()};
  }

  const std::string &folder;
  const GoldenRun &settings;
  const std::vector<std::string> &plugins;
  const std::string graph;
  const SafetensorsFile &io;
  const llvm::json::Object &errors;
  std::set<std::string> compared;
};

} // namespace

bool isModelCase(llvm::StringRef folder) {
  auto has = [&](llvm::StringRef name) { return llvm::sys::fs::exists(folder + "/" + name); };
  return has("io.safetensors") && (has("config.json") || has("model.gguf"));
}

CaseResult runModelCase(const std::string &folder, const GoldenRun &run, const std::vector<std::string> &plugins) {
  SafetensorsFile io;
  if (std::optional<std::string> error = readSafetensors(folder + "/io.safetensors", io))
    return {Outcome::Failed, *error};
  llvm::SmallString<128> temporary;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("check-golden", temporary))
    return {Outcome::Failed, error.message()};
  auto remove = llvm::scope_exit([&] { llvm::sys::fs::remove_directories(temporary); });
  llvm::Expected<llvm::json::Object> errors = metadataObject(io, folder, "f32_err");
  if (!errors)
    return {Outcome::Failed, llvm::toString(errors.takeError())};
  return ModelCase(folder, run, plugins, temporary, io, *errors).run();
}

} // namespace tilewright

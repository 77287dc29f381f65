// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/GenerationDefaults.h"

#include "frontend/graph/BeneathFile.h"
#include "frontend/graph/Errors.h"
#include "frontend/import/Expression.h"
#include "frontend/import/json/StrictJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace llvm;

namespace tilewright {

namespace {

constexpr unsigned maxDepth = 16;
constexpr StringLiteral configFile = "config.json", generationFile = "generation_config.json";

/// A setting of Transformers' generate(), by its name.
struct Setting {
  StringLiteral name;
  StringLiteral neutral; ///< JSON; null changes nothing either
  StringLiteral option;  ///< of `tilewright generate`; empty: none does the same
};

constexpr Setting settings[] = {
    {"max_new_tokens", "null", "--max-tokens"},
    {"max_length", "20", "--max-length"},
    {"min_length", "0", "--min-length"},
    {"min_new_tokens", "0", "--min-new-tokens"},
    {"num_beams", "1", "--num-beams"},
    {"length_penalty", "1", "--length-penalty"},
    {"early_stopping", "false", "--early-stopping"},
    {"no_repeat_ngram_size", "0", "--no-repeat-ngram-size"},
    {"repetition_penalty", "1", "--repeat-penalty"},
    {"num_beam_groups", "1", ""},
    {"diversity_penalty", "0", ""},
    {"encoder_no_repeat_ngram_size", "0", ""},
    {"encoder_repetition_penalty", "1", ""},
    {"guidance_scale", "1", ""},
    {"penalty_alpha", "0", ""},
    {"num_return_sequences", "1", ""},
    {"exponential_decay_length_penalty", "null", ""},
    {"suppress_tokens", "null", ""},
    {"begin_suppress_tokens", "null", ""},
    {"sequence_bias", "null", ""},
    {"stop_strings", "null", ""},
};

/// Those that count beside "do_sample": true alone, and then by their defaults too.
constexpr Setting sampling[] = {
    {"temperature", "1", "--temperature"},
    {"top_k", "50", "--top-k"},
    {"top_p", "1", "--top-p"},
    {"min_p", "null", "--min-p"},
    {"typical_p", "1", ""},
    {"epsilon_cutoff", "0", ""},
    {"eta_cutoff", "0", ""},
};

/// What importing reads itself, or config.json has as well; and what changes no text.
constexpr StringLiteral harmless[] = {
    "do_sample",          "eos_token_id",          "bos_token_id",
    "pad_token_id",       "transformers_version",  "use_cache",
    "max_time",           "output_scores",         "output_logits",
    "output_attentions",  "output_hidden_states",  "return_dict_in_generate",
    "low_memory",         "remove_invalid_values", "cache_implementation",
    "cache_config",       "trust_remote_code",     "renormalize_logits",
    "_from_model_config", "return_legacy_cache",   "transformers.js_config",
    "disable_compile",    "compile_config",
};

/// "0.6", as the user wrote it.
std::string spellSetting(const json::Value &value) {
  std::optional<Value> number = value.getAsNumber() ? valueOf(value) : std::nullopt;
  return number ? spell(*number) : shorten(value);
}

bool isSame(const json::Value &a, const json::Value &b) {
  if (a.getAsNumber() && b.getAsNumber())
    return *a.getAsNumber() == *b.getAsNumber();
  return a == b;
}

class Reader {
public:
  explicit Reader(int64_t vocabulary) : vocabulary(vocabulary) {}

  Expected<std::optional<json::Object>> open(StringRef folder, StringRef name) const {
    Expected<MappedFile> file = MappedFile::openBeneath(folder, name);
    if (!file) {
      std::error_code code = errorToErrorCode(file.takeError());
      return code == std::errc::no_such_file_or_directory
                 ? Expected<std::optional<json::Object>>(std::nullopt)
                 : Expected<std::optional<json::Object>>(ioError(folder + "/" + name, code));
    }
    Expected<json::Object> root = parseStrictJson(toStringRef(file->bytes()), (folder + "/" + name).str(), maxDepth);
    if (!root)
      return root.takeError();
    return std::optional<json::Object>(std::move(*root));
  }

  Error checkEnds(const json::Object &root, const Twine &file) const {
    const json::Value *ends = root.get("eos_token_id");
    if (!ends || ends->getAsNull())
      return Error::success();
    const json::Array one{*ends}, *list = ends->getAsArray();
    for (const json::Value &end : list ? *list : one) {
      std::optional<int64_t> id = end.getAsInteger();
      if (!id || *id < -1 || *id >= vocabulary) // -1: none, in older files
        return badInput(file + ": field 'eos_token_id': found " + shorten(*ends) + ", wanted the id of one of " +
                        Twine(vocabulary) + " tokens, or a list of such");
    }
    return Error::success();
  }

  /// `others`: the config beside a file that is about generation alone, where each field may change a text.
  void add(const json::Object &root, const json::Object *others) {
    for (const Setting &setting : settings)
      add(setting, root.get(setting.name));
    const bool samples = root.getBoolean("do_sample").value_or(false);
    for (const Setting &setting : sampling)
      if (samples)
        addSampling(setting, root.get(setting.name));
    if (!others)
      return;
    for (const auto &[key, value] : root) {
      const StringRef name = key;
      const auto isKnown = [&](const Setting &setting) { return setting.name == name; };
      const json::Value *own = others->get(name);
      if (!value.getAsNull() && none_of(settings, isKnown) && none_of(sampling, isKnown) &&
          !is_contained(harmless, name) && !(own && *own == value))
        missing.push_back((name + " " + spellSetting(value)).str());
    }
    llvm::sort(missing);
  }

  std::vector<std::string> notes(StringRef file) const {
    std::vector<std::string> notes;
    if (!options.empty())
      notes.push_back(
          (file + ": `tilewright generate` takes none of its defaults over; the same do " + join(options, " ")).str());
    if (!missing.empty())
      notes.push_back((file + ": no option of `tilewright generate` does the same as " + join(missing, ", ")).str());
    return notes;
  }

private:
  void add(const Setting &setting, const json::Value *value) {
    if (value && !value->getAsNull() && !isSame(*value, cantFail(json::parse(setting.neutral))))
      tell(setting, *value);
  }

  /// `generate` takes the most probable token by default, so that values which are none to Transformers count.
  void addSampling(const Setting &setting, const json::Value *value) {
    const bool isStarter = setting.option == "--temperature" || setting.option == "--top-k";
    if (isStarter && (!value || value->getAsNull()))
      return tell(setting, cantFail(json::parse(setting.neutral)));
    if (isStarter && value)
      return tell(setting, *value);
    add(setting, value);
  }

  void tell(const Setting &setting, const json::Value &value) {
    if (setting.option.empty())
      missing.push_back((setting.name + " " + spellSetting(value)).str());
    else
      options.push_back((setting.option + "=" + argumentOf(setting, value)).str());
  }

  static std::string argumentOf(const Setting &setting, const json::Value &value) {
    if (setting.name == "early_stopping" && value.getAsBoolean())
      return *value.getAsBoolean() ? "on" : "off";
    if (std::optional<StringRef> word = value.getAsString())
      return word->str();
    return spellSetting(value);
  }

  const int64_t vocabulary;
  std::vector<std::string> options, missing;
};

} // namespace

Expected<std::vector<std::string>> readGenerationDefaults(StringRef folder, int64_t vocabulary) {
  Reader reader(vocabulary);
  Expected<std::optional<json::Object>> config = reader.open(folder, configFile);
  if (!config)
    return config.takeError();
  Expected<std::optional<json::Object>> generation = reader.open(folder, generationFile);
  if (!generation)
    return generation.takeError();
  for (auto [root, name] : {std::pair(&*config, configFile), {&*generation, generationFile}})
    if (*root)
      if (Error error = reader.checkEnds(**root, folder + "/" + name))
        return error;
  if (*generation)
    reader.add(**generation, *config ? &**config : nullptr);
  else if (*config)
    reader.add(**config, nullptr);
  return reader.notes(*generation ? generationFile : configFile);
}

} // namespace tilewright

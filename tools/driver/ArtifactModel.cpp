// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled model as a LogitsModel.
#include "tools/driver/LogitsModel.h"

#include "runtime/api/Requests.h"
#include "tools/StatusExitCode.h"

#include "llvm/Support/JSON.h"

namespace tilewright::driver {
namespace {

llvm::Error check(tw_status status) {
  return status == TW_OK ? llvm::Error::success() : llvm::make_error<CodedError>(exitCodeOf(status), tw_last_error());
}

class ArtifactModel : public LogitsModel {
public:
  ~ArtifactModel() override {
    tw_session_release(session);
    tw_model_release(model);
  }

  llvm::Error open(const std::string &folder, const std::string &kvType, const ModelShape *wanted) {
    tw_model_options options = {};
    options.size = sizeof options;
    options.kv_type = kvType.empty() ? nullptr : kvType.c_str();
    if (llvm::Error error = check(tw_model_load(folder.c_str(), &options, &model)))
      return error;
    if (wanted) {
      llvm::Expected<ModelShape> shape = shapeOf(tw_model_describe(model));
      if (!shape)
        return shape.takeError();
      if (llvm::Error error = checkShape(*shape, *wanted, folder))
        return error;
    }
    return check(tw_session_create(model, &session));
  }

  llvm::Error reset() override {
    hasSource = false;
    return check(tw_session_truncate(session, 0));
  }

  llvm::Error encode(llvm::ArrayRef<int32_t> tokens, const RowInputs &inputs) override {
    std::vector<tw_input> rows = rowsOf(inputs);
    tw_encode_request request = {};
    request.size = sizeof request;
    request.session = session;
    request.tokens = tokens.data();
    request.count = static_cast<int64_t>(tokens.size());
    request.inputs = rows.data();
    request.input_count = static_cast<int64_t>(rows.size());
    hasSource = true;
    return check(tw_encode(model, &request, 1));
  }

  llvm::Expected<std::vector<double>> step(llvm::ArrayRef<int32_t> tokens, bool lastOnly, const RowInputs &inputs,
                                           OutputRows *outputs) override {
    if (tw_model_kind_of(model) == TW_MODEL_ENCODER)
      if (llvm::Error error = reset())
        return std::move(error);
    if (tw_model_kind_of(model) == TW_MODEL_ENCODER_DECODER && !hasSource)
      if (llvm::Error error = encode(tokens, {}))
        return std::move(error);
    std::vector<int64_t> wanted;
    for (size_t i = lastOnly ? tokens.size() - 1 : 0; i < tokens.size(); ++i)
      wanted.push_back(static_cast<int64_t>(i));
    const int64_t first = hasLogits() ? 0 : 1; // the first output stands for logits that are not there
    const int64_t count = outputs ? tw_model_output_count(model) : first;
    std::vector<float> logits(wanted.size() * static_cast<size_t>(vocab()));
    std::vector<std::vector<float>> further(static_cast<size_t>(count));
    std::vector<tw_output> asked;
    for (int64_t i = 0; i < count; ++i) {
      const char *name = tw_model_output_name(model, i);
      further[i].resize(wanted.size() * static_cast<size_t>(tw_model_output_size(model, name)));
      asked.push_back({sizeof(tw_output), name, i < first ? logits.data() : further[i].data()});
    }
    std::vector<tw_input> rows = rowsOf(inputs);
    tw_step_request request = stepRequest(session, tokens, hasLogits() ? logits.data() : nullptr);
    request.wanted = wanted.data();
    request.wanted_count = static_cast<int64_t>(wanted.size());
    request.outputs = asked.data();
    request.output_count = count;
    request.inputs = rows.data();
    request.input_count = static_cast<int64_t>(rows.size());
    if (llvm::Error error = check(tw_step(model, &request, 1)))
      return std::move(error);
    for (int64_t i = 0; outputs && i < count; ++i) {
      const std::vector<float> &found = i < first ? logits : further[i];
      (*outputs)[asked[i].name].assign(found.begin(), found.end());
    }
    return std::vector<double>(logits.begin(), logits.end());
  }

  int64_t vocab() const override {
    return hasLogits() ? tw_model_vocab_size(model) : tw_model_output_size(model, tw_model_output_name(model, 0));
  }
  bool hasLogits() const override { return tw_model_has_logits(model) != 0; }

  std::string numerics() const override {
    llvm::Expected<llvm::json::Value> description = llvm::json::parse(tw_model_describe(model));
    if (!description) {
      llvm::consumeError(description.takeError());
      return "fast";
    }
    const llvm::json::Object *object = description->getAsObject();
    return object ? object->getString("numerics").value_or("fast").str() : "fast";
  }

private:
  static std::vector<tw_input> rowsOf(const RowInputs &inputs) {
    std::vector<tw_input> rows;
    for (const auto &input : inputs) // keys end with a zero
      rows.push_back({sizeof(tw_input), input.getKeyData(), input.getValue().data()});
    return rows;
  }

  tw_model *model = nullptr;
  tw_session *session = nullptr;
  bool hasSource = false; ///< read since the last reset
};

} // namespace

llvm::Expected<std::unique_ptr<LogitsModel>> artifactModel(const std::string &folder, const std::string &kvType,
                                                           const ModelShape *wanted) {
  auto model = std::make_unique<ArtifactModel>();
  if (llvm::Error error = model->open(folder, kvType, wanted))
    return std::move(error);
  return model;
}

} // namespace tilewright::driver

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled model as a LogitsModel.
#include "tools/driver/LogitsModel.h"

#include "runtime/api/tilewright.h"

#include "llvm/Support/JSON.h"

namespace tilewright::driver {
namespace {

llvm::Error check(tw_status status) {
  return status == TW_OK ? llvm::Error::success() : llvm::createStringError(tw_last_error());
}

class ArtifactModel : public LogitsModel {
public:
  ~ArtifactModel() override {
    tw_session_release(session);
    tw_model_release(model);
  }

  llvm::Error open(const std::string &folder, const std::string &kvType) {
    tw_model_options options = {};
    options.size = sizeof options;
    options.kv_type = kvType.empty() ? nullptr : kvType.c_str();
    if (llvm::Error error = check(tw_model_load(folder.c_str(), &options, &model)))
      return error;
    return check(tw_session_create(model, &session));
  }

  llvm::Error reset() override { return check(tw_session_truncate(session, 0)); }

  llvm::Expected<std::vector<double>> step(llvm::ArrayRef<int32_t> tokens, bool lastOnly) override {
    std::vector<int64_t> wanted;
    for (size_t i = lastOnly ? tokens.size() - 1 : 0; i < tokens.size(); ++i)
      wanted.push_back(static_cast<int64_t>(i));
    std::vector<float> logits(wanted.size() * static_cast<size_t>(vocab()));
    tw_step_request request = {};
    request.size = sizeof request;
    request.session = session;
    request.tokens = tokens.data();
    request.count = static_cast<int64_t>(tokens.size());
    request.wanted = wanted.data();
    request.wanted_count = static_cast<int64_t>(wanted.size());
    request.logits = logits.data();
    if (llvm::Error error = check(tw_step(model, &request, 1)))
      return std::move(error);
    return std::vector<double>(logits.begin(), logits.end());
  }

  int64_t vocab() const override { return tw_model_vocab_size(model); }

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
  tw_model *model = nullptr;
  tw_session *session = nullptr;
};

} // namespace

llvm::Expected<std::unique_ptr<LogitsModel>> artifactModel(const std::string &folder, const std::string &kvType) {
  auto model = std::make_unique<ArtifactModel>();
  if (llvm::Error error = model->open(folder, kvType))
    return std::move(error);
  return model;
}

} // namespace tilewright::driver

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/speculative_decoding/DraftModel.h"

#include "plugins/speculative_decoding/Fault.h"

#include <algorithm>
#include <optional>

namespace tilewright::speculative_decoding {

namespace {

void check(const tw_rt_host &host, tw_status status, const std::string &where) {
  if (status != TW_OK)
    throw Fault(status, where + ": " + host.last_error());
}

/// How the vocabulary spells the token; nothing for an id that it does not have.
std::optional<std::string> spelling(const tw_rt_host &host, const tw_model *model, int32_t id) {
  std::string text(64, 0);
  for (;;) {
    size_t length = 0;
    const tw_status status = host.token_text(model, id, text.data(), text.size(), &length);
    if (status == TW_INVALID)
      return std::nullopt;
    if (status != TW_OK && status != TW_EXHAUSTED)
      throw Fault(status, host.last_error());
    text.resize(length);
    if (status == TW_OK)
      return text;
  }
}

std::string quoted(const std::optional<std::string> &text) { return text ? "'" + *text + "'" : "no token"; }

} // namespace

DraftModel::DraftModel(const tw_rt_host &host, tw_model *target, const std::string &folder)
    : host(host), model(nullptr, Release{&host}), session(nullptr, Release{&host}) {
  tw_model *loaded = nullptr;
  check(host, host.model_load(folder.c_str(), nullptr, &loaded), "draft model " + folder);
  model.reset(loaded);
  vocabulary = host.model_vocab_size(loaded);
  checkVocabulary(target, folder);
  tw_session *made = nullptr;
  check(host, host.session_create(loaded, &made), "draft model " + folder);
  session.reset(made);
  logits.resize(static_cast<size_t>(vocabulary));
}

// Tables may be longer than vocabularies: ids that neither tokenizer has are filling.
void DraftModel::checkVocabulary(tw_model *target, const std::string &folder) const {
  const int64_t both = std::min(vocabulary, host.model_vocab_size(target));
  for (int64_t id = 0; id < both; ++id) {
    const auto own = spelling(host, model.get(), static_cast<int32_t>(id));
    const auto wanted = spelling(host, target, static_cast<int32_t>(id));
    if (own != wanted)
      throw Fault(TW_UNSUPPORTED, "draft model " + folder + ": has another vocabulary: token " + std::to_string(id) +
                                      " is " + quoted(own) + ", wanted " + quoted(wanted));
  }
}

void DraftModel::readTo(std::span<const int32_t> history) {
  const auto differs = std::mismatch(tokens.begin(), tokens.end(), history.begin(), history.end()).first;
  // The last token is read in any case: its row of logits is wanted.
  const size_t kept = std::min(static_cast<size_t>(differs - tokens.begin()), history.size() - 1);
  if (kept < tokens.size()) {
    check(host, host.session_truncate(session.get(), static_cast<int64_t>(kept)), "draft model");
    tokens.resize(kept);
  }
  const std::span<const int32_t> rest = history.subspan(kept);
  const tw_step_request request = {sizeof request, session.get(),
                                   rest.data(),    static_cast<int64_t>(rest.size()),
                                   nullptr,        0,
                                   logits.data(),  nullptr,
                                   nullptr,        0,
                                   nullptr,        0};
  check(host, host.step(model.get(), &request, 1), "draft model");
  tokens.insert(tokens.end(), rest.begin(), rest.end());
}

void DraftModel::draw(std::span<const int32_t> history, size_t capacity, const tw_rt_sampler &sampler, Draft &draft) {
  const auto unknown = [&](int32_t id) { return id >= vocabulary; };
  const size_t context = static_cast<size_t>(host.model_context(model.get()));
  // Tokens that do not stand are taken back.
  check(host, host.session_set_rollback(session.get(), static_cast<int64_t>(capacity)), "draft model");
  draft.begin(history);
  if (std::any_of(history.begin(), history.end(), unknown))
    return;
  while (draft.size() < capacity && draft.text().size() <= context) {
    readTo(draft.text());
    draft.draw(logits, sampler);
  }
}

} // namespace tilewright::speculative_decoding

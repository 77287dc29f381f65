// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fake model, loaded through the C interface.
#pragma once

#include "runtime/api/Error.h"
#include "runtime/api/Requests.h"
#include "runtime/api/tilewright.h"
#include "tests/unit/runtime/fake/FakeArtifact.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace tilewright::testing {

class FakeModel {
public:
  explicit FakeModel(const std::function<void(tw_model_options &)> &set = {},
                     const FakeArtifactOptions &artifact = {}) {
    writeFakeArtifact(folder.path(), artifact);
    tw_model_options options{};
    options.size = sizeof options;
    options.threads = 2;
    if (set)
      set(options);
    EXPECT_EQ(tw_model_load(folder.path().c_str(), &options, &model), TW_OK) << tw_last_error();
  }
  ~FakeModel() { tw_model_release(model); }
  FakeModel(const FakeModel &) = delete;

  operator tw_model *() const { return model; }
  tw_memory memory() const {
    tw_memory memory{};
    memory.size = sizeof memory;
    EXPECT_EQ(tw_model_memory(model, &memory), TW_OK);
    return memory;
  }
  std::string path() const { return folder.path(); }
  tw_model *take() { return std::exchange(model, nullptr); }

private:
  TemporaryFolder folder;
  tw_model *model = nullptr;
};

class FakeSession {
public:
  explicit FakeSession(tw_model *model) : model(model) {
    EXPECT_EQ(tw_session_create(model, &session), TW_OK) << tw_last_error();
  }
  ~FakeSession() { tw_session_release(session); }
  FakeSession(const FakeSession &) = delete;

  operator tw_session *() const { return session; }
  int64_t length() const { return tw_session_length(session); }

  /// Appends tokens; the last row's logits are in `logits`.
  tw_status step(const std::vector<int32_t> &tokens) {
    logits.assign(FAKE_VOCAB, -1);
    const tw_step_request request = stepRequest(session, tokens, logits.data());
    return tw_step(model, &request, 1);
  }

  std::vector<float> logits;

private:
  tw_model *model;
  tw_session *session = nullptr;
};

/// `count` ordinary tokens that differ by seed.
inline std::vector<int32_t> someTokens(size_t count, int seed = 0) {
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>((i * 37 + static_cast<size_t>(seed) * 11 + 5) % 250));
  return tokens;
}

inline std::vector<int32_t> joined(std::vector<int32_t> a, const std::vector<int32_t> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline std::vector<int32_t> firstOf(const std::vector<int32_t> &tokens, size_t count) {
  return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count)};
}

inline void expectError(tw_status status, tw_status wanted, const std::string &part) {
  EXPECT_STREQ(statusName(status), statusName(wanted)) << tw_last_error();
  EXPECT_NE(std::string(tw_last_error()).find(part), std::string::npos) << tw_last_error() << "\nwanted: " << part;
}

} // namespace tilewright::testing

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface: checks what a caller passes, turns exceptions into status codes, and does nothing else.
#include "runtime/api/tilewright.h"

#include "runtime/api/Error.h"
#include "runtime/api/Handles.h"

#include <algorithm>
#include <cstring>

using namespace tilewright;

namespace {

thread_local std::string lastError;

tw_status fail(tw_status code, const char *message) noexcept {
  try {
    lastError = message;
  } catch (const std::bad_alloc &) {
    lastError.clear(); // never allocates
  }
  return code;
}

template <typename Body> tw_status guarded(Body &&body) noexcept {
  try {
    body();
    return TW_OK;
  } catch (const Error &error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc &) {
    return fail(TW_EXHAUSTED, "out of memory");
  } catch (const std::exception &error) {
    return fail(TW_INTERNAL, error.what());
  } catch (...) {
    return fail(TW_INTERNAL, "unknown exception");
  }
}

void need(bool holds, const char *message) {
  if (!holds)
    throw Error(TW_INVALID, message);
}

/// A caller's size-first struct as this build knows it. A shorter one, down to the `oldest` size there was, comes from
/// an older header: what it lacks is zero. A longer one comes from a newer header: what it adds must be zero, or the
/// caller wants something this build cannot do.
template <typename T> T readSized(const T *from, size_t oldest, const char *name) {
  size_t size;
  std::memcpy(&size, from, sizeof size);
  if (size < oldest)
    throw Error(TW_INVALID, std::string(name) + ": size " + std::to_string(size) + ", wanted at least " +
                                std::to_string(oldest) + " (set it to sizeof)");
  constexpr size_t kLongest = 65536;
  if (size > kLongest)
    throw Error(TW_INVALID, std::string(name) + ": size " + std::to_string(size) + " is no struct's size");
  const auto *bytes = reinterpret_cast<const uint8_t *>(from);
  if (size > sizeof(T) && std::any_of(bytes + sizeof(T), bytes + size, [](uint8_t b) { return b != 0; }))
    throw Error(TW_UNSUPPORTED, std::string(name) + ": uses fields of a newer version than " TILEWRIGHT_VERSION);
  T result{};
  std::memcpy(&result, from, std::min(size, sizeof(T)));
  return result;
}

ModelOptions readOptions(const tw_model_options *from) {
  ModelOptions options;
  if (!from)
    return options;
  const tw_model_options given = readSized(from, offsetof(tw_model_options, kv_type), "tw_model_options");
  options.threads = given.threads;
  options.context = given.context;
  options.maxRows = given.max_rows;
  options.memoryLimit = given.memory_limit;
  options.artifact.level = given.level ? given.level : "";
  options.artifact.kvElement = given.kv_type ? given.kv_type : "";
  options.artifact.checkWeights = given.check_weights != 0;
  options.artifact.hugePages = given.huge_pages != 0;
  options.executor = given.executor;
  options.log = given.log;
  options.logUser = given.log_user;
  options.trace = given.trace ? given.trace : "";
  return options;
}

/// The values that a request gives by name, each by a tw_input or tw_output, in the order of the model's `own`; empty
/// when it gives none. `kind` and `request` are for messages; `lacking` is what to say of values that are NULL, none:
/// they may be.
template <typename Given, typename Own>
std::vector<decltype(Given::values)> readNamed(std::span<const Own> own, const Given *given, int64_t count,
                                               const std::string &kind, const std::string &request,
                                               const std::string &lacking) {
  const auto fail = [&](tw_status code, const std::string &what) { throw Error(code, request + ": " + what); };
  if (count < 0 || (count > 0 && !given))
    fail(TW_INVALID, kind + "s is NULL or " + kind + "_count is negative");
  std::vector<decltype(Given::values)> values(count ? own.size() : 0);
  const auto *at = reinterpret_cast<const uint8_t *>(given);
  for (int64_t i = 0; i < count; ++i) {
    const Given one = readSized(reinterpret_cast<const Given *>(at), sizeof(Given), ("tw_" + kind).c_str());
    at += one.size;
    const std::string name = one.name ? one.name : "";
    const auto found = std::find_if(own.begin(), own.end(), [&](const Own &each) { return each.name == name; });
    if (found == own.end()) {
      std::string known;
      for (const Own &each : own)
        known += (known.empty() ? "" : ", ") + each.name;
      fail(TW_NOT_FOUND, kind + " '" + name + "': the model has " + (known.empty() ? "none" : known));
    }
    auto &place = values[static_cast<size_t>(found - own.begin())];
    if (place)
      fail(TW_INVALID, kind + " '" + name + "' is there twice");
    if (!one.values && !lacking.empty())
      fail(TW_INVALID, lacking + " for " + kind + " '" + name + "'");
    place = one.values;
  }
  return values;
}

std::vector<float *> readOutputs(const Model &model, const tw_step_request &from, const std::string &request) {
  const bool isFilled = !from.wanted || from.wanted_count > 0;
  return readNamed(model.outputs(), from.outputs, from.output_count, "output", request, isFilled ? "no buffer" : "");
}

template <typename Request>
std::vector<const int32_t *> readInputs(const Model &model, const Request &from, const std::string &request) {
  return readNamed(model.inputs(), from.inputs, from.input_count, "input", request, "no values");
}

StepRequest readRequest(const tw_step_request &from, int64_t index) {
  const std::string name = "request " + std::to_string(index);
  const auto check = [&](bool holds, const char *what) {
    if (!holds)
      throw Error(TW_INVALID, name + ": " + what);
  };
  check(from.session, "no session");
  check(from.count >= 1, "no tokens, wanted at least one");
  check(from.tokens, "tokens is NULL");
  check(from.wanted_count >= 0, "wanted_count is negative");
  check(from.wanted || from.wanted_count == 0, "wanted is NULL but wanted_count is not 0");
  StepRequest request{from.session->session.get(),
                      {from.tokens, static_cast<size_t>(from.count)},
                      {from.wanted, static_cast<size_t>(from.wanted_count)},
                      from.logits,
                      {from.positions, static_cast<size_t>(from.positions ? from.count : 0)},
                      {},
                      {}};
  return request;
}

const Tokenizer &tokenizerOf(const tw_model *model) {
  need(model, "model is NULL");
  if (!model->model->tokenizer())
    throw Error(TW_NOT_FOUND, model->model->loaded().folder() + ": has no tokenizer inside");
  return *model->model->tokenizer();
}

/// Copies what fits; throws Error(EXHAUSTED) when not all of it does.
template <typename T, typename Count>
void fill(const T *from, size_t needed, T *to, size_t capacity, Count *count, const char *unit) {
  *count = static_cast<Count>(needed);
  if (const size_t copied = std::min(needed, capacity))
    std::memcpy(to, from, copied * sizeof(T));
  if (needed > capacity)
    throw Error(TW_EXHAUSTED,
                "a buffer of " + std::to_string(capacity) + " " + unit + ", " + std::to_string(needed) + " needed");
}

} // namespace

extern "C" {

const char *tw_last_error(void) { return lastError.c_str(); }

const char *tw_version(void) { return TILEWRIGHT_VERSION; }

tw_status tw_model_load(const char *folder, const tw_model_options *options, tw_model **out) {
  return guarded([&] {
    need(out, "out is NULL");
    *out = nullptr;
    need(folder, "folder is NULL");
    const ModelOptions given = readOptions(options);
    *out = new tw_model{Model::load(folder, given)};
  });
}

void tw_model_release(tw_model *model) { delete model; }

int64_t tw_model_vocab_size(const tw_model *model) { return model ? model->model->vocabSize() : -1; }

int64_t tw_model_context(const tw_model *model) { return model ? model->model->context() : -1; }

tw_model_kind tw_model_kind_of(const tw_model *model) { return model ? model->model->kind() : TW_MODEL_DECODER; }

int32_t tw_model_has_logits(const tw_model *model) { return model && model->model->hasLogits() ? 1 : 0; }

int64_t tw_model_input_count(const tw_model *model) {
  return model ? static_cast<int64_t>(model->model->inputs().size()) : -1;
}

const char *tw_model_input_name(const tw_model *model, int64_t index) {
  if (!model || index < 0 || index >= tw_model_input_count(model))
    return nullptr;
  return model->model->inputs()[static_cast<size_t>(index)].name.c_str();
}

const char *tw_model_describe(const tw_model *model) { return model ? model->model->description().c_str() : nullptr; }

int64_t tw_model_output_count(const tw_model *model) {
  return model ? static_cast<int64_t>(model->model->outputs().size()) : -1;
}

const char *tw_model_output_name(const tw_model *model, int64_t index) {
  if (index < 0 || index >= tw_model_output_count(model))
    return nullptr;
  return model->model->outputs()[static_cast<size_t>(index)].name.c_str();
}

int64_t tw_model_output_size(const tw_model *model, const char *name) {
  if (!model || !name)
    return -1;
  const std::optional<size_t> which = model->model->findOutput(name);
  return which ? model->model->outputs()[*which].rowSize : -1;
}

tw_status tw_model_memory(const tw_model *model, tw_memory *out) {
  return guarded([&] {
    need(model, "model is NULL");
    need(out, "out is NULL");
    if (out->size < sizeof(tw_memory))
      throw Error(TW_INVALID, "tw_memory: size " + std::to_string(out->size) + ", wanted at least " +
                                  std::to_string(sizeof(tw_memory)) + " (set it to sizeof)");
    const Model &m = *model->model;
    out->weights = m.loaded().weightBytes();
    out->caches = m.cacheBytes();
    out->arenas = m.arenaPool().bytesHeld();
    out->peak = m.memory().peak();
  });
}

tw_status tw_session_create(tw_model *model, tw_session **out) {
  return guarded([&] {
    need(out, "out is NULL");
    *out = nullptr;
    need(model, "model is NULL");
    *out = new tw_session{model->model->createSession()};
  });
}

void tw_session_release(tw_session *session) { delete session; }

int64_t tw_session_length(const tw_session *session) { return session ? session->session->length() : -1; }

int64_t tw_session_source_length(const tw_session *session) { return session ? session->session->sourceLength() : -1; }

tw_status tw_session_assign(tw_session *session, const tw_session *from) {
  return guarded([&] {
    need(session && from, "session or from is NULL");
    session->session->assign(*from->session);
  });
}

tw_status tw_session_truncate(tw_session *session, int64_t length) {
  return guarded([&] {
    need(session, "session is NULL");
    session->session->truncate(length);
  });
}

tw_status tw_session_set_rollback(tw_session *session, int64_t tokens) {
  return guarded([&] {
    need(session, "session is NULL");
    session->session->setRollback(tokens);
  });
}

tw_status tw_cancel(tw_session *session) {
  return guarded([&] {
    need(session, "session is NULL");
    session->session->cancel();
  });
}

tw_status tw_step(tw_model *model, const tw_step_request *requests, int64_t count) {
  return guarded([&] {
    need(model, "model is NULL");
    need(count >= 0, "a negative number of requests");
    if (count == 0)
      return;
    need(requests, "requests is NULL");
    const size_t stride = requests->size;
    const auto *at = reinterpret_cast<const uint8_t *>(requests);
    std::vector<StepRequest> steps;
    std::vector<std::vector<float *>> outputs; // of each request
    std::vector<std::vector<const int32_t *>> inputs;
    std::vector<int64_t> lastRows; // what NULL stands for in `wanted`
    lastRows.reserve(static_cast<size_t>(std::min<int64_t>(count, 4096)));
    std::vector<size_t> wantsLast;
    for (int64_t i = 0; i < count; ++i, at += stride) {
      const tw_step_request given = readSized(reinterpret_cast<const tw_step_request *>(at),
                                              offsetof(tw_step_request, positions), "tw_step_request");
      if (given.size != stride)
        throw Error(TW_INVALID, "request " + std::to_string(i) + ": size " + std::to_string(given.size) +
                                    ", request 0 has " + std::to_string(stride));
      steps.push_back(readRequest(given, i));
      outputs.push_back(readOutputs(*model->model, given, "request " + std::to_string(i)));
      inputs.push_back(readInputs(*model->model, given, "request " + std::to_string(i)));
      if (!given.wanted) {
        lastRows.push_back(given.count - 1);
        wantsLast.push_back(static_cast<size_t>(i));
      }
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i].outputs = outputs[i];
      steps[i].inputs = inputs[i];
    }
    for (size_t i = 0; i < wantsLast.size(); ++i)
      steps[wantsLast[i]].wanted = {&lastRows[i], 1};
    model->model->step(steps);
  });
}

tw_status tw_encode(tw_model *model, const tw_encode_request *requests, int64_t count) {
  return guarded([&] {
    need(model, "model is NULL");
    need(count >= 0, "a negative number of requests");
    need(requests || count == 0, "requests is NULL");
    const size_t stride = count ? requests->size : 0;
    const auto *at = reinterpret_cast<const uint8_t *>(requests);
    std::vector<StepRequest> sources;
    std::vector<std::vector<const int32_t *>> inputs; // of each request
    for (int64_t i = 0; i < count; ++i, at += stride) {
      const tw_encode_request given =
          readSized(reinterpret_cast<const tw_encode_request *>(at), sizeof(tw_encode_request), "tw_encode_request");
      const std::string name = "request " + std::to_string(i);
      if (given.size != stride)
        throw Error(TW_INVALID,
                    name + ": size " + std::to_string(given.size) + ", request 0 has " + std::to_string(stride));
      if (!given.session || !given.tokens || given.count < 1)
        throw Error(TW_INVALID, name + ": wanted a session and at least one token");
      inputs.push_back(readInputs(*model->model, given, name));
      sources.push_back(
          {given.session->session.get(), {given.tokens, static_cast<size_t>(given.count)}, {}, nullptr, {}, {}, {}});
    }
    for (size_t i = 0; i < sources.size(); ++i)
      sources[i].inputs = inputs[i];
    model->model->encode(sources);
  });
}

tw_status tw_tokenize(const tw_model *model, const char *text, size_t length, int32_t parse_special, int32_t *ids,
                      int64_t capacity, int64_t *count) {
  return guarded([&] {
    const Tokenizer &tokenizer = tokenizerOf(model);
    need(text || length == 0, "text is NULL");
    need(count, "count is NULL");
    need(capacity >= 0 && (ids || capacity == 0), "ids is NULL or capacity is negative");
    EncodeOptions options;
    options.parseSpecial = options.addBegin = parse_special != 0;
    options.addEnd = parse_special != 0 && model->model->kind() != TW_MODEL_DECODER;
    const std::vector<int32_t> result = tokenizer.encode({text ? text : "", length}, options);
    fill(result.data(), result.size(), ids, static_cast<size_t>(capacity), count, "token ids");
  });
}

tw_status tw_detokenize(const tw_model *model, const int32_t *ids, int64_t count, char *text, size_t capacity,
                        size_t *length) {
  return guarded([&] {
    const Tokenizer &tokenizer = tokenizerOf(model);
    need(count >= 0 && (ids || count == 0), "ids is NULL or count is negative");
    need(length, "length is NULL");
    need(text || capacity == 0, "text is NULL");
    const std::string result = tokenizer.decode({ids, static_cast<size_t>(count)});
    fill(result.data(), result.size(), text, capacity, length, "bytes");
  });
}

tw_status tw_token_text(const tw_model *model, int32_t id, char *text, size_t capacity, size_t *length) {
  return guarded([&] {
    const std::string &result = tokenizerOf(model).tokenText(id);
    need(length, "length is NULL");
    need(text || capacity == 0, "text is NULL");
    fill(result.data(), result.size(), text, capacity, length, "bytes");
  });
}

} // extern "C"

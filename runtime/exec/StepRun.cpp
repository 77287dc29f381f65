// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/StepRun.h"

#include "runtime/api/Error.h"
#include "runtime/exec/Phases.h"

#include <algorithm>
#include <cstring>

namespace tilewright {
namespace {

uint64_t pagesOf(int64_t tokens) { return static_cast<uint64_t>(roundUp(tokens, TW_PAGE_TOKENS) / TW_PAGE_TOKENS); }

std::string requestName(size_t index) { return "request " + std::to_string(index); }

/// Bounds in `wanted` of the rows that lie in a part: [first, last).
std::pair<size_t, size_t> wantedRange(std::span<const int64_t> wanted, const RequestPart &part) {
  const auto first = std::lower_bound(wanted.begin(), wanted.end(), part.first);
  const auto last = std::lower_bound(first, wanted.end(), part.first + part.count);
  return {static_cast<size_t>(first - wanted.begin()), static_cast<size_t>(last - wanted.begin())};
}

} // namespace

StepRun::StepRun(Model &model, std::span<const StepRequest> requests, StepEntry entry)
    : model(model), requests(requests.begin(), requests.end()), entry(entry), again(requests.size()),
      sources(requests.size(), TokenPages(*model.sourcePages)) {
  for (size_t i = 0; i < requests.size(); ++i)
    check(i);
  before.reserve(requests.size());
  cancels.reserve(requests.size());
  try {
    for (size_t i = 0; i < requests.size(); ++i) {
      Session &session = *requests[i].session;
      if (session.busy.exchange(true, std::memory_order_acquire))
        throw Error(TW_INVALID, requestName(i) + ": its session is in use, by another thread or by an earlier request "
                                                 "of this step");
      ++taken;
      before.push_back(entry == StepEntry::Encode ? 0 : session.length());
      cancels.push_back(&session.cancelled);
      checkSession(i);
    }
  } catch (...) {
    for (size_t i = 0; i < taken; ++i)
      requests[i].session->busy.store(false, std::memory_order_release);
    throw;
  }
}

StepRun::~StepRun() {
  for (size_t i = 0; i < requests.size(); ++i) {
    Session &session = *requests[i].session;
    if (!done && !again[i].pages.empty())
      session.pages.swap(again[i].pages);
    if (!done && entry == StepEntry::Step)
      session.dropBehind(session.length());
    session.busy.store(false, std::memory_order_release);
  }
}

void StepRun::checkSession(size_t index) const {
  const Session &session = *requests[index].session;
  if (entry == StepEntry::Step && model.kind() == TW_MODEL_ENCODER && before[index] > 0)
    throw Error(TW_INVALID, requestName(index) + ": the session holds " + std::to_string(before[index]) +
                                " tokens, but the model reads whole sequences, each in one step; truncate it to 0");
  if (entry == StepEntry::Step && model.kind() == TW_MODEL_ENCODER_DECODER && session.sourceLength() == 0)
    throw Error(TW_INVALID, requestName(index) + ": the session has no source, which the model reads by encode before "
                                                 "its steps");
  const auto more = static_cast<int64_t>(requests[index].tokens.size());
  if (more > model.context() - before[index])
    throw Error(TW_CONTEXT_FULL, requestName(index) + ": the session holds " + std::to_string(before[index]) +
                                     " tokens of a context of " + std::to_string(model.context()) + ", " +
                                     std::to_string(more) + " more do not fit");
}

void StepRun::check(size_t index) const {
  const StepRequest &request = requests[index];
  if (!request.session)
    throw Error(TW_INVALID, requestName(index) + ": no session");
  if (request.session->owner().get() != &model)
    throw Error(TW_INVALID, requestName(index) + ": its session belongs to another model");
  if (request.tokens.empty())
    throw Error(TW_INVALID, requestName(index) + ": no tokens, wanted at least one");
  for (size_t i = 0; i < request.tokens.size(); ++i)
    if (request.tokens[i] < 0 || request.tokens[i] >= model.vocabSize())
      throw Error(TW_INVALID, requestName(index) + ": token " + std::to_string(i) + " is " +
                                  std::to_string(request.tokens[i]) + ", wanted 0 to " +
                                  std::to_string(model.vocabSize() - 1));
  if (!request.positions.empty() && request.positions.size() != request.tokens.size())
    throw Error(TW_INVALID, requestName(index) + ": " + std::to_string(request.positions.size()) + " positions for " +
                                std::to_string(request.tokens.size()) + " tokens");
  const int64_t lastPosition = static_cast<int64_t>(model.loaded().manifest()->context_length()) - 1;
  for (size_t i = 0; i < request.positions.size(); ++i)
    if (request.positions[i] < 0 || request.positions[i] > lastPosition)
      throw Error(TW_INVALID, requestName(index) + ": position " + std::to_string(i) + " is " +
                                  std::to_string(request.positions[i]) + ", wanted 0 to " +
                                  std::to_string(lastPosition));
  int64_t previous = -1;
  for (int64_t row : request.wanted) {
    if (row <= previous || row >= static_cast<int64_t>(request.tokens.size()))
      throw Error(TW_INVALID, requestName(index) + ": wanted row " + std::to_string(row) + " after row " +
                                  std::to_string(previous) + ", wanted ascending rows below " +
                                  std::to_string(request.tokens.size()));
    previous = row;
  }
  if (!request.outputs.empty() && request.outputs.size() != model.outputs().size())
    throw Error(TW_INVALID, requestName(index) + ": buffers for " + std::to_string(request.outputs.size()) +
                                " outputs, the model has " + std::to_string(model.outputs().size()));
  if (!request.wanted.empty() && !request.logits && model.hasLogits())
    throw Error(TW_INVALID, requestName(index) + ": no buffer for the logits of " +
                                std::to_string(request.wanted.size()) + " rows");
  if (request.logits && !model.hasLogits())
    throw Error(TW_INVALID, requestName(index) + ": a buffer for logits, but the model gives outputs alone");
  checkInputs(index);
}

int32_t StepRun::lengthOf(size_t index) const {
  const StepRequest &request = requests[index];
  return tilewright::lengthOf(before[index], static_cast<int64_t>(request.tokens.size()), request.positions);
}

void StepRun::readAgain(size_t index) {
  StepRequest &request = requests[index];
  Session &session = *request.session;
  session.remember(request, before[index]);
  if (before[index] == 0 || (lengthOf(index) > model.rereadLength()) == session.isLong)
    return;
  Again &all = again[index];
  all.pages = session.noPages();
  session.pages.swap(all.pages);
  for (int64_t row : request.wanted)
    all.wanted.push_back(before[index] + row);
  for (size_t i = 2; i < session.history.size(); ++i)
    all.inputs.push_back(session.history[i].data());
  request.tokens = session.history[0];
  request.positions = session.history[1];
  request.wanted = all.wanted;
  request.inputs = all.inputs;
  before[index] = 0;
}

void StepRun::checkInputs(size_t index) const {
  const StepRequest &request = requests[index];
  if (!request.inputs.empty() && request.inputs.size() != model.inputs().size())
    throw Error(TW_INVALID, requestName(index) + ": " + std::to_string(request.inputs.size()) +
                                " inputs, the model has " + std::to_string(model.inputs().size()));
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (!request.inputs[i])
      continue;
    const ModelInput &input = model.inputs()[i];
    for (size_t row = 0; row < request.tokens.size(); ++row)
      if (request.inputs[i][row] < 0 || request.inputs[i][row] >= input.limit)
        throw Error(TW_INVALID, requestName(index) + ": " + input.name + " " + std::to_string(row) + " is " +
                                    std::to_string(request.inputs[i][row]) + ", wanted 0 to " +
                                    std::to_string(input.limit - 1));
  }
}

std::span<const int64_t> StepRun::wantedIn(const RequestPart &part, std::vector<int64_t> &relative) const {
  const std::span<const int64_t> wanted = requests[part.request].wanted;
  const auto [first, last] = wantedRange(wanted, part);
  relative.clear();
  for (size_t i = first; i < last; ++i)
    relative.push_back(wanted[i] - part.first);
  return relative;
}

void StepRun::plan() {
  std::vector<int64_t> rows;
  for (const StepRequest &request : requests)
    rows.push_back(static_cast<int64_t>(request.tokens.size()));
  const auto variants = model.loaded().variants(entry);
  for (std::vector<RequestPart> &parts :
       isWhole() ? packRequests(rows, model.maxRows) : cutRequests(rows, model.maxRows)) {
    int64_t rowCount = 0, logitRows = 0;
    for (const RequestPart &part : parts) {
      rowCount += part.count;
      const auto [first, last] = wantedRange(requests[part.request].wanted, part);
      logitRows += static_cast<int64_t>(last - first);
    }
    const size_t variant = chooseVariant(variants, rowCount);
    const artifact::StepVariant &step = *variants[variant];
    const int64_t paddedLogits = roundUp(logitRows, step.logit_row_multiple());
    const uint64_t arena = linearSize(*step.arena(), roundUp(rowCount, step.row_multiple()), paddedLogits);
    // One request whose rows need no padding: compiled code writes where the caller wants the results.
    Batch batch{std::move(parts), variant, (arena + 63) / 64 * 64, false, 0, {}};
    batch.direct = batch.parts.size() == 1 && paddedLogits == logitRows;
    batch.scratchAt.resize(resultCount());
    for (size_t result = 0; result < resultCount() && logitRows > 0; ++result) {
      const bool wanted = std::any_of(batch.parts.begin(), batch.parts.end(), [&](const RequestPart &part) {
        return bufferOf(requests[part.request], result);
      });
      if (!wanted)
        continue;
      batch.scratchAt[result] = batch.scratchBytes;
      if (!batch.direct)
        batch.scratchBytes += (static_cast<uint64_t>(paddedLogits) * rowSize(result) * sizeof(float) + 63) / 64 * 64;
    }
    batches.push_back(std::move(batch));
  }
}

size_t StepRun::rowSize(size_t result) const {
  return static_cast<size_t>(result == 0 ? model.vocabSize() : model.outputs()[result - 1].rowSize);
}

float *StepRun::bufferOf(const StepRequest &request, size_t result) {
  if (result == 0)
    return request.logits;
  return request.outputs.empty() ? nullptr : request.outputs[result - 1];
}

void StepRun::reservePages() {
  for (size_t i = 0; i < requests.size(); ++i) {
    Session &session = *requests[i].session;
    const int64_t end = before[i] + static_cast<int64_t>(requests[i].tokens.size());
    if (entry == StepEntry::Encode)
      sources[i].grow(0, end);
    else if (!isWhole())
      session.pages.front().grow(before[i], end);
  }
}

void StepRun::giveUpBehind(const RequestPart &part) noexcept {
  const StepRequest &request = requests[part.request];
  const int64_t held = before[part.request];
  const int64_t end = held + static_cast<int64_t>(request.tokens.size());
  Session &session = *request.session;
  // A step that fails goes back to the tokens that the session had.
  session.giveUp(held, std::min(held + part.first + part.count, end - session.keptBack));
}

SequenceRows StepRun::sequenceOf(const RequestPart &part, std::span<const int64_t> wanted,
                                 std::span<const int32_t> transientPages) const {
  const StepRequest &request = requests[part.request];
  const auto rowsOf = [&](std::span<const int32_t> all) {
    return all.empty() ? all : all.subspan(static_cast<size_t>(part.first), static_cast<size_t>(part.count));
  };
  const Session &session = *request.session;
  SequenceRows rows{rowsOf(request.tokens), before[part.request] + part.first,
                    isWhole() ? transientPages : session.pages.front().table(), wanted, rowsOf(request.positions)};
  rows.length = lengthOf(part.request);
  if (entry == StepEntry::Encode) {
    rows.sourceLength = part.count;
    rows.sourcePages = sources[part.request].table();
    rows.fillsSource = true;
  } else {
    rows.sourceLength = session.sourceLength();
    rows.sourcePages = session.source.table();
  }
  return rows;
}

void StepRun::commit() {
  for (size_t i = 0; i < requests.size(); ++i) {
    Session &session = *requests[i].session;
    const auto count = static_cast<int64_t>(requests[i].tokens.size());
    if (entry == StepEntry::Encode) {
      session.tokens.store(0, std::memory_order_release);
      session.dropBehind(0);
      std::swap(session.source, sources[i]); // the older source goes with this run
      session.sourceTokens.store(count, std::memory_order_release);
    } else {
      session.isLong = lengthOf(i) > model.rereadLength();
      session.tokens.store(before[i] + count, std::memory_order_release);
      session.giveUp(0, before[i] + count - session.keptBack);
    }
  }
  done = true;
}

void StepRun::throwIfCancelled() {
  bool any = false;
  for (std::atomic<bool> *cancel : cancels)
    any |= cancel->load(std::memory_order_acquire);
  if (!any)
    return;
  for (std::atomic<bool> *cancel : cancels)
    cancel->store(false, std::memory_order_release);
  throw Error(TW_CANCELLED, "the step was cancelled");
}

void StepRun::run() {
  const TraceSpan span(model.trace(), "step", "sequences", static_cast<int64_t>(requests.size()));
  throwIfCancelled();
  if (entry == StepEntry::Step && !isWhole() && model.rereadLength() > 0)
    for (size_t i = 0; i < requests.size(); ++i)
      readAgain(i);
  plan();
  reservePages();
  uint64_t bytes = 0;
  for (const Batch &batch : batches)
    bytes = std::max(bytes, batch.arenaBytes + batch.scratchBytes);
  const ArenaPool::Lease arena = model.arenas->acquire(bytes);
  model.executor->run(
      cancels,
      [&](Phases &phases) {
        for (const Batch &batch : batches)
          runBatch(batch, phases, arena.get());
      },
      model.trace());
  commit();
}

namespace {

/// Pages for the rows of whole sequences, while their step runs.
class TransientPages {
public:
  TransientPages(PagePool &pool, std::span<const RequestPart> parts) : pool(pool), tables(parts.size()) {
    uint64_t count = 0;
    for (const RequestPart &part : parts)
      count += pagesOf(part.count);
    pool.allocate(count, all);
    auto *next = all.data();
    for (size_t i = 0; i < parts.size(); ++i) {
      tables[i] = {next, static_cast<size_t>(pagesOf(parts[i].count))};
      next += tables[i].size();
    }
  }
  ~TransientPages() { pool.release(all); }
  TransientPages(const TransientPages &) = delete;
  TransientPages &operator=(const TransientPages &) = delete;

  std::span<const int32_t> of(size_t part) const { return tables[part]; }

private:
  PagePool &pool;
  std::vector<int32_t> all;
  std::vector<std::span<const int32_t>> tables;
};

} // namespace

void StepRun::runBatch(const Batch &batch, Phases &phases, uint8_t *arena) {
  const artifact::StepVariant &variant = *model.loaded().variants(entry)[batch.variant];
  std::optional<TransientPages> transient;
  if (isWhole())
    transient.emplace(*model.transientPages, batch.parts);
  std::vector<SequenceRows> sequences;
  std::vector<std::vector<int64_t>> wanted(batch.parts.size());
  std::vector<std::vector<const int32_t *>> inputs(batch.parts.size());
  std::vector<std::vector<std::span<const int32_t>>> windowPages(batch.parts.size());
  for (size_t i = 0; i < batch.parts.size(); ++i) {
    const RequestPart &part = batch.parts[i];
    sequences.push_back(
        sequenceOf(part, wantedIn(part, wanted[i]), transient ? transient->of(i) : std::span<const int32_t>()));
    for (const int32_t *input : requests[part.request].inputs)
      inputs[i].push_back(input ? input + part.first : nullptr);
    sequences.back().inputs = inputs[i];
    if (entry == StepEntry::Encode)
      continue;
    Session &session = *requests[part.request].session;
    session.growWindows(before[part.request] + part.first, before[part.request] + part.first + part.count);
    for (const TokenPages &pages : std::span(session.pages).subspan(1))
      windowPages[i].push_back(pages.table());
    sequences.back().windowPages = windowPages[i];
  }
  const size_t windows = entry == StepEntry::Encode ? 0 : model.windows().size() - 1;
  const StepTables tables(sequences, formOf(variant), model.inputs().size(), windows);
  uint8_t *scratch = arena + batch.arenaBytes;
  std::vector<float *> results(resultCount());
  for (size_t result = 0; result < results.size(); ++result) {
    if (!batch.scratchAt[result])
      continue;
    if (!batch.direct) {
      results[result] = reinterpret_cast<float *>(scratch + *batch.scratchAt[result]);
      continue;
    }
    const RequestPart &part = batch.parts.front();
    const StepRequest &request = requests[part.request];
    results[result] = bufferOf(request, result) + wantedRange(request.wanted, part).first * rowSize(result);
  }

  tw_abi_step step{};
  tables.describe(step);
  step.phase = &Phases::phase;
  step.context = &phases;
  step.weights = model.loaded().weights();
  step.states = model.stateBuffers.data();
  step.arena = arena;
  step.logits = results[0];
  step.outputs = results.data() + 1;
  const int32_t result = [&] {
    const TraceSpan span(model.trace(), variant.symbol()->c_str(), "rows", tables.rows());
    return model.loaded().entry(batch.variant, entry)(&step);
  }();
  if (phases.status() == TW_CANCELLED) {
    throwIfCancelled();
    throw Error(TW_CANCELLED, "the step was cancelled");
  }
  if (phases.status() != 0)
    throw Error(TW_INTERNAL, "compiled step '" + variant.symbol()->str() + "': " + phases.message());
  if (result != 0)
    throw Error(TW_INTERNAL, "compiled step '" + variant.symbol()->str() + "' failed with " + std::to_string(result));
  if (!batch.direct)
    copyResults(batch, scratch);
  if (entry == StepEntry::Step)
    for (const RequestPart &part : batch.parts)
      giveUpBehind(part);
}

void StepRun::copyResults(const Batch &batch, const uint8_t *scratch) const {
  for (size_t result = 0; result < resultCount(); ++result) {
    if (!batch.scratchAt[result])
      continue;
    const size_t row = rowSize(result);
    const float *from = reinterpret_cast<const float *>(scratch + *batch.scratchAt[result]);
    for (const RequestPart &part : batch.parts) {
      const StepRequest &request = requests[part.request];
      const auto [first, last] = wantedRange(request.wanted, part);
      if (float *to = bufferOf(request, result); to && first != last)
        std::memcpy(to + first * row, from, (last - first) * row * sizeof(float));
      from += (last - first) * row;
    }
  }
}

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/StepRun.h"

#include "runtime/api/Error.h"
#include "runtime/exec/Phases.h"

#include <algorithm>
#include <cstring>

namespace tilewright {
namespace {

std::string requestName(size_t index) { return "request " + std::to_string(index); }

/// Bounds in `wanted` of the rows that lie in a part: [first, last).
std::pair<size_t, size_t> wantedRange(std::span<const int64_t> wanted, const RequestPart &part) {
  const auto first = std::lower_bound(wanted.begin(), wanted.end(), part.first);
  const auto last = std::lower_bound(first, wanted.end(), part.first + part.count);
  return {static_cast<size_t>(first - wanted.begin()), static_cast<size_t>(last - wanted.begin())};
}

} // namespace

StepRun::StepRun(Model &model, std::span<const StepRequest> requests) : model(model), requests(requests) {
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
      before.push_back(session.length());
      cancels.push_back(&session.cancelled);
      const int64_t more = static_cast<int64_t>(requests[i].tokens.size());
      if (more > model.context() - before[i])
        throw Error(TW_CONTEXT_FULL, requestName(i) + ": the session holds " + std::to_string(before[i]) +
                                         " tokens of a context of " + std::to_string(model.context()) + ", " +
                                         std::to_string(more) + " more do not fit");
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
    if (!done)
      session.dropBehind(before[i]);
    session.busy.store(false, std::memory_order_release);
  }
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
  if (!request.wanted.empty() && !request.logits)
    throw Error(TW_INVALID, requestName(index) + ": no buffer for the logits of " +
                                std::to_string(request.wanted.size()) + " rows");
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
  const auto variants = model.loaded().variants();
  for (std::vector<RequestPart> &parts : cutRequests(rows, model.maxRows)) {
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
    const auto wanted = static_cast<uint64_t>(roundUp(end, TW_PAGE_TOKENS) / TW_PAGE_TOKENS);
    model.pages->allocate(wanted - session.pageTable.size(), session.pageTable);
  }
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
  for (size_t i = 0; i < requests.size(); ++i)
    requests[i].session->tokens.store(before[i] + static_cast<int64_t>(requests[i].tokens.size()),
                                      std::memory_order_release);
  done = true;
}

void StepRun::runBatch(const Batch &batch, Phases &phases, uint8_t *arena) {
  const artifact::StepVariant &variant = *model.loaded().variants()[batch.variant];
  std::vector<SequenceRows> sequences;
  std::vector<std::vector<int64_t>> wanted(batch.parts.size());
  for (size_t i = 0; i < batch.parts.size(); ++i) {
    const RequestPart &part = batch.parts[i];
    const StepRequest &request = requests[part.request];
    const auto rowsOf = [&](std::span<const int32_t> all) {
      return all.empty() ? all : all.subspan(static_cast<size_t>(part.first), static_cast<size_t>(part.count));
    };
    sequences.push_back({rowsOf(request.tokens), before[part.request] + part.first, request.session->pageTable,
                         wantedIn(part, wanted[i]), rowsOf(request.positions)});
  }
  const StepTables tables(sequences, formOf(variant));
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
  step.states = model.pages->buffers();
  step.arena = arena;
  step.logits = results[0];
  step.outputs = results.data() + 1;
  const int32_t result = [&] {
    const TraceSpan span(model.trace(), variant.symbol()->c_str(), "rows", tables.rows());
    return model.loaded().entry(batch.variant)(&step);
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

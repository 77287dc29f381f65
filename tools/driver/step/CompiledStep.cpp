// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/step/CompiledStep.h"

#include "runtime/api/Error.h"
#include "runtime/exec/StepPlan.h"
#include "runtime/module/Artifact.h"

#include <numeric>

namespace tilewright {

struct CompiledStep::Loaded {
  std::unique_ptr<Artifact> artifact;
};

float &StatePool::at(int64_t token, int64_t h, int64_t d) {
  const int64_t page = token / TW_PAGE_TOKENS, slot = token % TW_PAGE_TOKENS;
  const int64_t inHead = transposed ? d * TW_PAGE_TOKENS + slot : slot * dim + d;
  return values[static_cast<size_t>((page * heads + h) * dim * TW_PAGE_TOKENS + inHead)];
}

CompiledStep::CompiledStep() : loaded(std::make_unique<Loaded>()) {}
CompiledStep::~CompiledStep() = default;

std::unique_ptr<CompiledStep> CompiledStep::open(const std::string &folder, int64_t tokens, std::string &error) {
  try {
    std::unique_ptr<CompiledStep> step(new CompiledStep());
    step->loaded->artifact = Artifact::load(folder, {.kvElement = "f32"});
    const Artifact &artifact = *step->loaded->artifact;
    const Manifest &manifest = artifact.manifest();
    step->levelName = artifact.level().name()->str();
    step->mode = manifest->numerics()->str();
    step->vocabulary = static_cast<int64_t>(manifest->vocab_size());
    step->room = roundUp(tokens, TW_PAGE_TOKENS);
    if (artifact.level().kernels())
      for (const auto *kernel : *artifact.level().kernels())
        if (!kernel->kv_element() || kernel->kv_element()->size() == 0)
          step->kernelList.push_back({kernel->name()->str(), kernel->variant() ? kernel->variant()->str() : ""});
    if (manifest->states())
      for (const auto *state : *manifest->states())
        for (const auto *buffer : *state->buffers()) {
          step->isWhole |= state->group() && state->group()->str() == "transient";
          StatePool pool{buffer->heads(), buffer->dim(), buffer->transposed(), {}};
          pool.values.resize(static_cast<size_t>(step->room * pool.heads * pool.dim));
          step->poolList.push_back(std::move(pool));
        }
    step->isWhole &= artifact.variants(StepEntry::Encode).empty();
    if (manifest->no_logits())
      step->vocabulary = 0;
    return step;
  } catch (const std::exception &failure) {
    error = failure.what();
    return nullptr;
  }
}

void CompiledStep::reset() {
  held = source = 0;
  for (StatePool &pool : poolList)
    std::fill(pool.values.begin(), pool.values.end(), 0.0f);
}

size_t CompiledStep::variantFor(int64_t rows) const { return chooseVariant(loaded->artifact->variants(), rows); }

namespace {

/// What a step's context is.
struct PhaseContext {
  const CompiledStep::Phase &phase;
};

int32_t runPhase(tw_abi_step *step, const tw_abi_work *works, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (int32_t status = static_cast<PhaseContext *>(step->context)->phase(works[i]))
      return status;
  return 0;
}

} // namespace

bool CompiledStep::run(bool encodes, std::span<const int32_t> tokens, const Phase &phase, std::vector<float> &logits,
                       std::string &error) {
  try {
    const Artifact &artifact = *loaded->artifact;
    const auto count = static_cast<int64_t>(tokens.size());
    const StepEntry entry = encodes ? StepEntry::Encode : StepEntry::Step;
    if (encodes || isWhole)
      held = 0;
    if (count == 0 || held + count > room) {
      error = "a step of " + std::to_string(count) + " tokens behind " + std::to_string(held) + ", there is room for " +
              std::to_string(room);
      return false;
    }
    std::vector<int32_t> pages(static_cast<size_t>(room / TW_PAGE_TOKENS));
    std::iota(pages.begin(), pages.end(), 0);
    std::vector<int64_t> wanted(tokens.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    SequenceRows rows[] = {{tokens, held, pages, {}}};
    if (!encodes)
      rows[0].wanted = wanted;
    rows[0].sourceLength = encodes ? count : source;
    rows[0].sourcePages = pages;
    rows[0].fillsSource = encodes;
    rows[0].length = lengthOf(held, count);
    const std::vector<std::span<const int32_t>> windows(stateWindows(*artifact.manifest()).size(), pages); // all kept
    rows[0].windowPages = windows;
    const size_t which = variantFor(count);
    const artifact::StepVariant &variant = *artifact.variants(entry)[which];
    const auto *inputs = artifact.manifest()->inputs();
    const StepTables tables(rows, formOf(variant), inputs ? inputs->size() : 0, windows.size());

    const uint64_t bytes = linearSize(*variant.arena(), tables.paddedRows(), tables.paddedLogitRows());
    std::vector<uint8_t> arena(bytes + 64);
    std::vector<float> padded(static_cast<size_t>(tables.paddedLogitRows() * vocabulary));
    std::vector<std::vector<float>> outputs; // all of them, so that all dispatches run
    std::vector<float *> outputPointers;
    for (const auto *output : manifestOutputs(*artifact.manifest()))
      outputPointers.push_back(
          outputs.emplace_back(static_cast<size_t>(tables.paddedLogitRows() * outputRowSize(*output))).data());
    std::vector<void *> states;
    for (StatePool &pool : poolList)
      states.push_back(pool.values.data());

    PhaseContext context{phase};
    tw_abi_step step{};
    tables.describe(step);
    step.phase = &runPhase;
    step.context = &context;
    step.weights = artifact.weights();
    step.states = states.data();
    step.arena = arena.data() + (64 - reinterpret_cast<uintptr_t>(arena.data()) % 64) % 64;
    step.logits = padded.data();
    step.outputs = outputPointers.data();
    if (int32_t status = artifact.entry(which, entry)(&step)) {
      error = "compiled step '" + variant.symbol()->str() + "' ended with " + std::to_string(status);
      return false;
    }
    padded.resize(encodes ? 0 : static_cast<size_t>(count * vocabulary));
    logits = std::move(padded);
    (encodes ? source : held) = encodes ? count : held + count;
    return true;
  } catch (const std::exception &failure) {
    error = failure.what();
    return false;
  }
}

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/Manifest.h"

#include "runtime/api/Error.h"
#include "runtime/api/abi.h"
#include "runtime/api/weights_file.h"
#include "runtime/module/Checked.h"
#include "runtime/module/Packer.h"
#include "runtime/module/WeightsWriter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace tilewright {
namespace {

constexpr uint64_t kMaxManifestBytes = 1u << 30; // below the 2 GiB that the FlatBuffers verifier asserts
constexpr int kMaxDepth = 16;
constexpr uint64_t kMaxPageBytes = 1u << 30;
constexpr uint32_t kMaxMultiple = 65536;

template <typename Vector> size_t sizeOf(const Vector *vector) { return vector ? vector->size() : 0; }

std::string quoted(const flatbuffers::String *text) { return "'" + text->str() + "'"; }

/// Everything the schema cannot say. Each failure names the place, what stands there and what was wanted.
class MeaningCheck {
public:
  MeaningCheck(const artifact::Manifest &manifest, const std::string &path) : m(manifest), path(path) {}

  void run() {
    checkHead();
    checkWeights();
    checkStates();
    checkOutputs();
    checkInputs();
    checkLevels();
    if (m.tokenizer())
      checkTokenizer(*m.tokenizer());
  }

private:
  [[noreturn]] void fail(const std::string &what, tw_status_code code = TW_CORRUPT) const {
    throw Error(code, path + ": manifest: " + what);
  }

  /// Runs a check that reports Error(INVALID) for values of a caller; here they come from the file.
  template <typename Body> void inFile(const std::string &place, Body &&body) const {
    try {
      body();
    } catch (const Error &error) {
      fail(place + ": " + error.message());
    }
  }

  void checkHead() const {
    if (m.format_version() == 0)
      fail("format version 0");
    if (m.format_version() > kManifestVersion)
      fail("format version " + std::to_string(m.format_version()) + ", this runtime reads up to " +
               std::to_string(kManifestVersion) + ": compile the model again or take a newer runtime",
           TW_INCOMPATIBLE);
    const std::string numerics = m.numerics()->str();
    if (numerics != "precise" && numerics != "fast")
      fail("numerics '" + numerics + "', wanted 'precise' or 'fast'");
    checkKvElement("", m.kv_element()->str());
    if (m.page_tokens() != TW_PAGE_TOKENS)
      fail("pages of " + std::to_string(m.page_tokens()) + " tokens, this runtime keeps pages of " +
               std::to_string(TW_PAGE_TOKENS),
           TW_INCOMPATIBLE);
    if (m.context_length() == 0 || m.context_length() > INT32_MAX / 2)
      fail("context_length " + std::to_string(m.context_length()));
    if (m.vocab_size() == 0 || m.vocab_size() > INT32_MAX / 2)
      fail("vocab_size " + std::to_string(m.vocab_size()));
    const std::string file = m.weights_file()->str();
    if (file.empty() || file == "." || file == ".." || file.find('/') != std::string::npos ||
        file.find('\0') != std::string::npos)
      fail("weights_file '" + file + "', wanted the name of a file in the artifact's folder");
  }

  void checkKvElement(const std::string &place, const std::string &element) const {
    if (element != "f32" && element != "bf16")
      fail(place + "kv_element '" + element + "', wanted 'f32' or 'bf16'");
  }

  void checkWeights() const {
    std::vector<LayoutDescriptor> layouts;
    for (size_t i = 0; i < sizeOf(m.layouts()); ++i) {
      const auto *layout = m.layouts()->Get(static_cast<uint32_t>(i));
      inFile("layouts[" + std::to_string(i) + "]", [&] {
        layouts.push_back(layoutFromManifest(*layout));
        validateLayout(layouts.back());
      });
    }
    if (m.weights_file_length() < sizeof(tw_weights_header))
      fail("weights_file_length " + std::to_string(m.weights_file_length()) + ", the file's header alone has " +
           std::to_string(sizeof(tw_weights_header)));
    std::vector<uint64_t> hashes;
    std::set<std::string> names;
    for (size_t i = 0; i < sizeOf(m.weights()); ++i) {
      const auto *weight = m.weights()->Get(static_cast<uint32_t>(i));
      const std::string place = "weights[" + std::to_string(i) + "] " + quoted(weight->name());
      if (!names.insert(weight->name()->str()).second)
        fail(place + ": a second weight of this name");
      if (weight->layout() >= layouts.size())
        fail(place + ": layout " + std::to_string(weight->layout()) + " of " + std::to_string(layouts.size()));
      uint64_t wanted = 0;
      inFile(place, [&] {
        const auto [rows, columns] = weightShape(*weight);
        wanted = packedWeightBytes(layouts[weight->layout()], rows, columns);
      });
      if (weight->length() != wanted)
        fail(place + ": length " + std::to_string(weight->length()) + ", its shape and layout make " +
             std::to_string(wanted));
      if (weight->offset() % TW_WEIGHTS_ALIGNMENT || weight->offset() < sizeof(tw_weights_header))
        fail(place + ": offset " + std::to_string(weight->offset()) + ", wanted a positive multiple of " +
             std::to_string(TW_WEIGHTS_ALIGNMENT));
      if (weight->offset() > m.weights_file_length() || weight->length() > m.weights_file_length() - weight->offset())
        fail(place + ": bytes [" + std::to_string(weight->offset()) + ", +" + std::to_string(weight->length()) +
             ") do not lie inside a weights file of " + std::to_string(m.weights_file_length()) + " bytes");
      hashes.push_back(weight->hash());
    }
    if (hashOfHashes(hashes) != m.weights_hash())
      fail("weights_hash does not fit the hashes of its " + std::to_string(hashes.size()) + " weights");
  }

  void checkStates() const {
    for (size_t i = 0; i < sizeOf(m.states()); ++i) {
      const auto *state = m.states()->Get(static_cast<uint32_t>(i));
      const std::string place = "states[" + std::to_string(i) + "] " + quoted(state->name());
      if (state->group() && state->group()->str() != "source" && state->group()->str() != "transient")
        fail(place + ": group " + quoted(state->group()) + ", wanted 'source' or 'transient'");
      if (state->window() && (state->group() || m.format_version() < 3))
        fail(place + ": a window of " + std::to_string(state->window()) + " tokens in format version " +
             std::to_string(m.format_version()) +
             ", wanted 3 or more, and a state whose tokens are those of a session");
      if (state->buffers()->size() == 0)
        fail(place + ": no buffers");
      for (const auto *buffer : *state->buffers()) {
        // 32-bit factors, so the first product cannot overflow.
        const uint64_t row = static_cast<uint64_t>(buffer->heads()) * buffer->dim();
        if (row == 0 || row > kMaxPageBytes / (TW_PAGE_TOKENS * sizeof(float)))
          fail(place + ": " + std::to_string(buffer->heads()) + " heads of " + std::to_string(buffer->dim()) +
               " values make a page of 0 or more than " + std::to_string(kMaxPageBytes) + " bytes");
      }
    }
  }

  void checkOutputs() const {
    const size_t count = sizeOf(m.outputs());
    // Compiled code reads a longer struct for them.
    if (count && m.format_version() < 2)
      fail("outputs in format version " + std::to_string(m.format_version()) + ", wanted 2 or more");
    if (count > TW_ABI_MOST_OUTPUTS)
      fail(std::to_string(count) + " outputs, wanted at most " + std::to_string(TW_ABI_MOST_OUTPUTS));
    std::set<std::string> names = {"", "logits"};
    for (const auto *output : manifestOutputs(m)) {
      const std::string place = "output " + quoted(output->name());
      if (!names.insert(output->name()->str()).second)
        fail(place + ": not a name of its own");
      uint64_t numbers = 1;
      for (uint32_t i = 0; i < sizeOf(output->shape()); ++i) {
        numbers *= output->shape()->Get(i); // both below 2^32
        if (numbers == 0 || numbers > INT32_MAX / 2)
          fail(place + ": a row of 0 or more than " + std::to_string(INT32_MAX / 2) + " numbers");
      }
    }
  }

  void checkInputs() const {
    bool isNew = sizeOf(m.inputs()) || m.no_logits() || m.generation();
    for (size_t i = 0; i < sizeOf(m.states()); ++i)
      isNew |= m.states()->Get(static_cast<uint32_t>(i))->group() != nullptr;
    if (isNew && m.format_version() < 2)
      fail("inputs, groups of states, a step without logits or rules of generation in format version " +
           std::to_string(m.format_version()) + ", wanted 2 or more");
    std::set<std::string> names = {""};
    for (size_t i = 0; i < sizeOf(m.inputs()); ++i) {
      const auto *input = m.inputs()->Get(static_cast<uint32_t>(i));
      const std::string place = "input " + quoted(input->name());
      if (!names.insert(input->name()->str()).second)
        fail(place + ": not a name of its own");
      if (input->limit() == 0 || input->limit() > INT32_MAX)
        fail(place + ": limit " + std::to_string(input->limit()));
      if (input->entries() == 0 || input->entries() > 3)
        fail(place + ": entries " + std::to_string(input->entries()) + ", wanted 1 to 3");
    }
    if (m.no_logits() && sizeOf(m.outputs()) == 0)
      fail("a step without logits and outputs");
    if (const auto *g = m.generation()) {
      std::vector<int64_t> ids = {g->decoder_start_id(), g->forced_bos_id(), g->forced_eos_id()};
      if (g->bad_ids())
        ids.insert(ids.end(), g->bad_ids()->begin(), g->bad_ids()->end());
      for (int64_t id : ids)
        if (id < -1 || id >= static_cast<int64_t>(m.vocab_size()))
          fail("generation: id " + std::to_string(id) + " of " + std::to_string(m.vocab_size()) + " tokens");
    }
  }

  void checkLevels() const {
    if (m.levels()->size() == 0)
      fail("no levels");
    std::set<std::string> names;
    for (const auto *level : *m.levels()) {
      const std::string place = "level " + quoted(level->name());
      if (!names.insert(level->name()->str()).second)
        fail(place + " stands there twice");
      if (level->steps()->size() == 0)
        fail(place + ": no steps");
      std::map<std::string, std::map<std::string, std::vector<const artifact::StepVariant *>>> byElement; // of entries
      for (const auto *step : *level->steps()) {
        checkStep(place + ": step " + quoted(step->symbol()), *step);
        byElement[step->entry() ? step->entry()->str() : "step"]
                 [step->kv_element() ? step->kv_element()->str() : m.kv_element()->str()]
                     .push_back(step);
      }
      byElement["step"][m.kv_element()->str()]; // must be there
      if (readsSources())
        for (const auto &[element, steps] : byElement["step"])
          byElement["encode"][element];
      for (auto &[entry, elements] : byElement)
        for (auto &[element, steps] : elements)
          checkRows(place, entry, element, steps);
    }
  }

  bool readsSources() const {
    for (size_t i = 0; i < sizeOf(m.states()); ++i) {
      const auto *group = m.states()->Get(static_cast<uint32_t>(i))->group();
      if (group && group->str() == "source")
        return true;
    }
    return false;
  }

  /// Forms of one entry and K/V element serve every number of rows.
  void checkRows(const std::string &place, const std::string &entry, const std::string &element,
                 std::vector<const artifact::StepVariant *> &steps) const {
    uint64_t covered = 0; // rows 1..covered have a variant
    bool endless = false;
    std::sort(steps.begin(), steps.end(), [](auto *a, auto *b) { return a->min_rows() < b->min_rows(); });
    for (const auto *step : steps) {
      if (step->min_rows() > covered + 1)
        break;
      endless |= step->max_rows() == 0;
      covered = std::max<uint64_t>(covered, step->max_rows());
    }
    if (!endless)
      fail(place + ": no " + entry + " for " + std::to_string(covered + 1) + " rows with K/V caches of " + element);
  }

  void checkStep(const std::string &place, const artifact::StepVariant &step) const {
    if (step.kv_element())
      checkKvElement(place + ": ", step.kv_element()->str());
    if (step.entry() && step.entry()->str() != "step" && step.entry()->str() != "encode")
      fail(place + ": entry '" + step.entry()->str() + "', wanted 'step' or 'encode'");
    if (step.entry() && step.entry()->str() == "encode" && !readsSources())
      fail(place + ": encodes, but there is no state of group 'source'");
    if (step.max_rows() && step.max_rows() < step.min_rows())
      fail(place + ": from " + std::to_string(step.min_rows()) + " to " + std::to_string(step.max_rows()) + " rows");
    if (step.row_multiple() == 0 || step.row_multiple() > kMaxMultiple || step.query_tile() == 0 ||
        step.query_tile() > kMaxMultiple || step.logit_row_multiple() == 0 || step.logit_row_multiple() > kMaxMultiple)
      fail(place + ": row_multiple " + std::to_string(step.row_multiple()) + ", logit_row_multiple " +
           std::to_string(step.logit_row_multiple()) + ", query_tile " + std::to_string(step.query_tile()) +
           ", wanted 1 to " + std::to_string(kMaxMultiple));
  }

  void checkTokenizer(const artifact::Tokenizer &t) const {
    const size_t count = t.tokens()->size();
    if (count > m.vocab_size())
      fail("tokenizer: " + std::to_string(count) + " tokens, the model has " + std::to_string(m.vocab_size()));
    if (sizeOf(t.token_types()) && sizeOf(t.token_types()) != count)
      fail("tokenizer: " + std::to_string(count) + " tokens, " + std::to_string(sizeOf(t.token_types())) +
           " token types");
    if (sizeOf(t.scores()) && sizeOf(t.scores()) != count)
      fail("tokenizer: " + std::to_string(count) + " tokens, " + std::to_string(sizeOf(t.scores())) + " scores");
    auto checkId = [&](const char *name, int64_t id) {
      if (id < -1 || id >= static_cast<int64_t>(count))
        fail("tokenizer: " + std::string(name) + " " + std::to_string(id) + " of " + std::to_string(count) + " tokens");
    };
    checkId("bos_id", t.bos_id());
    checkId("eos_id", t.eos_id());
    checkId("unk_id", t.unk_id());
    checkId("pad_id", t.pad_id());
    for (size_t i = 0; i < sizeOf(t.eot_ids()); ++i)
      checkId("eot_ids", t.eot_ids()->Get(static_cast<uint32_t>(i)));
  }

  const artifact::Manifest &m;
  const std::string &path;
};

} // namespace

LayoutDescriptor layoutFromManifest(const artifact::Layout &layout) {
  LayoutDescriptor result;
  result.name = layout.name()->str();
  result.blockElements = layout.block_elements();
  result.blockBytes = layout.block_bytes();
  result.rowsPerGroup = layout.rows_per_group();
  for (size_t i = 0; i < sizeOf(layout.fields()); ++i) {
    const auto *from = layout.fields()->Get(static_cast<uint32_t>(i));
    LayoutField field;
    field.bits = from->bits();
    field.sourceBit = from->source_bit();
    field.xorMask = from->xor_mask();
    field.itemBits = from->item_bits();
    field.shift = from->shift();
    for (size_t k = 0; k < sizeOf(from->splits()); ++k) {
      const auto *split = from->splits()->Get(static_cast<uint32_t>(k));
      field.splits.push_back({split->extent(), split->stride_bits()});
    }
    if (from->order())
      field.order.assign(from->order()->begin(), from->order()->end());
    result.fields.push_back(std::move(field));
  }
  return result;
}

std::vector<const artifact::Output *> manifestOutputs(const artifact::Manifest &manifest) {
  std::vector<const artifact::Output *> outputs;
  for (size_t i = 0; i < sizeOf(manifest.outputs()); ++i)
    outputs.push_back(manifest.outputs()->Get(static_cast<uint32_t>(i)));
  return outputs;
}

std::vector<int64_t> stateWindows(const artifact::Manifest &manifest) {
  std::vector<int64_t> windows;
  for (size_t i = 0; i < sizeOf(manifest.states()); ++i)
    if (const int64_t window = manifest.states()->Get(static_cast<uint32_t>(i))->window();
        window && std::find(windows.begin(), windows.end(), window) == windows.end())
      windows.push_back(window);
  return windows;
}

int64_t outputRowSize(const artifact::Output &output) {
  int64_t numbers = 1;
  for (uint32_t i = 0; i < sizeOf(output.shape()); ++i)
    numbers *= output.shape()->Get(i);
  return numbers;
}

std::pair<int64_t, int64_t> weightShape(const artifact::Weight &weight) {
  if (sizeOf(weight.shape()) == 0)
    throw Error(TW_CORRUPT, "a weight without a shape");
  uint64_t rows = 1;
  const uint32_t last = weight.shape()->size() - 1;
  for (uint32_t i = 0; i <= last; ++i) {
    if (weight.shape()->Get(i) < 1)
      throw Error(TW_CORRUPT, "extent " + std::to_string(weight.shape()->Get(i)) + " in a weight's shape");
    if (i < last)
      rows = checkedMul(rows, static_cast<uint64_t>(weight.shape()->Get(i)), "shape of a weight");
  }
  return {static_cast<int64_t>(rows), weight.shape()->Get(last)};
}

Manifest Manifest::parse(std::span<const uint8_t> bytes, const std::string &path) {
  if (bytes.size() < 8 || bytes.size() > kMaxManifestBytes)
    throw Error(TW_CORRUPT, path + ": manifest of " + std::to_string(bytes.size()) + " bytes, wanted 8 to " +
                                std::to_string(kMaxManifestBytes));
  Manifest result;
  result.storage.resize((bytes.size() + 7) / 8);
  auto *copy = reinterpret_cast<uint8_t *>(result.storage.data());
  std::memcpy(copy, bytes.data(), bytes.size());
  if (!artifact::ManifestBufferHasIdentifier(copy))
    throw Error(TW_CORRUPT, path + ": manifest lacks its identifier " + artifact::ManifestIdentifier());
  BoundedVerifier verifier(copy, bytes.size(), kMaxDepth);
  if (!artifact::VerifyManifestBuffer(verifier))
    throw Error(TW_CORRUPT, path + ": manifest is damaged (its structure does not verify)");
  result.root = artifact::GetManifest(copy);
  MeaningCheck(*result.root, path).run();
  return result;
}

size_t Manifest::firstEntry(size_t level) const {
  size_t first = 0;
  for (size_t i = 0; i < level; ++i)
    first += root->levels()->Get(static_cast<uint32_t>(i))->steps()->size();
  return first;
}

std::string Manifest::kvElementOf(const artifact::StepVariant &step) const {
  return step.kv_element() ? step.kv_element()->str() : root->kv_element()->str();
}

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/fake/FakeArtifact.h"

#include "runtime/api/ArtifactFiles.h"
#include "runtime/api/abi.h"

#include <cstring>
#include <elf.h>

namespace tilewright::testing {
namespace {

void need(const Outcome &outcome) {
  if (!outcome.ok())
    throw std::runtime_error(outcome.message);
}

LayoutDescriptor plainFloats() { return {"f32_rows", 1, 4, 1, {{32, 0, {}, {LayoutField::kRow}}}}; }

artifact::LayoutT toManifest(const LayoutDescriptor &layout) {
  artifact::LayoutT result;
  result.name = layout.name;
  result.block_elements = layout.blockElements;
  result.block_bytes = layout.blockBytes;
  result.rows_per_group = layout.rowsPerGroup;
  for (const LayoutField &field : layout.fields) {
    auto out = std::make_unique<artifact::LayoutFieldT>();
    out->bits = field.bits;
    out->source_bit = field.sourceBit;
    out->order = field.order;
    out->xor_mask = field.xorMask;
    out->item_bits = field.itemBits;
    out->shift = field.shift;
    for (const LayoutSplit &split : field.splits) {
      auto outSplit = std::make_unique<artifact::LayoutSplitT>();
      outSplit->extent = split.extent;
      outSplit->stride_bits = split.strideBits;
      out->splits.push_back(std::move(outSplit));
    }
    result.fields.push_back(std::move(out));
  }
  return result;
}

std::unique_ptr<artifact::StepVariantT> variant(const char *symbol, uint32_t minRows, uint32_t maxRows,
                                                uint32_t multiple, uint32_t logitMultiple, uint32_t tile) {
  auto step = std::make_unique<artifact::StepVariantT>();
  step->symbol = symbol;
  step->min_rows = minRows;
  step->max_rows = maxRows;
  step->row_multiple = multiple;
  step->logit_row_multiple = logitMultiple;
  step->query_tile = tile;
  step->arena = std::make_unique<artifact::LinearSizeT>();
  step->arena->per_row = FAKE_ARENA_PER_ROW;
  step->arena->per_logit_row = FAKE_ARENA_PER_LOGIT_ROW;
  step->arena->constant = FAKE_ARENA_CONSTANT;
  return step;
}

std::unique_ptr<artifact::LevelT> level(const char *name, std::vector<std::string> features) {
  auto result = std::make_unique<artifact::LevelT>();
  result->name = name;
  result->features = std::move(features);
  result->steps.push_back(variant("step_one", 1, 1, 1, 1, 1));
  result->steps.push_back(variant("step_many", 2, 0, 8, 4, 4));
  auto kernel = std::make_unique<artifact::KernelT>();
  kernel->name = "attend";
  kernel->variant = "many";
  kernel->instruction = "scalar";
  result->kernels.push_back(std::move(kernel));
  return result;
}

int keyValue(int token, int position, int layer, int head, int d) {
  return (token * 31 + position * 7 + layer * 5 + head * 3 + d) % 7;
}
int valueValue(int token, int position, int layer, int head, int d) {
  return (token * 17 + position * 3 + layer + head + d * 11) % 5;
}

} // namespace

float fakeScale(uint32_t seed, int v) { return static_cast<float>((static_cast<uint32_t>(v) * 7u + seed) % 16u); }

std::vector<float> fakeLogits(const std::vector<int32_t> &tokens, uint32_t seed, const std::vector<int32_t> &positions,
                              size_t window) {
  const auto positionOf = [&](size_t j) { return positions.empty() ? static_cast<int>(j) : positions[j]; };
  float sum = 0;
  for (size_t j = 0; j < tokens.size(); ++j)
    for (int layer = 0; layer < (window && j + window < tokens.size() ? FAKE_LAYERS - 1 : FAKE_LAYERS); ++layer)
      for (int h = 0; h < FAKE_HEADS; ++h)
        for (int d = 0; d < FAKE_DIM; ++d)
          sum += static_cast<float>(keyValue(tokens[j], positionOf(j), layer, h, d) *
                                    valueValue(tokens[j], positionOf(j), layer, h, d));
  std::vector<float> logits(FAKE_VOCAB);
  for (int v = 0; v < FAKE_VOCAB; ++v)
    logits[static_cast<size_t>(v)] = sum * fakeScale(seed, v);
  logits[static_cast<size_t>(fake_next_token(tokens.back(), positionOf(tokens.size() - 1)))] += 1e9f;
  return logits;
}

std::vector<uint8_t> manifestBytes(const artifact::ManifestT &manifest) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Manifest::Pack(builder, &manifest), artifact::ManifestIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::vector<uint8_t> withSection(std::vector<uint8_t> elf, const std::string &name, const std::vector<uint8_t> &content,
                                 size_t *contentOffset) {
  Elf64_Ehdr header;
  std::memcpy(&header, elf.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), elf.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  auto append = [&](const std::vector<uint8_t> &bytes) {
    elf.resize((elf.size() + 15) / 16 * 16);
    const size_t at = elf.size();
    elf.insert(elf.end(), bytes.begin(), bytes.end());
    return at;
  };
  Elf64_Shdr added{};
  added.sh_type = SHT_PROGBITS;
  added.sh_addralign = 16;
  added.sh_offset = append(content);
  added.sh_size = content.size();
  if (contentOffset)
    *contentOffset = added.sh_offset;
  Elf64_Shdr &strings = sections[header.e_shstrndx];
  std::vector<uint8_t> names(elf.begin() + static_cast<std::ptrdiff_t>(strings.sh_offset),
                             elf.begin() + static_cast<std::ptrdiff_t>(strings.sh_offset + strings.sh_size));
  added.sh_name = static_cast<Elf64_Word>(names.size());
  names.insert(names.end(), name.begin(), name.end());
  names.push_back(0);
  strings.sh_offset = append(names);
  strings.sh_size = names.size();
  sections.push_back(added);
  std::vector<uint8_t> table(sections.size() * sizeof(Elf64_Shdr));
  std::memcpy(table.data(), sections.data(), table.size());
  header.e_shoff = append(table);
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  std::memcpy(elf.data(), &header, sizeof header);
  return elf;
}

void writeFakeArtifact(const std::string &folder, const FakeArtifactOptions &options) {
  artifact::ManifestT manifest;
  manifest.producer = "tests";
  manifest.model_name = "fake";
  manifest.numerics = "precise";
  manifest.kv_element = "f32";
  manifest.page_tokens = TW_PAGE_TOKENS;
  manifest.context_length = FAKE_CONTEXT;
  manifest.vocab_size = FAKE_VOCAB;
  manifest.weights_file = "model.tww";
  manifest.layouts.push_back(std::make_unique<artifact::LayoutT>(toManifest(plainFloats())));

  WeightsFile file;
  need(file.open(folder + "/model.tww"));
  auto addWeight = [&](const std::string &name, int64_t rows, int64_t columns, const std::vector<float> &values) {
    WeightsFile::Placed placed;
    need(file.add(plainFloats(), rows, columns, nullptr, reinterpret_cast<const uint8_t *>(values.data()),
                  values.size() * sizeof(float), placed));
    auto weight = std::make_unique<artifact::WeightT>();
    weight->name = name;
    weight->element = "f32";
    if (rows > 1)
      weight->shape.push_back(rows);
    weight->shape.push_back(columns);
    weight->offset = placed.offset;
    weight->length = placed.length;
    weight->hash = placed.hash;
    manifest.weights.push_back(std::move(weight));
  };
  std::vector<float> scale(FAKE_VOCAB);
  for (int v = 0; v < FAKE_VOCAB; ++v)
    scale[static_cast<size_t>(v)] = fakeScale(options.weightSeed, v);
  addWeight("scale", 1, FAKE_VOCAB, scale);
  addWeight("unused", 3, 5, std::vector<float>(15, static_cast<float>(options.weightSeed)));
  WeightsFile::Finished finished;
  need(file.finish(finished));
  manifest.weights_file_length = finished.length;
  manifest.weights_hash = finished.hash;

  for (int layer = 0; layer < FAKE_LAYERS; ++layer) {
    auto state = std::make_unique<artifact::StateT>();
    state->name = "layer" + std::to_string(layer);
    for (bool transposed : {false, true}) {
      auto buffer = std::make_unique<artifact::StateBufferT>();
      buffer->heads = FAKE_HEADS;
      buffer->dim = FAKE_DIM;
      buffer->transposed = transposed;
      state->buffers.push_back(std::move(buffer));
    }
    manifest.states.push_back(std::move(state));
  }
  manifest.levels.push_back(level("plain", {}));
  manifest.levels.push_back(level("dreamt", {"feature-of-tomorrow"}));
  if (options.change)
    options.change(manifest);

  const std::vector<uint8_t> code = readFile(std::string(TILEWRIGHT_FAKE_MODELS) + "/" + options.code + ".so");
  std::filesystem::remove(folder + "/model.so"); // a new file, as the compiler writes it: the old one may be loaded
  writeFile(folder + "/model.so", withSection(code, TW_ABI_MANIFEST_SECTION, manifestBytes(manifest)));
  need(sealCode(folder + "/model.so"));
}

} // namespace tilewright::testing

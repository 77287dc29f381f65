// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/Manifest.h"

#include "runtime/tokenize/TokenizerTable.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tilewright {

static std::string text(const flatbuffers::String *value) { return value ? value->str() : std::string(); }

void needFormat(artifact::ManifestT &manifest, uint32_t version) {
  manifest.format_version = std::max(manifest.format_version, version);
}

void describeGraph(const graph::Graph &graph, artifact::ManifestT &manifest) {
  manifest.model_name = text(graph.name());
  manifest.context_length = graph.context_length();
  manifest.vocab_size = graph.vocab_size();
  manifest.reread_length = graph.reread_length();
  if (const graph::Generation *from = graph.generation()) {
    manifest.generation = std::make_unique<artifact::GenerationT>();
    manifest.generation->decoder_start_id = from->decoder_start_id();
    manifest.generation->forced_bos_id = from->forced_bos_id();
    manifest.generation->forced_eos_id = from->forced_eos_id();
    if (from->bad_ids())
      manifest.generation->bad_ids.assign(from->bad_ids()->begin(), from->bad_ids()->end());
    needFormat(manifest, 2);
  }
  if (manifest.reread_length)
    needFormat(manifest, 3);
  if (!graph.tokenizer())
    return;
  auto to = std::make_unique<artifact::TokenizerT>();
  fillTable<artifact::TokenizerT, artifact::TokenizerStepT>(tokenizerData(*graph.tokenizer()), *to);
  manifest.tokenizer = std::move(to);
}

uint32_t layoutIndex(const LayoutDescriptor &layout, artifact::ManifestT &manifest) {
  for (auto [index, known] : llvm::enumerate(manifest.layouts))
    if (known->name == layout.name)
      return static_cast<uint32_t>(index);
  auto entry = std::make_unique<artifact::LayoutT>();
  entry->name = layout.name;
  entry->block_elements = layout.blockElements;
  entry->block_bytes = layout.blockBytes;
  entry->rows_per_group = layout.rowsPerGroup;
  for (const LayoutField &field : layout.fields) {
    auto described = std::make_unique<artifact::LayoutFieldT>();
    described->bits = field.bits;
    described->source_bit = field.sourceBit;
    described->xor_mask = field.xorMask;
    described->item_bits = field.itemBits;
    described->shift = field.shift;
    described->order.assign(field.order.begin(), field.order.end());
    for (const LayoutSplit &split : field.splits) {
      auto digit = std::make_unique<artifact::LayoutSplitT>();
      digit->extent = split.extent;
      digit->stride_bits = split.strideBits;
      described->splits.push_back(std::move(digit));
    }
    entry->fields.push_back(std::move(described));
  }
  manifest.layouts.push_back(std::move(entry));
  return static_cast<uint32_t>(manifest.layouts.size() - 1);
}

static std::unique_ptr<artifact::LinearSizeT> linear(const RegionBytes &bytes) {
  auto size = std::make_unique<artifact::LinearSizeT>();
  size->per_row = bytes[ArenaRegion::Rows];
  size->per_logit_row = bytes[ArenaRegion::LogitRows];
  size->constant = bytes[ArenaRegion::Constant];
  return size;
}

void describeArena(const FunctionPlan &plan, artifact::StepVariantT &variant) {
  variant.arena = linear(plan.size);
  variant.arena_lower_bound = linear(plan.lowerBound);
  variant.arena_without_reuse = linear(plan.withoutReuse);
}

std::string serialize(const artifact::ManifestT &manifest) {
  flatbuffers::FlatBufferBuilder builder(1 << 20);
  artifact::FinishManifestBuffer(builder, artifact::Manifest::Pack(builder, &manifest));
  return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()), builder.GetSize());
}

} // namespace tilewright

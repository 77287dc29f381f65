// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Verifier.h"

#include "frontend/graph/BeneathFile.h"
#include "frontend/graph/Errors.h"
#include "frontend/graph/FunctionVerifier.h"
#include "frontend/graph/RequiredPlugins.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tilewright {

static Error verifyPermutation(const graph::RowPermutation &permutation, int64_t rows, const Twine &place) {
  uint32_t rank = permutation.dims()->size();
  if (rank == 0 || rank > maxRank || permutation.perm()->size() != rank)
    return badInput(place + ": found " + Twine(rank) + " dims and " + Twine(permutation.perm()->size()) +
                    " entries of perm, wanted as many of one as of the other, 1 to " + Twine(maxRank));
  std::optional<uint64_t> product = checkedByteSize({permutation.dims()->data(), rank}, 1);
  if (!product || *product != static_cast<uint64_t>(rows))
    return badInput(place + ": found dims with the product " + (product ? std::to_string(*product) : "beyond 64 bits") +
                    ", wanted the " + Twine(rows) + " rows of the weight");
  uint32_t seen = 0;
  for (uint32_t axis : elements(permutation.perm())) {
    if (axis >= rank || (seen & (1u << axis)))
      return badInput(place + ": found perm entry " + Twine(axis) + ", wanted each of 0 to " + Twine(rank - 1) +
                      " once");
    seen |= 1u << axis;
  }
  return Error::success();
}

static Error verifyExtent(StringRef file, uint64_t offset, uint64_t length, uint64_t elementBytes, const Twine &place) {
  std::string problem = relativePathProblem(file);
  if (!problem.empty())
    return badInput(place + ", file: found " + quoted(file) + ", which " + problem +
                    "; wanted a relative path beneath the graph's folder or --weights-dir");
  if (offset > UINT64_MAX - length)
    return badInput(place + ": found offset " + Twine(offset) + " and length " + Twine(length) +
                    ", wanted a sum below 2^64");
  if (offset % elementBytes != 0)
    return badInput(place + ", offset: found " + Twine(offset) + ", wanted a multiple of " + Twine(elementBytes) +
                    ", the size of an element");
  return Error::success();
}

static Error verifyWeightEntry(const graph::Weight &weight, StringRef file, uint64_t &inlineBytes) {
  StringRef name = text(weight.name());
  std::string place = (file + ": weight " + quoted(name)).str();
  if (!isPrintableName(name))
    return badInput(place + ": wanted a name of 1 to 1024 bytes of UTF-8 without control characters");
  std::string problem = typeProblem(*weight.type(), /*allowUnknown=*/false);
  if (!problem.empty())
    return badInput(place + ", type: " + problem);
  SmallVector<int64_t, 4> shape;
  if (weight.type()->shape())
    for (const graph::Dim *dim : *weight.type()->shape())
      shape.push_back(dim->size());
  if (any_of(shape, [](int64_t size) { return size < 1; }))
    return badInput(place + ", type: found " + spell(*weight.type()) +
                    ", wanted each dimension a number of at least 1");
  std::optional<uint64_t> elementBytes = builtinElementBytes(text(weight.type()->element()));
  std::optional<uint64_t> wanted = checkedByteSize(shape, elementBytes.value_or(1));
  if (!wanted)
    return badInput(place + ", type: found " + spell(*weight.type()) + ", wanted a size below 2^64 bytes");

  uint64_t length = weight.length();
  if (const auto *data = weight.inline_data()) {
    if (weight.file() || weight.offset() != 0 || (length != 0 && length != data->size()))
      return badInput(place + ": found inline bytes and an extent in a file, wanted one of the two");
    length = data->size();
    inlineBytes += length;
    if (inlineBytes > maxInlineBytes)
      return badInput(place + ": found more than " + Twine(maxInlineBytes) +
                      " bytes of inline weights, wanted large ones in a file beside the graph");
    if (reinterpret_cast<uintptr_t>(data->data()) % elementBytes.value_or(1) != 0)
      return badInput(place + ", inline_data: found bytes that are not aligned to an element of " +
                      Twine(elementBytes.value_or(1)) + " bytes, wanted them aligned");
  } else if (sizeOf(weight.parts())) {
    if (weight.file() || weight.offset() != 0)
      return badInput(place + ": found parts and an extent in a file, wanted one of the two");
    if (shape.empty() || shape.front() % weight.parts()->size() != 0)
      return badInput(place + ", parts: found " + Twine(weight.parts()->size()) + " of " + spell(*weight.type()) +
                      ", wanted a number that divides its first dimension");
    for (auto [i, part] : enumerate(elements(weight.parts()))) {
      if (part->length() != length / weight.parts()->size() || length % weight.parts()->size() != 0)
        return badInput(place + ", parts[" + Twine(i) + "]: found " + Twine(part->length()) + " bytes, wanted one of " +
                        Twine(weight.parts()->size()) + " equal parts of " + Twine(length));
      if (Error error = verifyExtent(text(part->file()), part->offset(), part->length(), elementBytes.value_or(1),
                                     place + ", parts[" + Twine(i) + "]"))
        return error;
    }
  } else if (const flatbuffers::String *path = weight.file()) {
    if (Error error = verifyExtent(text(path), weight.offset(), length, elementBytes.value_or(1), place))
      return error;
  } else {
    return badInput(place + ": found neither inline bytes nor a file, wanted one of the two");
  }
  if (length == 0 || (elementBytes && length != *wanted))
    return badInput(place + ", length: found " + Twine(length) + " bytes, wanted " +
                    (elementBytes ? Twine(*wanted) + " for " + spell(*weight.type()) : Twine("at least 1")));
  if (weight.transposed() && sizeOf(weight.parts()) > 1 && shape.size() == 2)
    return badInput(place + ", transposed: found " + Twine(weight.parts()->size()) + " parts of the matrix " +
                    spell(*weight.type()) + ", wanted parts of whole matrices");
  if (weight.transposed() && (shape.size() < 2 || !elementBytes || weight.row_permutation() || weight.inline_data()))
    return badInput(place +
                    ", transposed: wanted at least two dimensions, a builtin element type, and neither inline bytes "
                    "nor a row_permutation");
  if (const graph::RowPermutation *permutation = weight.row_permutation()) {
    if (shape.empty())
      return badInput(place + ", row_permutation: found it on a scalar, wanted a weight with rows");
    return verifyPermutation(*permutation, shape.front(), place + ", row_permutation");
  }
  return Error::success();
}

static Error verifyTokenizer(const graph::Tokenizer &tokenizer, StringRef file) {
  std::string place = (file + ": tokenizer").str();
  if (!isPrintableName(text(tokenizer.kind())))
    return badInput(place + ", kind: found " + quoted(text(tokenizer.kind())) + ", wanted a name");
  uint64_t count = tokenizer.tokens()->size();
  if (count == 0 || count > INT32_MAX)
    return badInput(place + ", tokens: found " + Twine(count) + ", wanted at least 1");
  auto sameCount = [&](StringRef field, uint64_t found) -> Error {
    if (found == 0 || found == count)
      return Error::success();
    return badInput(place + ", " + field + ": found " + Twine(found) + " entries, wanted " + Twine(count) +
                    ", one for each token");
  };
  if (Error error = sameCount("token_types", sizeOf(tokenizer.token_types())))
    return error;
  std::pair<StringRef, uint64_t> lists[] = {{"scores", sizeOf(tokenizer.scores())},
                                            {"exact_scores", sizeOf(tokenizer.exact_scores())},
                                            {"matching", sizeOf(tokenizer.matching())}};
  for (auto [field, found] : lists)
    if (Error error = sameCount(field, found))
      return error;
  auto idInRange = [&](StringRef field, int64_t id, int64_t least) -> Error {
    if (id >= least && id < static_cast<int64_t>(count))
      return Error::success();
    return badInput(place + ", " + field + ": found " + Twine(id) + ", wanted " + Twine(least) + " to " +
                    Twine(count - 1));
  };
  std::pair<StringRef, int32_t> ids[] = {{"bos_id", tokenizer.bos_id()},
                                         {"eos_id", tokenizer.eos_id()},
                                         {"unk_id", tokenizer.unk_id()},
                                         {"pad_id", tokenizer.pad_id()}};
  for (auto [field, id] : ids)
    if (Error error = idInRange(field, id, -1))
      return error;
  std::pair<StringRef, const flatbuffers::Vector<int32_t> *> idLists[] = {
      {"eot_ids", tokenizer.eot_ids()}, {"prefix_ids", tokenizer.prefix_ids()}, {"suffix_ids", tokenizer.suffix_ids()}};
  for (auto [field, list] : idLists)
    for (int32_t id : elements(list))
      if (Error error = idInRange(field, id, 0))
        return error;
  return Error::success();
}

/// Depth-first search with its own stack: a chain of calls may be as long as the file.
static Error verifyAcyclic(const GraphTables &tables, const std::vector<std::vector<uint32_t>> &callees) {
  enum class Mark : uint8_t { New, Open, Done };
  std::vector<Mark> marks(callees.size(), Mark::New);
  std::vector<std::pair<uint32_t, uint32_t>> stack; // function, next callee
  auto nameOf = [&](uint32_t index) { return quoted(text(tables.graph.functions()->Get(index)->name())); };
  for (uint32_t start = 0; start < callees.size(); ++start) {
    if (marks[start] != Mark::New)
      continue;
    marks[start] = Mark::Open;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      auto &[function, next] = stack.back();
      if (next == callees[function].size()) {
        marks[function] = Mark::Done;
        stack.pop_back();
        continue;
      }
      uint32_t callee = callees[function][next++];
      if (marks[callee] == Mark::Open) {
        std::string cycle;
        auto first = find_if(stack, [&](const auto &frame) { return frame.first == callee; });
        for (auto it = first; it != stack.end(); ++it)
          cycle += nameOf(it->first) + " calls ";
        return badInput(tables.file + ": calls: found a cycle, " + cycle + nameOf(callee) + "; wanted none");
      }
      if (marks[callee] == Mark::New) {
        marks[callee] = Mark::Open;
        stack.push_back({callee, 0});
      }
    }
  }
  return Error::success();
}

static Error verifyGeneration(const graph::Generation &generation, uint32_t vocabulary, StringRef file) {
  const int64_t most = vocabulary ? int64_t(vocabulary) - 1 : INT32_MAX; // 0: unknown
  auto idInRange = [&](StringRef field, int64_t id, int64_t least) -> Error {
    if (id >= least && id <= most)
      return Error::success();
    return badInput(file + ": generation, " + field + ": found " + Twine(id) + ", wanted " + Twine(least) + " to " +
                    Twine(most));
  };
  std::pair<StringRef, int64_t> ids[] = {{"decoder_start_id", generation.decoder_start_id()},
                                         {"forced_bos_id", generation.forced_bos_id()},
                                         {"forced_eos_id", generation.forced_eos_id()}};
  for (auto [field, id] : ids)
    if (Error error = idInRange(field, id, -1))
      return error;
  for (int32_t id : elements(generation.bad_ids()))
    if (Error error = idInRange("bad_ids", id, 0))
      return error;
  return Error::success();
}

static Error verifyRequiredPlugins(const graph::Graph &graph, StringRef file) {
  std::vector<std::string> wanted = computeRequiredPlugins(graph);
  std::vector<std::string> found;
  if (graph.required_plugins())
    for (const flatbuffers::String *name : *graph.required_plugins())
      found.push_back(text(name).str());
  if (found == wanted)
    return Error::success();
  return badInput(file + ": required_plugins: found " + quoted(join(found, ", ")) + ", wanted " +
                  quoted(join(wanted, ", ")) + ", the dialects of its ops and types");
}

Error verifyStructure(const graph::Graph &graph, StringRef file, uint64_t fileBytes) {
  GraphTables tables{graph, file, {}, {}, fileBytes};
  uint32_t functionCount = graph.functions()->size();
  for (uint32_t i = 0; i < functionCount; ++i) {
    StringRef name = text(graph.functions()->Get(i)->name());
    if (!isIdentifier(name, /*dots=*/true))
      return badInput(file + ": function " + Twine(i) + ", name: found " + quoted(name) + ", wanted an identifier");
    if (!tables.functions.try_emplace(name, i).second)
      return badInput(file + ": function " + Twine(i) + ", name: found " + quoted(name) +
                      " twice, wanted different names");
  }
  if (!tables.functions.contains(text(graph.entry())))
    return badInput(file + ": entry: found " + quoted(text(graph.entry())) + ", wanted one of its " +
                    Twine(functionCount) + " functions");
  if (StringRef name = text(graph.encode_entry());
      !name.empty() && (!tables.functions.contains(name) || name == text(graph.entry())))
    return badInput(file + ": encode_entry: found " + quoted(name) + ", wanted one of its " + Twine(functionCount) +
                    " functions other than the entry");
  uint64_t inlineBytes = 0;
  for (uint32_t i = 0; i < sizeOf(graph.weights()); ++i) {
    const graph::Weight &weight = *graph.weights()->Get(i);
    if (!tables.charge(uint64_t(1) + sizeOf(weight.type()->shape())))
      return badInput(file + ": weight " + Twine(i) + ": found more dimensions than the file has bytes, wanted fewer");
    if (Error error = verifyWeightEntry(weight, file, inlineBytes))
      return error;
    if (!tables.weights.try_emplace(text(weight.name()), i).second)
      return badInput(file + ": weight " + quoted(text(weight.name())) +
                      ": found the name twice, wanted different names");
  }
  if (graph.tokenizer()) {
    if (Error error = verifyTokenizer(*graph.tokenizer(), file))
      return error;
    uint32_t tokens = graph.tokenizer()->tokens()->size();
    if (graph.vocab_size() != 0 && graph.vocab_size() < tokens)
      return badInput(file + ": vocab_size: found " + Twine(graph.vocab_size()) + ", wanted at least " + Twine(tokens) +
                      ", the number of tokens");
  }
  if (graph.generation())
    if (Error error = verifyGeneration(*graph.generation(), graph.vocab_size(), file))
      return error;
  std::vector<std::vector<uint32_t>> callees(functionCount);
  for (uint32_t i = 0; i < functionCount; ++i)
    if (Error error = FunctionVerifier(tables, *graph.functions()->Get(i), callees[i]).verify())
      return error;
  if (Error error = verifyAcyclic(tables, callees))
    return error;
  return verifyRequiredPlugins(graph, file);
}

} // namespace tilewright

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/Artifact.h"

#include "runtime/api/ArtifactFiles.h"
#include "runtime/api/Error.h"
#include "runtime/api/weights_file.h"
#include "runtime/module/ElfFile.h"
#include "tests/unit/runtime/fake/FakeArtifact.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <random>

using namespace tilewright;
using namespace tilewright::testing;

namespace {

struct Failure {
  tw_status code = TW_OK;
  std::string message;
};

Failure load(const std::string &folder, const ArtifactOptions &options = {}) {
  try {
    Artifact::load(folder, options);
    return {};
  } catch (const Error &error) {
    return {error.code(), error.message()};
  }
}

void expectFailure(const Failure &failure, tw_status code, const std::string &part) {
  EXPECT_STREQ(statusName(failure.code), statusName(code)) << failure.message;
  EXPECT_NE(failure.message.find(part), std::string::npos) << failure.message << "\nwanted: " << part;
}

Failure loadChanged(const std::function<void(artifact::ManifestT &)> &change) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path(), {.change = change});
  return load(folder.path());
}

std::string copyFolder(const std::string &from, const TemporaryFolder &into, const std::string &name) {
  std::filesystem::copy(from, into.path(name));
  return into.path(name);
}

/// Replaces the seal by one that fits, so that a change reaches the checks behind it.
void reseal(const std::string &path) {
  std::vector<uint8_t> bytes = readFile(path);
  bytes.resize(bytes.size() - sizeof(tw_code_seal));
  writeFile(path, bytes);
  ASSERT_TRUE(sealCode(path).ok());
}

} // namespace

TEST(Artifact, LoadsAndExposesItsParts) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  for (bool huge : {false, true}) {
    const auto artifact = Artifact::load(folder.path(), {.checkWeights = true, .hugePages = huge});
    EXPECT_EQ(artifact->level().name()->str(), "plain");
    EXPECT_NE(artifact->entry(0), nullptr);
    EXPECT_NE(artifact->entry(0), artifact->entry(1));
    float first[2];
    std::memcpy(first, artifact->weights()[0], sizeof first);
    EXPECT_EQ(first[1], fakeScale(1, 1));
    EXPECT_EQ(artifact->weightBytes(), std::filesystem::file_size(folder.path("model.tww")));
    EXPECT_EQ(artifact->kvElement(), "f32");
    EXPECT_EQ(artifact->variants().size(), artifact->level().steps()->size());
  }
}

// Step forms for both elements, in any order: those for the wanted one are used, with their own entries.
TEST(Artifact, ChoosesStepsByWhatItsCachesHold) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  expectFailure(load(folder.path(), {.kvElement = "bf16"}), TW_UNSUPPORTED,
                "has no steps for K/V caches of bf16; numerics precise keeps them in f32");
  expectFailure(load(folder.path(), {.kvElement = "f16"}), TW_INVALID, "K/V caches of 'f16', wanted f32 or bf16");
  writeFakeArtifact(folder.path(), {.change = [](auto &m) {
                      auto &steps = m.levels[0]->steps;
                      ASSERT_EQ(steps.size(), 2u);
                      steps[0]->kv_element = "bf16";
                      for (auto &step : steps) {
                        step->min_rows = 1;
                        step->max_rows = 0;
                      }
                    }});
  const auto halves = Artifact::load(folder.path(), {.kvElement = "bf16"});
  const auto floats = Artifact::load(folder.path());
  ASSERT_EQ(halves->variants().size(), 1u);
  ASSERT_EQ(floats->variants().size(), 1u);
  EXPECT_EQ(halves->variants()[0]->symbol()->str(), halves->level().steps()->Get(0)->symbol()->str());
  EXPECT_EQ(floats->variants()[0]->symbol()->str(), floats->level().steps()->Get(1)->symbol()->str());
  EXPECT_NE(halves->entry(0), floats->entry(0));
}

TEST(Artifact, ChoosesTheStrongestLevelThatRuns) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  const CpuFeatures tomorrow({"feature-of-tomorrow"});
  EXPECT_EQ(Artifact::load(folder.path(), {.features = &tomorrow})->level().name()->str(), "dreamt");
  EXPECT_EQ(Artifact::load(folder.path(), {.level = "plain", .features = &tomorrow})->level().name()->str(), "plain");
  expectFailure(load(folder.path(), {.level = "dreamt"}), TW_INCOMPATIBLE, "level dreamt needs feature-of-tomorrow");
  expectFailure(load(folder.path(), {.level = "avx9"}), TW_INVALID, "has no level 'avx9'; it has: dreamt, plain");

  writeFakeArtifact(folder.path(), {.change = [](auto &m) { m.levels[0]->features = {"sse2", "x-one", "x-two"}; }});
  const CpuFeatures old({"sse2"});
  expectFailure(load(folder.path(), {.features = &old}), TW_INCOMPATIBLE,
                "level dreamt needs feature-of-tomorrow; level plain needs x-one, x-two");
}

TEST(CpuFeatures, KnowsWhatEveryCpuHas) {
#if defined(__x86_64__)
  EXPECT_TRUE(CpuFeatures::host().has("sse2"));
#elif defined(__aarch64__)
  EXPECT_TRUE(CpuFeatures::host().has("neon"));
#endif
  EXPECT_FALSE(CpuFeatures::host().has("feature-of-tomorrow"));
}

// Files of three builds, each exchanged for that of another: only files of one build run together.
TEST(Artifact, RefusesFilesOfDifferentBuilds) {
  TemporaryFolder folder;
  const std::vector<FakeArtifactOptions> builds = {
      {.code = "fake_model", .weightSeed = 1}, {.code = "fake_model_rebuilt", .weightSeed = 2}, {.weightSeed = 3}};
  for (size_t i = 0; i < builds.size(); ++i) {
    std::filesystem::create_directory(folder.path(std::to_string(i)));
    writeFakeArtifact(folder.path(std::to_string(i)), builds[i]);
  }
  std::filesystem::create_directory(folder.path("mixed"));
  const auto overwrite = std::filesystem::copy_options::overwrite_existing;
  for (size_t code = 0; code < 3; ++code)
    for (size_t weights = 0; weights < 3; ++weights) {
      std::filesystem::copy_file(folder.path(std::to_string(code) + "/model.so"), folder.path("mixed/model.so"),
                                 overwrite);
      std::filesystem::copy_file(folder.path(std::to_string(weights) + "/model.tww"), folder.path("mixed/model.tww"),
                                 overwrite);
      const Failure failure = load(folder.path("mixed"));
      if (code == weights)
        EXPECT_EQ(failure.code, TW_OK) << failure.message;
      else
        expectFailure(failure, TW_INCOMPATIBLE,
                      "model.tww: belongs to another build than " + folder.path("mixed/model.so"));
    }
}

// The manifest of one build put into the code file of another: the seal was made for the first.
TEST(Artifact, RefusesTheManifestOfAnotherBuild) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  std::vector<uint8_t> bytes = readFile(folder.path("model.so"));
  const std::span<const uint8_t> section = findElfSection(bytes, TW_ABI_MANIFEST_SECTION, "model.so");
  const size_t at = static_cast<size_t>(section.data() - bytes.data());
  writeFakeArtifact(folder.path(), {.weightSeed = 2});
  std::vector<uint8_t> other = readFile(folder.path("model.so"));
  ASSERT_EQ(bytes.size(), other.size());
  std::copy(other.begin() + static_cast<std::ptrdiff_t>(at),
            other.begin() + static_cast<std::ptrdiff_t>(at + section.size()),
            bytes.begin() + static_cast<std::ptrdiff_t>(at));
  writeFile(folder.path("model.so"), bytes);
  expectFailure(load(folder.path()), TW_CORRUPT, "model.so: its content does not fit the hash in its seal");
}

TEST(Artifact, RefusesMissingAndDamagedFiles) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  expectFailure(load(folder.path("nowhere")), TW_NOT_FOUND, "nowhere/model.so: cannot open");
  {
    const std::string copy = copyFolder(folder.path(), folder, "no-weights");
    std::filesystem::remove(copy + "/model.tww");
    expectFailure(load(copy), TW_NOT_FOUND, "model.tww: cannot open");
    std::filesystem::create_directory(copy + "/model.tww");
    expectFailure(load(copy), TW_IO, "model.tww: not a regular file");
  }
  const std::vector<uint8_t> weights = readFile(folder.path("model.tww"));
  auto withWeights = [&](std::vector<uint8_t> changed, const ArtifactOptions &options = {}) {
    writeFile(folder.path("model.tww"), changed);
    return load(folder.path(), options);
  };
  std::vector<uint8_t> changed(weights.begin(), weights.end() - 1);
  expectFailure(withWeights(changed), TW_CORRUPT, "it is truncated or damaged");
  expectFailure(withWeights({}), TW_CORRUPT, "has 0 bytes");
  expectFailure(withWeights({weights.begin(), weights.begin() + 63}), TW_CORRUPT,
                "has 63 bytes, its header alone has 64");
  changed = weights;
  changed[0] = 'X';
  expectFailure(withWeights(changed), TW_CORRUPT, "bad magic");
  changed = weights;
  changed[16] ^= 1;
  expectFailure(withWeights(changed), TW_INCOMPATIBLE, "belongs to another build");
  changed = weights;
  changed[4096 + 4] ^= 1; // a weight's own byte: seen when asked to look
  expectFailure(withWeights(changed, {.checkWeights = true}), TW_CORRUPT, "weight 'scale' does not fit its hash");
  EXPECT_EQ(withWeights(changed).code, TW_OK);
}

TEST(Artifact, RefusesWhatIsNoCompiledModel) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  const std::vector<uint8_t> good = readFile(folder.path("model.so"));
  auto with = [&](const std::vector<uint8_t> &bytes, bool seal) {
    writeFile(folder.path("model.so"), bytes);
    if (seal)
      EXPECT_TRUE(sealCode(folder.path("model.so")).ok());
    return load(folder.path());
  };
  const std::string text = "this is a text file, long enough to hold an ELF header, which it is not, of course";
  expectFailure(with({}, false), TW_CORRUPT, "has 0 bytes");
  expectFailure(with({text.begin(), text.end()}, false), TW_CORRUPT, "has no seal at its end");
  expectFailure(with({text.begin(), text.end()}, true), TW_CORRUPT, "is not an ELF file");
  expectFailure(with({text.begin(), text.begin() + 9}, true), TW_CORRUPT, "an ELF header alone has 64");
  expectFailure(with(readFile(std::string(TILEWRIGHT_FAKE_MODELS) + "/fake_model.so"), true), TW_NOT_FOUND,
                "has no section .tilewright.manifest");
  std::vector<uint8_t> bytes(good.begin(), good.end() - sizeof(tw_code_seal));
  std::vector<uint8_t> changed = bytes;
  changed[offsetof(Elf64_Ehdr, e_machine)] = EM_386;
  expectFailure(with(changed, true), TW_INCOMPATIBLE, "holds code for machine 3");
  changed = bytes;
  changed[EI_CLASS] = ELFCLASS32;
  expectFailure(with(changed, true), TW_CORRUPT, "is not a 64-bit little-endian shared object");
  changed = bytes;
  changed[offsetof(Elf64_Ehdr, e_shnum) + 1] = 0xff;
  expectFailure(with(changed, true), TW_CORRUPT, "does not lie inside the file");
  changed = bytes;
  changed[offsetof(Elf64_Ehdr, e_shstrndx)] = 0xee;
  expectFailure(with(changed, true), TW_CORRUPT, "as its string table");
  changed = withSection(bytes, TW_ABI_MANIFEST_SECTION, {1, 2, 3});
  expectFailure(with(changed, true), TW_CORRUPT, "has two sections .tilewright.manifest");

  for (const auto &[code, status, message] : std::vector<std::tuple<const char *, tw_status, const char *>>{
           {"fake_model_other_abi", TW_INCOMPATIBLE, "compiled for ABI version 99"},
           {"fake_model_without_table", TW_CORRUPT, "does not export tilewright_table"},
           {"fake_model_missing_step", TW_CORRUPT, "step 1 is missing from its table"}}) {
    writeFakeArtifact(folder.path(), {.code = code});
    expectFailure(load(folder.path()), status, message);
  }
  writeFakeArtifact(folder.path(), {.change = [](auto &m) { m.levels.pop_back(); }});
  expectFailure(load(folder.path()), TW_CORRUPT, "exports 4 steps, its manifest lists 2");
}

TEST(Artifact, NamesWhatIsWrongInTheManifest) {
  struct Case {
    std::function<void(artifact::ManifestT &)> change;
    tw_status code;
    const char *message;
  };
  const std::vector<Case> cases = {
      {[](auto &m) { m.format_version = 4; }, TW_INCOMPATIBLE, "format version 4, this runtime reads up to 3"},
      {[](auto &m) { m.format_version = 0; }, TW_CORRUPT, "format version 0"},
      {[](auto &m) { m.numerics = "loose"; }, TW_CORRUPT, "numerics 'loose', wanted 'precise' or 'fast'"},
      {[](auto &m) { m.kv_element = "f64"; }, TW_CORRUPT, "kv_element 'f64'"},
      {[](auto &m) { m.levels[0]->steps[0]->kv_element = "i8"; }, TW_CORRUPT,
       "level 'plain': step 'step_one': kv_element 'i8', wanted 'f32' or 'bf16'"},
      {[](auto &m) { m.levels[0]->steps[1]->kv_element = "bf16"; }, TW_CORRUPT, "level 'plain': no step for"},
      {[](auto &m) {
         m.kv_element = "bf16";
         m.levels[1]->steps[0]->kv_element = m.levels[1]->steps[1]->kv_element = "f32";
       },
       TW_CORRUPT, "level 'dreamt': no step for 1 rows with K/V caches of bf16"},
      {[](auto &m) { m.page_tokens = 32; }, TW_INCOMPATIBLE, "pages of 32 tokens, this runtime keeps pages of 64"},
      {[](auto &m) { m.context_length = 0; }, TW_CORRUPT, "context_length 0"},
      {[](auto &m) { m.vocab_size = 0; }, TW_CORRUPT, "vocab_size 0"},
      {[](auto &m) { m.weights_file = "../model.tww"; }, TW_CORRUPT,
       "wanted the name of a file in the artifact's folder"},
      {[](auto &m) { m.weights_file = ""; }, TW_CORRUPT, "weights_file ''"},
      {[](auto &m) { m.weights_file_length = 63; }, TW_CORRUPT, "weights_file_length 63"},
      {[](auto &m) { m.weights_hash ^= 1; }, TW_CORRUPT, "weights_hash does not fit the hashes of its 2 weights"},
      {[](auto &m) { m.weights[0]->hash ^= 1; }, TW_CORRUPT, "weights_hash does not fit"},
      {[](auto &m) { m.weights[0]->layout = 1; }, TW_CORRUPT, "weights[0] 'scale': layout 1 of 1"},
      {[](auto &m) { m.weights[0]->length = 1204; }, TW_CORRUPT, "length 1204, its shape and layout make 1200"},
      {[](auto &m) { m.weights[0]->offset += 64; }, TW_CORRUPT, "offset 4160, wanted a positive multiple of 4096"},
      {[](auto &m) { m.weights[0]->offset = 0; }, TW_CORRUPT, "offset 0"},
      {[](auto &m) { m.weights[0]->offset = UINT64_MAX - 4095; }, TW_CORRUPT, "do not lie inside a weights file"},
      {[](auto &m) { m.weights_file_length = 4096; }, TW_CORRUPT, "do not lie inside a weights file of 4096 bytes"},
      {[](auto &m) { m.weights[1]->shape = {INT64_MAX, INT64_MAX, 4}; }, TW_CORRUPT, "is too large"},
      {[](auto &m) { m.weights[1]->shape = {-3, 5}; }, TW_CORRUPT, "extent -3"},
      {[](auto &m) { m.weights[1]->shape.clear(); }, TW_CORRUPT, "a weight without a shape"},
      {[](auto &m) { m.weights[1]->name = "scale"; }, TW_CORRUPT, "a second weight of this name"},
      {[](auto &m) { m.layouts[0]->fields[0]->bits = 7; }, TW_CORRUPT,
       "layouts[0]: layout 'f32_rows': field 0: items of 7 bits"},
      {[](auto &m) { m.states[1]->buffers.clear(); }, TW_CORRUPT, "states[1] 'layer1': no buffers"},
      {[](auto &m) { m.states[1]->buffers[0]->heads = 0; }, TW_CORRUPT, "0 heads of 4 values"},
      {[](auto &m) { m.states[1]->buffers[0]->heads = m.states[1]->buffers[0]->dim = UINT32_MAX; }, TW_CORRUPT,
       "make a page of 0 or more than"},
      {[](auto &m) { m.states[1]->group = "target"; }, TW_CORRUPT,
       "states[1] 'layer1': group 'target', wanted 'source' or 'transient'"},
      {[](auto &m) { m.states[1]->group = "source"; }, TW_CORRUPT, "in format version 1, wanted 2 or more"},
      {[](auto &m) { m.states[1]->window = 5; }, TW_CORRUPT,
       "a window of 5 tokens in format version 1, wanted 3 or more, and a state whose tokens are those of a session"},
      {[](auto &m) {
         m.format_version = 3;
         m.states[1]->group = "transient";
         m.states[1]->window = 5;
       },
       TW_CORRUPT, "a window of 5 tokens in format version 3"},
      {[](auto &m) {
         m.format_version = 2;
         m.states[1]->group = "source";
       },
       TW_CORRUPT, "level 'plain': no encode for 1 rows"},
      {[](auto &m) { m.levels[0]->steps[1]->entry = "decode"; }, TW_CORRUPT,
       "step 'step_many': entry 'decode', wanted 'step' or 'encode'"},
      {[](auto &m) { m.levels[0]->steps[1]->entry = "encode"; }, TW_CORRUPT,
       "encodes, but there is no state of group 'source'"},
      {[](auto &m) {
         m.format_version = 2;
         m.generation = std::make_unique<artifact::GenerationT>();
         m.generation->bad_ids = {300};
       },
       TW_CORRUPT, "generation: id 300 of 300 tokens"},
      {[](auto &m) {
         m.format_version = 2;
         m.no_logits = true;
       },
       TW_CORRUPT, "a step without logits and outputs"},
      {[](auto &m) { m.levels.clear(); }, TW_CORRUPT, "no levels"},
      {[](auto &m) { m.levels[1]->name = "plain"; }, TW_CORRUPT, "level 'plain' stands there twice"},
      {[](auto &m) { m.levels[0]->steps.clear(); }, TW_CORRUPT, "level 'plain': no steps"},
      {[](auto &m) { m.levels[0]->steps[1]->min_rows = 3; }, TW_CORRUPT, "level 'plain': no step for 2 rows"},
      {[](auto &m) { m.levels[0]->steps[1]->max_rows = 9; }, TW_CORRUPT, "level 'plain': no step for 10 rows"},
      {[](auto &m) { m.levels[0]->steps[1]->max_rows = 1; }, TW_CORRUPT, "from 2 to 1 rows"},
      {[](auto &m) { m.levels[0]->steps[1]->query_tile = 0; }, TW_CORRUPT, "query_tile 0"},
      {[](auto &m) { m.levels[0]->steps[1]->row_multiple = 1u << 31; }, TW_CORRUPT, "row_multiple 2147483648"},
      {[](auto &m) {
         m.tokenizer = std::make_unique<artifact::TokenizerT>();
         m.tokenizer->kind = "gpt2";
         m.tokenizer->tokens = {"a", "b"};
         m.tokenizer->eos_id = 2;
       },
       TW_CORRUPT, "tokenizer: eos_id 2 of 2 tokens"},
      {[](auto &m) {
         m.tokenizer = std::make_unique<artifact::TokenizerT>();
         m.tokenizer->kind = "gpt2";
         m.tokenizer->tokens.resize(301);
       },
       TW_CORRUPT, "tokenizer: 301 tokens, the model has 300"},
      {[](auto &m) {
         m.tokenizer = std::make_unique<artifact::TokenizerT>();
         m.tokenizer->kind = "gpt2";
         m.tokenizer->tokens = {"a", "b"};
         m.tokenizer->token_types = {1};
       },
       TW_CORRUPT, "tokenizer: 2 tokens, 1 token types"},
  };
  for (const Case &c : cases)
    expectFailure(loadChanged(c.change), c.code, c.message);
}

TEST(Manifest, RefusesEveryTruncation) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  const std::vector<uint8_t> file = readFile(folder.path("model.so"));
  const auto section = findElfSection(file, TW_ABI_MANIFEST_SECTION, "model.so");
  EXPECT_NO_THROW(Manifest::parse(section, "model.so"));
  // Up to three bytes at the end are padding, which may be missing.
  for (size_t length = 0; length + 3 < section.size(); ++length)
    EXPECT_THROW(Manifest::parse(section.first(length), "model.so"), Error) << length;
  std::vector<uint8_t> nameless(section.begin(), section.end());
  nameless[5] ^= 1;
  EXPECT_THROW(Manifest::parse(nameless, "model.so"), Error);
  const std::vector<uint8_t> eight = {0x18, 0, 0, 0, 'T', 'W', 'A', '1'};
  EXPECT_THROW(Manifest::parse(eight, "model.so"), Error);
}

// Every word replaced by extremes: refused with an error, or a manifest whose every answer is within bounds.
TEST(Manifest, SurvivesEveryDamagedWord) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  const std::vector<uint8_t> file = readFile(folder.path("model.so"));
  const auto section = findElfSection(file, TW_ABI_MANIFEST_SECTION, "model.so");
  std::vector<uint8_t> odd(section.size() + 1); // a misaligned copy reads the same
  std::copy(section.begin(), section.end(), odd.begin() + 1);
  EXPECT_EQ(Manifest::parse(std::span(odd).subspan(1), "model.so")->vocab_size(), static_cast<uint32_t>(FAKE_VOCAB));
  size_t refused = 0, accepted = 0;
  for (size_t at = 0; at + 4 <= section.size(); at += 4)
    for (uint32_t word : {0u, 1u, 0x7fffffffu, 0xffffffffu}) {
      std::vector<uint8_t> bytes(section.begin(), section.end());
      std::memcpy(&bytes[at], &word, 4);
      try {
        const Manifest manifest = Manifest::parse(bytes, "model.so");
        EXPECT_GE(manifest.entries(), 1u);
        ++accepted;
      } catch (const Error &error) {
        EXPECT_NE(error.code(), TW_INTERNAL);
        ++refused;
      }
    }
  EXPECT_GT(refused, accepted);
}

// With the seal in place every flip is refused; with a fitting seal made afterwards, flips reach the verifiers, and
// what they let pass must be harmless: it loads.
TEST(Artifact, SurvivesBitFlips) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  const std::vector<uint8_t> good = readFile(folder.path("model.so"));
  const auto section = findElfSection(good, TW_ABI_MANIFEST_SECTION, "model.so");
  const size_t at = static_cast<size_t>(section.data() - good.data());
  std::mt19937 engine(7);
  size_t refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<uint8_t> bytes = good;
    bytes[at + engine() % section.size()] ^= static_cast<uint8_t>(1u << engine() % 8);
    std::filesystem::remove(folder.path("model.so"));
    writeFile(folder.path("model.so"), bytes);
    if (i < 200)
      expectFailure(load(folder.path()), TW_CORRUPT, "does not fit the hash in its seal");
    reseal(folder.path("model.so"));
    refused += load(folder.path()).code != TW_OK;
  }
  EXPECT_GT(refused, 300u);
  EXPECT_LT(refused, 1000u); // a flip in a name or an unused number is harmless
}

TEST(Artifact, SurvivesEveryTruncatedCodeFile) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  const std::vector<uint8_t> good = readFile(folder.path("model.so"));
  for (size_t length = 0; length + 1 < good.size(); length += 97) {
    writeFile(folder.path("model.so"), {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_EQ(load(folder.path()).code, TW_CORRUPT);
    EXPECT_THROW(findElfSection(std::span(good).first(length), TW_ABI_MANIFEST_SECTION, "model.so"), Error) << length;
  }
  writeFile(folder.path("model.so"), {good.begin(), good.end() - 1});
  EXPECT_EQ(load(folder.path()).code, TW_CORRUPT);
}

// A folder compiled anew while its older code is loaded: the new load must get the new code.
TEST(Artifact, LoadsNewCodeUnderAnOldName) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path());
  const auto older = Artifact::load(folder.path());
  writeFakeArtifact(folder.path(), {.code = "fake_model_rebuilt"});
  const auto newer = Artifact::load(folder.path());
  EXPECT_NE(older->entry(0), newer->entry(0));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtime halves of plugins: found, checked before their code runs, attached to the model; what is wrong with one is
// said. Policies draft and judge, and a text is the same with and without one.
#include "runtime/api/Generate.h"
#include "runtime/api/Handles.h"
#include "runtime/api/runtime_half.h"
#include "runtime/module/RuntimeHalf.h"
#include "tests/unit/runtime/fake/FakeModel.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

namespace fs = std::filesystem;
using namespace tilewright;
using namespace tilewright::testing;

namespace {

constexpr const char *kHalves = TILEWRIGHT_FAKE_HALVES;

/// The environment variable for as long as it lives.
class PluginPath {
public:
  explicit PluginPath(const std::string &value) { setenv("TILEWRIGHT_PLUGIN_PATH", value.c_str(), 1); }
  ~PluginPath() { unsetenv("TILEWRIGHT_PLUGIN_PATH"); }
};

std::function<void(artifact::ManifestT &)> needing(const std::string &name, const std::string &version,
                                                   bool half = true, uint64_t sources = 0) {
  return [=](artifact::ManifestT &manifest) {
    auto plugin = std::make_unique<artifact::PluginT>();
    plugin->name = name;
    plugin->version = version;
    plugin->runtime_half = half;
    plugin->runtime_half_sources = sources;
    manifest.plugins.push_back(std::move(plugin));
  };
}

/// Loads a model that needs the half; the status, with the message in tw_last_error().
tw_status loadNeeding(const std::string &name, const std::string &version = "1.2.3", bool half = true,
                      uint64_t sources = 0) {
  TemporaryFolder folder;
  writeFakeArtifact(folder.path(), {.change = needing(name, version, half, sources)});
  tw_model *model = nullptr;
  const tw_status status = tw_model_load(folder.path().c_str(), nullptr, &model);
  EXPECT_EQ(model == nullptr, status != TW_OK);
  tw_model_release(model);
  return status;
}

std::string copyOf(const TemporaryFolder &folder, const std::string &half, const std::string &as) {
  const std::string to = folder.path("libtilewright_" + as + "_rt.so");
  fs::copy_file(std::string(kHalves) + "/libtilewright_" + half + "_rt.so", to, fs::copy_options::overwrite_existing);
  return to;
}

void *symbolOf(const std::string &half, const char *name) {
  const std::string path = fs::canonical(std::string(kHalves) + "/libtilewright_" + half + "_rt.so").string();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return library ? dlsym(library, name) : nullptr;
}

} // namespace

TEST(RuntimeHalf, IsLoadedAndAttachedBeforeTheFirstStep) {
  PluginPath path(kHalves);
  EXPECT_EQ(symbolOf("fake", "attached_models"), nullptr) << "nobody has loaded it yet";
  {
    FakeModel model({}, {.change = needing("fake", "1.2.3")});
    const auto *attached = static_cast<const int *>(symbolOf("fake", "attached_models"));
    ASSERT_TRUE(attached);
    EXPECT_EQ(*attached, 1);
    // It has seen the model's description, which says that the half is needed.
    const auto description =
        nlohmann::json::parse(static_cast<const char *>(symbolOf("fake", "attached_description")), nullptr, false);
    const auto own = nlohmann::json::parse(tw_model_describe(model));
    EXPECT_EQ(own["plugins"][0], (nlohmann::json{{"name", "fake"}, {"version", "1.2.3"}, {"runtime_half", true}}));
    if (!description.is_discarded()) // its buffer may be too short for all of it
      EXPECT_EQ(description["vocabulary"], own["vocabulary"]);
    FakeModel second({}, {.change = needing("fake", "1.2.3")});
    EXPECT_EQ(*attached, 2);
  }
  EXPECT_EQ(*static_cast<const int *>(symbolOf("fake", "attached_models")), 0);
}

TEST(RuntimeHalf, IsNotLookedForWhereNoneIsNeeded) {
  PluginPath path("/nowhere");
  EXPECT_EQ(loadNeeding("fake", "1.2.3", /*half=*/false), TW_OK) << tw_last_error();
}

TEST(RuntimeHalf, EachFaultHasItsMessage) {
  const std::string halves = kHalves;
  struct Case {
    const char *plugin, *version;
    tw_status code;
    const char *message;
  };
  const std::vector<Case> cases = {
      {"absent", "1", TW_NOT_FOUND, "plugin 'absent': found no libtilewright_absent_rt.so in the plugin folders ("},
      {"../fake", "1.2.3", TW_INVALID, "plugin '../fake': wanted a name of lower-case letters, digits and underscores"},
      {"fake", "1.2.4", TW_INCOMPATIBLE,
       "_rt.so: found version 1.2.3, the model was compiled with version 1.2.4 of plugin 'fake'"},
      {"fake_api", "1.2.3", TW_INCOMPATIBLE, "found runtime-half API version 99, wanted 1; build the plugin"},
      {"fake_null", "1.2.3", TW_UNSUPPORTED,
       "tilewrightRuntimeHalf returned NULL: the plugin refuses to run in this process"},
      {"fake_without_entry", "1.2.3", TW_CORRUPT, "_rt.so: does not export tilewrightRuntimeHalf"},
      {"fake_short", "1.2.3", TW_INCOMPATIBLE, "returned a struct of 24 bytes and API version 1, wanted "},
      {"fake_table_name", "1.2.3", TW_INCOMPATIBLE,
       "its entry says 'somebody_else' 1.2.3, its note 'fake_table_name' 1.2.3"},
      {"fake_refuses", "1.2.3", TW_UNSUPPORTED, "_rt.so: this model is not to its taste"},
      {"fake_without_draft", "1.2.3", TW_INCOMPATIBLE, "its policy lacks policy_release or policy_draft"},
  };
  PluginPath path(halves);
  for (const Case &c : cases)
    expectError(loadNeeding(c.plugin, c.version), c.code, c.message);

  PluginPath relative("here");
  expectError(loadNeeding("fake"), TW_INVALID, "TILEWRIGHT_PLUGIN_PATH: found folder 'here', wanted absolute paths");
}

// The note says what a half is built from, and a model is refused one of the same version from other sources. Notes of
// before that was said are shorter.
TEST(RuntimeHalf, OtherSourcesAreRefusedUnlessTheUserWantsThem) {
  PluginPath path(kHalves);
  const uint64_t sources = sourcesOfRuntimeHalf("fake", kHalves);
  ASSERT_NE(sources, 0u);
  EXPECT_EQ(sourcesOfRuntimeHalf("absent", kHalves), 0u);
  EXPECT_EQ(loadNeeding("fake", "1.2.3", true, sources), TW_OK) << tw_last_error();
  const std::string refused = "_rt.so: found version 1.2.3 built from sources " + sourcesText(sources) +
                              ", the model was compiled with one built from " + sourcesText(sources + 1) + "; compile";
  expectError(loadNeeding("fake", "1.2.3", true, sources + 1), TW_INCOMPATIBLE, refused.c_str());
  setenv("TILEWRIGHT_OTHER_HALVES", "1", 1);
  EXPECT_EQ(loadNeeding("fake", "1.2.3", true, sources + 1), TW_OK) << tw_last_error();
  EXPECT_EQ(loadNeeding("fake", "1.2.4", true, sources), TW_INCOMPATIBLE) << "a version is another thing";
  unsetenv("TILEWRIGHT_OTHER_HALVES");

  TemporaryFolder folder;
  const std::string file = folder.path("libtilewright_fake_rt.so");
  std::vector<uint8_t> older = readFile(std::string(kHalves) + "/libtilewright_fake_rt.so");
  const uint8_t magic[] = TW_RT_NOTE_MAGIC;
  const auto descriptor = std::search(older.begin(), older.end(), std::begin(magic), std::end(magic));
  ASSERT_NE(descriptor, older.end());
  const uint32_t size = offsetof(tw_rt_note, descriptor.sources) - offsetof(tw_rt_note, descriptor);
  std::memcpy(&*descriptor + 8, &size, sizeof size);
  std::memcpy(&*descriptor - offsetof(tw_rt_note, descriptor) + offsetof(tw_rt_note, descriptor_bytes), &size,
              sizeof size);
  writeFile(file, older);
  PluginPath olderPath(folder.path());
  EXPECT_EQ(sourcesOfRuntimeHalf("fake", folder.path()), 0u);
  EXPECT_EQ(loadNeeding("fake"), TW_OK) << tw_last_error();
  expectError(loadNeeding("fake", "1.2.3", true, sources), TW_INCOMPATIBLE,
              "_rt.so: found version 1.2.3 built from sources that its note does not name, the model");
}

TEST(RuntimeHalf, FilesThatAreNone) {
  TemporaryFolder folder;
  PluginPath path(folder.path());
  const std::string file = copyOf(folder, "fake", "renamed");
  expectError(loadNeeding("renamed"), TW_INCOMPATIBLE, "found the half of plugin 'fake', wanted that of 'renamed'");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  expectError(loadNeeding("renamed"), TW_INVALID, "plugin file ");
  EXPECT_NE(std::string(tw_last_error()).find("found write permission for everybody"), std::string::npos);
  fs::remove(file);
  copyOf(folder, "fake", "fake");
  fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::add);
  expectError(loadNeeding("fake"), TW_INVALID, "plugin folder ");
  fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::remove);

  const std::string text = folder.path("libtilewright_text_rt.so");
  std::ofstream(text) << "This is no library, but it is long enough to be one: an ELF header has sixty-four bytes.";
  expectError(loadNeeding("text"), TW_CORRUPT, "is not an ELF file");
  fs::create_directory(folder.path("libtilewright_folder_rt.so"));
  EXPECT_EQ(loadNeeding("folder"), TW_IO) << tw_last_error();
  // A shared object that is no half.
  fs::copy_file(std::string(TILEWRIGHT_FAKE_MODELS) + "/fake_model.so", folder.path("libtilewright_model_rt.so"));
  expectError(loadNeeding("model"), TW_NOT_FOUND,
              "has no section .note.tilewright_rt, so it is no runtime half of a plugin");
}

// Cut off anywhere, a half is refused before any of it runs; so is one whose note has any byte changed that means
// something.
TEST(RuntimeHalf, DamagedFiles) {
  TemporaryFolder folder, artifact;
  PluginPath path(folder.path());
  const std::string file = folder.path("libtilewright_fake_rt.so");
  writeFakeArtifact(artifact.path(), {.change = needing("fake", "1.2.3")});
  auto status = [&] {
    tw_model *model = nullptr;
    const tw_status result = tw_model_load(artifact.path().c_str(), nullptr, &model);
    tw_model_release(model);
    return result;
  };
  const std::vector<uint8_t> good = readFile(std::string(kHalves) + "/libtilewright_fake_rt.so");
  for (size_t length = 0; length < good.size(); length += 97) {
    writeFile(file, {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_EQ(status(), TW_CORRUPT) << length << ": " << tw_last_error();
  }
  const uint8_t magic[] = TW_RT_NOTE_MAGIC;
  const auto found = std::search(good.begin(), good.end(), std::begin(magic), std::end(magic));
  ASSERT_NE(found, good.end());
  const size_t note = static_cast<size_t>(found - good.begin()) - offsetof(tw_rt_note, descriptor);
  const size_t nameEnd = offsetof(tw_rt_note, descriptor) + 16 + std::strlen("fake") + 1;
  for (size_t at = 0; at < nameEnd; ++at) {
    std::vector<uint8_t> bad = good;
    bad[note + at] ^= 0x55;
    writeFile(file, bad);
    const tw_status result = status();
    EXPECT_TRUE(result == TW_CORRUPT || result == TW_INCOMPATIBLE) << at << ": " << result << " " << tw_last_error();
  }
  // A name without an end.
  std::vector<uint8_t> endless = good;
  std::fill_n(endless.begin() + static_cast<std::ptrdiff_t>(note + offsetof(tw_rt_note, descriptor) + 16), 64, 'a');
  writeFile(file, endless);
  EXPECT_EQ(status(), TW_CORRUPT);
  EXPECT_NE(std::string(tw_last_error()).find("its note is damaged; build the plugin again"), std::string::npos);
  writeFile(file, good);
  EXPECT_EQ(status(), TW_OK) << tw_last_error();
}

// A policy is found by its name in the notes; files that are no halves are passed over.
TEST(RuntimeHalf, IsFoundByItsPolicy) {
  PluginPath path(kHalves);
  EXPECT_EQ(pluginOfPolicy("one"), "fake_verifies");
  for (const char *words : {"another", "another:", "another:4", "another,max=2", "another:a/folder,max=2"})
    EXPECT_EQ(pluginOfPolicy(words), "fake_verifies") << words;
  auto message = [](const char *policy) -> std::string {
    try {
      return pluginOfPolicy(policy);
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), TW_NOT_FOUND);
      return error.message();
    }
  };
  // Shipped halves may be there as well.
  const auto refused = [&](const std::string &policy) {
    return message(policy.c_str())
        .starts_with("policy '" + policy + "': found no plugin that has it; those in the plugin folders have ");
  };
  for (const char *none : {"on", "one another", "", "../one"})
    EXPECT_TRUE(refused(none)) << none;
  EXPECT_NE(message("on").find(" another, "), std::string::npos);
  EXPECT_EQ(message("on:one,one=1"), message("on"));
  TemporaryFolder folder;
  std::ofstream(folder.path("libtilewright_text_rt.so")) << "no library";
  PluginPath empty(folder.path());
  EXPECT_TRUE(refused("one"));
  copyOf(folder, "fake_verifies", "fake_verifies");
  EXPECT_EQ(pluginOfPolicy("one"), "fake_verifies");
}

// Whatever is drafted, and whoever judges it, the text is the one without a policy, and so is what the session holds.
TEST(DraftPolicy, LeavesTheTextAsItIs) {
  PluginPath path(kHalves);
  FakeModel model;
  const std::vector<int32_t> prompt = someTokens(9);
  for (double temperature : {0.0, 3e8}) { // the fake model's best logit is 1e9 above the others
    for (int64_t maxTokens : {1, 2, 40}) {
      GenerateOptions options;
      options.maxTokens = maxTokens;
      options.sampling.temperature = temperature;
      options.sampling.seed = 5;
      GenerateResult plain;
      FakeSession alone(model);
      ASSERT_TRUE(generate(model, alone, prompt, options, {}, plain).ok());
      for (const char *half : {"fake", "fake_verifies"})
        for (const char *kind : {"right", "wrong", "mixed", "none"})
          for (int64_t most : {0, 1, 4, 16}) {
            options.policy = half;
            options.policyOptions = kind;
            options.mostDrafted = most;
            FakeSession session(model);
            std::vector<int32_t> seen;
            GenerateResult result;
            const Outcome outcome = generate(
                model, session, prompt, options,
                [&](int32_t id, std::string_view) {
                  seen.push_back(id);
                  return true;
                },
                result);
            ASSERT_TRUE(outcome.ok()) << outcome.message;
            EXPECT_EQ(result.tokens, plain.tokens) << half << " " << kind << " " << most;
            EXPECT_EQ(seen, result.tokens);
            EXPECT_EQ(result.reason, StopReason::MaxTokens);
            EXPECT_EQ(session.length(), alone.length());
            EXPECT_EQ(result.decodedTokens, plain.decodedTokens);
            EXPECT_LE(result.acceptedTokens(), result.draftedTokens());
            EXPECT_EQ(result.acceptedTokens(), result.decodedTokens - result.decodeSteps) << "each step gives one more";
            if (temperature == 0 && !std::strcmp(kind, "wrong")) {
              EXPECT_EQ(result.acceptedTokens(), 0);
            }
            ASSERT_EQ(result.acceptedAt.size(), result.draftedAt.size());
            for (size_t i = 0; i < result.draftedAt.size(); ++i) {
              EXPECT_LE(result.acceptedAt[i], result.draftedAt[i]) << i;
              EXPECT_TRUE(i == 0 || result.acceptedAt[i] <= result.acceptedAt[i - 1]) << i;
            }
            if (temperature == 0 && !std::strcmp(kind, "right")) {
              EXPECT_EQ(result.acceptedTokens(), result.draftedTokens());
              EXPECT_EQ(result.decodeSteps, (plain.decodeSteps + most) / (most + 1)) << "a step for each draft";
            }
            // The session goes on as the other one does.
            ASSERT_EQ(session.step({7}), TW_OK);
            FakeSession again(model);
            ASSERT_TRUE(generate(
                            model, again, prompt,
                            [&] {
                              GenerateOptions o = options;
                              o.policy.clear();
                              return o;
                            }(),
                            {}, result)
                            .ok());
            ASSERT_EQ(again.step({7}), TW_OK);
            EXPECT_EQ(session.logits, again.logits);
          }
    }
  }
}

TEST(DraftPolicy, StopsWhereATextStops) {
  PluginPath path(kHalves);
  FakeModel model([](tw_model_options &o) { o.context = 30; });
  const std::vector<int32_t> prompt = someTokens(9);
  GenerateOptions options;
  options.maxTokens = 100;
  GenerateResult plain, result;
  FakeSession alone(model);
  ASSERT_TRUE(generate(model, alone, prompt, options, {}, plain).ok());
  ASSERT_EQ(plain.reason, StopReason::ContextFull);
  options.policy = "fake";
  options.policyOptions = "right";
  {
    FakeSession session(model);
    ASSERT_TRUE(generate(model, session, prompt, options, {}, result).ok());
    EXPECT_EQ(result.reason, StopReason::ContextFull);
    EXPECT_EQ(result.tokens, plain.tokens);
    EXPECT_EQ(session.length(), 30);
  }
  // An end token in the middle of a draft, at each place; a caller who has had enough.
  for (size_t i = 0; i < 12; ++i) {
    FakeSession session(model), other(model);
    options.stopIds = {plain.tokens[i]};
    ASSERT_TRUE(generate(model, session, prompt, options, {}, result).ok());
    EXPECT_EQ(result.reason, StopReason::EndToken);
    EXPECT_EQ(result.endToken, plain.tokens[i]);
    GenerateOptions without = options;
    without.policy.clear();
    GenerateResult expected;
    ASSERT_TRUE(generate(model, other, prompt, without, {}, expected).ok());
    EXPECT_EQ(result.tokens, expected.tokens);
    EXPECT_EQ(session.length(), other.length()) << i;
    options.stopIds.clear();
    ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
    size_t seen = 0;
    ASSERT_TRUE(
        generate(model, session, prompt, options, [&](int32_t, std::string_view) { return ++seen <= i; }, result).ok());
    EXPECT_EQ(result.reason, StopReason::Caller);
    EXPECT_EQ(result.tokens.size(), i + 1);
    EXPECT_EQ(session.length(), static_cast<int64_t>(9 + i));
  }
}

// Prompts around the end of the context, and a length that the text may not pass: with drafts of four and without.
TEST(DraftPolicy, NeverPassesTheContextNorTheLength) {
  PluginPath path(kHalves);
  for (const char *half : {"", "fake"}) {
    FakeModel model([](tw_model_options &o) { o.context = 16; });
    GenerateOptions options;
    options.policy = half;
    options.policyOptions = "right";
    options.mostDrafted = 4;
    options.maxTokens = 5;
    struct Case {
      size_t prompt;
      tw_status code;
      size_t tokens; ///< the last one needs no place in the context
      StopReason reason;
    };
    for (const Case &c : {Case{11, TW_OK, 5, StopReason::MaxTokens},
                          {13, TW_OK, 4, StopReason::ContextFull},
                          {15, TW_OK, 2, StopReason::ContextFull},
                          {16, TW_OK, 1, StopReason::ContextFull},
                          {17, TW_CONTEXT_FULL, 0, StopReason::MaxTokens}}) {
      FakeSession session(model);
      GenerateResult result;
      EXPECT_EQ(generate(model, session, someTokens(c.prompt), options, {}, result).code, c.code) << c.prompt;
      EXPECT_EQ(result.tokens.size(), c.tokens) << half << " " << c.prompt;
      EXPECT_LE(session.length(), 16);
      if (c.code == TW_OK) {
        EXPECT_EQ(result.reason, c.reason) << c.prompt;
      }
      // The session answers a shorter request.
      ASSERT_EQ(tw_session_truncate(session, 0), TW_OK);
      ASSERT_TRUE(generate(model, session, someTokens(3), options, {}, result).ok());
      EXPECT_EQ(result.tokens.size(), 5u);
    }
    for (int64_t length = 6; length <= 12; ++length) {
      FakeSession session(model);
      GenerateResult result;
      options.maxTokens = 100;
      options.maxLength = length;
      ASSERT_TRUE(generate(model, session, someTokens(6), options, {}, result).ok());
      EXPECT_EQ(result.tokens.size(), static_cast<size_t>(length - 6)) << half;
      EXPECT_EQ(result.reason, StopReason::MaxTokens);
    }
    FakeSession session(model);
    GenerateResult result;
    options.maxLength = 5;
    EXPECT_EQ(generate(model, session, someTokens(6), options, {}, result).message,
              "the prompt ends at token 6, behind the max-length of 5");
    EXPECT_EQ(session.length(), 0);
    options.maxLength = -1;
    EXPECT_EQ(generate(model, session, someTokens(6), options, {}, result).message, "max-length -1, wanted 0 or more");
  }
}

TEST(DraftPolicy, EachFaultHasItsMessage) {
  PluginPath path(kHalves);
  FakeModel model;
  auto failure = [&](const char *half, const char *kind) {
    FakeSession session(model);
    GenerateOptions options;
    options.policy = half;
    options.policyOptions = kind;
    GenerateResult result;
    return generate(model, session, someTokens(5), options, {}, result);
  };
  struct Case {
    const char *half, *kind;
    tw_status code;
    const char *message;
  };
  const std::vector<Case> cases = {
      {"absent", "", TW_NOT_FOUND, "found no libtilewright_absent_rt.so"},
      {"fake_without_policy", "right", TW_UNSUPPORTED, "has no policy that drafts tokens"},
      {"fake", "", TW_INVALID, "_rt.so: policy: unknown kind ''"},
      {"fake", "fails", TW_EXHAUSTED, "_rt.so: policy_draft: status 6"},
      {"fake", "gives up", TW_EXHAUSTED, "_rt.so: policy_draft: had enough after 6 tokens"},
      {"fake", "too many", TW_INTERNAL, "policy_draft made 17 tokens, wanted at most 16"},
      {"fake", "outside", TW_INTERNAL, "policy_draft made token 300, wanted 0 to 299"},
      {"fake_verifies", "too far", TW_INTERNAL, "policy_verify accepted 17 of 16 tokens and chose token 0 of 300"},
  };
  for (const Case &c : cases) {
    const Outcome outcome = failure(c.half, c.kind);
    EXPECT_EQ(outcome.code, c.code) << outcome.message;
    EXPECT_NE(outcome.message.find(c.message), std::string::npos) << outcome.message;
  }
  FakeSession session(model);
  GenerateOptions options;
  options.mostDrafted = -1;
  GenerateResult result;
  EXPECT_EQ(generate(model, session, someTokens(5), options, {}, result).message,
            "drafted tokens -1, wanted 0 or more");
}

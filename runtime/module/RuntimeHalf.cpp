// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/RuntimeHalf.h"

#include "runtime/api/Error.h"
#include "runtime/module/ElfFile.h"
#include "runtime/module/FileBytes.h"
#include "runtime/module/PluginFolders.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <set>
#include <sstream>
#include <vector>

namespace tilewright {
namespace {

#define TW_RT_TEXT_(x) #x
#define TW_RT_TEXT(x) TW_RT_TEXT_(x)
constexpr const char *kEntry = TW_RT_TEXT(TW_RT_ENTRY);

constexpr char kMagic[8] = TW_RT_NOTE_MAGIC;
constexpr char kOwner[sizeof tw_rt_note::owner] = TW_RT_NOTE_OWNER;

std::string versionText(uint32_t version) { return std::to_string(version); }

/// The note of a half, found right. Throws Error: IO, CORRUPT, INCOMPATIBLE, NOT_FOUND.
tw_rt_note noteOf(const std::string &file) {
  const FileBytes bytes = FileBytes::map(file);
  const std::span<const uint8_t> section =
      findElfSection(bytes.bytes(), TW_RT_NOTE_SECTION, file, "runtime half of a plugin");
  tw_rt_note note = {};
  // What every half of this API version has; the rest was appended.
  constexpr size_t kLeast = offsetof(tw_rt_note, descriptor.sources);
  if (section.size() < kLeast)
    throw Error(TW_CORRUPT,
                file + ": its note has " + std::to_string(section.size()) + " bytes, wanted " + std::to_string(kLeast));
  std::memcpy(&note, section.data(), std::min(section.size(), sizeof note));
  auto &d = note.descriptor;
  const auto ended = [](const auto &text) { return std::memchr(text, 0, sizeof text) != nullptr; };
  if (note.owner_bytes != sizeof TW_RT_NOTE_OWNER || std::memcmp(note.owner, kOwner, sizeof kOwner) ||
      note.type != TW_RT_NOTE_TYPE || std::memcmp(d.magic, kMagic, sizeof kMagic) || note.descriptor_bytes != d.size ||
      d.size < kLeast - offsetof(tw_rt_note, descriptor) || !ended(d.name) || !ended(d.version) || !ended(d.policies))
    throw Error(TW_CORRUPT, file + ": its note is damaged; build the plugin again");
  if (d.api_version != TW_RT_API_VERSION)
    throw Error(TW_INCOMPATIBLE, file + ": found runtime-half API version " + versionText(d.api_version) + ", wanted " +
                                     versionText(TW_RT_API_VERSION) + "; build the plugin for this Tilewright");
  if (d.size < sizeof d)
    d.sources = 0;
  return note;
}

/// The user knows better.
bool otherHalvesPass() {
  const char *set = std::getenv("TILEWRIGHT_OTHER_HALVES");
  return set && std::strcmp(set, "1") == 0;
}

std::vector<std::string> wordsOf(const char *text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

} // namespace

void throwHalfError(const std::string &where, tw_status status, const char *text) {
  // A half's number is not trusted to be one of the enumeration.
  const bool known = status > TW_OK && status <= TW_INTERNAL;
  throw Error(known ? status : TW_INTERNAL,
              where + ": " + (*text ? text : std::string("status ") + std::to_string(static_cast<int>(status))));
}

std::string pluginOfPolicy(const std::string &words) {
  const std::string policy = words.substr(0, words.find_first_of(":,"));
  std::set<std::string> known;
  for (const std::string &file : runtimeHalves(pluginFolders())) {
    try {
      const tw_rt_note note = noteOf(file);
      for (const std::string &word : wordsOf(note.descriptor.policies)) {
        if (word == policy)
          return note.descriptor.name;
        known.insert(word);
      }
    } catch (const Error &) { // another plugin's fault is told when that one is wanted
    }
  }
  std::string list;
  for (const std::string &word : known)
    list += (list.empty() ? "" : ", ") + word;
  throw Error(TW_NOT_FOUND, "policy '" + policy + "': found no plugin that has it; those in the plugin folders have " +
                                (list.empty() ? "none" : list));
}

std::string sourcesText(uint64_t sources) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, sources);
  return text;
}

uint64_t sourcesOfRuntimeHalf(const std::string &plugin, const std::string &folder) {
  try {
    return noteOf(findRuntimeHalf(plugin, {folder})).descriptor.sources;
  } catch (const Error &error) {
    if (error.code() != TW_NOT_FOUND)
      throw;
    return 0;
  }
}

std::unique_ptr<RuntimeHalf> RuntimeHalf::load(const std::string &plugin, const std::string &version, uint64_t sources,
                                               const std::string &description) {
  std::unique_ptr<RuntimeHalf> half(new RuntimeHalf());
  half->file = findRuntimeHalf(plugin, pluginFolders());
  half->readNote(plugin, version, sources);
  half->open();
  half->attach(description);
  return half;
}

void RuntimeHalf::readNote(const std::string &plugin, const std::string &version, uint64_t sources) {
  const tw_rt_note note = noteOf(file);
  const auto &d = note.descriptor;
  if (plugin != d.name)
    throw Error(TW_INCOMPATIBLE, file + ": found the half of plugin '" + d.name + "', wanted that of '" + plugin +
                                     "'; was the file renamed?");
  if (!version.empty() && version != d.version)
    throw Error(TW_INCOMPATIBLE, file + ": found version " + d.version + ", the model was compiled with version " +
                                     version + " of plugin '" + plugin + "'; compile it again or install that version");
  if (sources != 0 && sources != d.sources && !otherHalvesPass())
    throw Error(TW_INCOMPATIBLE, file + ": found version " + d.version + " built from sources " +
                                     (d.sources ? sourcesText(d.sources) : "that its note does not name") +
                                     ", the model was compiled with one built from " + sourcesText(sources) +
                                     "; compile it again, install that build of plugin '" + plugin +
                                     "', or set TILEWRIGHT_OTHER_HALVES=1");
  pluginName = d.name;
  pluginVersion = d.version;
}

void RuntimeHalf::open() {
  // Never closed: what it gave out may live as long as the process.
  void *library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = ::dlerror();
    throw Error(TW_CORRUPT, file + ": cannot be loaded: " + (reason ? reason : "unknown reason"));
  }
  const auto entry = reinterpret_cast<tw_rt_entry>(::dlsym(library, kEntry));
  if (!entry)
    throw Error(TW_CORRUPT, file + ": does not export " + kEntry);
  const tw_rt_half *given = entry();
  if (!given)
    throw Error(TW_UNSUPPORTED, file + ": " + kEntry + " returned NULL: the plugin refuses to run in this process");
  if (given->size < sizeof half || given->api_version != TW_RT_API_VERSION)
    throw Error(TW_INCOMPATIBLE, file + ": " + kEntry + " returned a struct of " + std::to_string(given->size) +
                                     " bytes and API version " + versionText(given->api_version) + ", wanted " +
                                     std::to_string(sizeof half) + " and " + versionText(TW_RT_API_VERSION));
  std::memcpy(&half, given, sizeof half);
  const std::string name = half.name ? half.name : "", version = half.version ? half.version : "";
  if (name != pluginName || version != pluginVersion)
    throw Error(TW_INCOMPATIBLE, file + ": its entry says '" + name + "' " + version + ", its note '" + pluginName +
                                     "' " + pluginVersion);
  if (half.policy_create && (!half.policy_release || !half.policy_draft))
    throw Error(TW_INCOMPATIBLE, file + ": its policy lacks policy_release or policy_draft");
}

void RuntimeHalf::attach(const std::string &description) {
  if (half.attach)
    checkHalf(file, [&](tw_rt_message *message) {
      return half.attach(&runtimeHalfHost(), description.c_str(), &attached, message);
    });
}

RuntimeHalf::~RuntimeHalf() {
  if (attached && half.detach)
    half.detach(attached);
}

const tw_rt_host &runtimeHalfHost() {
  static const tw_rt_host host = {sizeof host,
                                  TW_RT_API_VERSION,
                                  tw_last_error,
                                  tw_model_load,
                                  tw_model_release,
                                  tw_model_vocab_size,
                                  tw_model_context,
                                  tw_model_describe,
                                  tw_session_create,
                                  tw_session_release,
                                  tw_session_length,
                                  tw_session_truncate,
                                  tw_step,
                                  tw_tokenize,
                                  tw_detokenize,
                                  tw_token_text,
                                  tw_model_output_count,
                                  tw_model_output_name,
                                  tw_model_output_size,
                                  tw_session_set_rollback};
  return host;
}

} // namespace tilewright

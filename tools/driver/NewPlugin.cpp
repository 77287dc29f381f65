// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright plugins new`: the template under another name.
#include "tools/driver/Commands.h"
#include "tools/driver/Diagnostics.h"
#include "tools/driver/Session.h"

#include "frontend/graph/AtomicFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilewright::driver {

// The name of the template's plugin; it occurs in no other sense there.
static constexpr StringLiteral templateName = "my_technique";
static constexpr size_t longestName = 48;

/// Words of C++ that would be a namespace's name.
static constexpr StringLiteral keywords[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",           "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",         "char",         "char8_t",
    "char16_t",    "char32_t", "class",      "co_await",  "co_return",     "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr",     "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",        "else",         "enum",
    "explicit",    "export",   "extern",     "false",     "float",         "for",          "friend",
    "goto",        "if",       "inline",     "int",       "long",          "mutable",      "namespace",
    "new",         "noexcept", "not",        "not_eq",    "nullptr",       "operator",     "or",
    "or_eq",       "private",  "protected",  "public",    "register",      "requires",     "return",
    "short",       "signed",   "sizeof",     "static",    "static_assert", "static_cast",  "struct",
    "switch",      "template", "this",       "throw",     "true",          "try",          "typedef",
    "typeid",      "typename", "union",      "unsigned",  "using",         "virtual",      "void",
    "volatile",    "wchar_t",  "while",      "xor",       "xor_eq",        "dynamic_cast", "reinterpret_cast",
    "thread_local"};

/// Names that what ODS generates calls without a namespace, and a macro.
static constexpr StringLiteral generatedWords[] = {"failed", "errno"};

/// tilewright_NAME is a library or another target of Tilewright itself.
static constexpr StringLiteral ownParts[] = {
    "backend_api", "conformance",   "cpu",     "cuda",     "driver",       "driver_text", "files",   "functions",
    "graph",       "headers",       "host",    "import",   "interfaces",   "ir",          "options", "passes",
    "pch",         "plugin_loader", "plugins", "progress", "ptx_emulator", "reference",   "runtime", "runtime_objects",
    "safetensors", "translate"};

/// my_technique as "MyTechnique".
static std::string camelCase(StringRef name) {
  std::string camel;
  for (StringRef word : split(name, '_'))
    camel += toUpper(word.front()) + word.drop_front().str();
  return camel;
}

static std::string replaceAll(std::string text, StringRef from, StringRef to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// The text with the template's name in each of its spellings replaced.
static std::string renamed(std::string text, StringRef name) {
  std::pair<std::string, std::string> spellings[] = {
      {templateName.str(), name.str()},
      {replaceAll(templateName.str(), "_", "-"), replaceAll(name.str(), "_", "-")},
      {templateName.upper(), name.upper()},
      {camelCase(templateName), camelCase(name)}};
  for (const auto &[from, to] : spellings)
    text = replaceAll(std::move(text), from, to);
  return text;
}

static Error checkName(StringRef name) {
  auto fault = [&](const Twine &why) { return createStringError("plugin name '" + name + "': " + why); };
  if (!Regex("^[a-z][a-z0-9]*(_[a-z0-9]+)*$").match(name))
    return fault("wanted snake_case: words of lower-case letters and digits joined by '_', a letter first");
  if (name.size() > longestName)
    return fault("found " + Twine(name.size()) + " characters, wanted at most " + Twine(longestName));
  if (is_contained(keywords, name))
    return fault("is a word of C++, and a plugin's classes live in a namespace of its name; choose another");
  if (name.ends_with("_t"))
    return fault(
        "ends in _t, as types of C do, and a plugin's classes live in a namespace of its name; choose another");
  if (name.ends_with("_rt"))
    return fault("ends in _rt, which marks the runtime half of a plugin; choose another");
  if (is_contained(ownParts, name))
    return fault("tilewright_" + name + " is a part of Tilewright itself; choose another");
  return Error::success();
}

/// What stands in C++ besides comments and strings.
static std::string withoutTexts(StringRef code) {
  std::string kept;
  for (StringRef line : split(code, '\n')) {
    bool quoted = false;
    for (; !line.empty() && (quoted || !line.starts_with("//")); line = line.drop_front())
      if (line.front() == '"')
        quoted = !quoted;
      else if (!quoted)
        kept += line.front();
    kept += '\n';
  }
  return kept;
}

/// Whether `word` stands in `code` by itself.
static bool hasWord(StringRef code, StringRef word) {
  const auto isPart = [&](size_t at) { return at < code.size() && (isAlnum(code[at]) || code[at] == '_'); };
  for (size_t at = code.find(word); at != StringRef::npos; at = code.find(word, at + 1))
    if (!isPart(at - 1) && !isPart(at + word.size()))
      return true;
  return false;
}

/// The code that a plugin begins with means something else by this name: a namespace of that name would hide it. Nor is
/// another of its files called so.
static Error checkTemplate(StringRef name, StringRef from) {
  if (name == templateName)
    return Error::success();
  const auto fault = [&](const Twine &what) {
    return createStringError("plugin name '" + name + "': " + what + "; choose another");
  };
  bool generated = is_contained(generatedWords, name);
  std::error_code error;
  for (sys::fs::recursive_directory_iterator it(from, error), end; it != end && !error; it.increment(error)) {
    const StringRef extension = sys::path::extension(it->path());
    if (extension != ".cpp" && extension != ".h")
      continue;
    if (sys::path::stem(it->path()) == camelCase(name))
      return fault("its sources would be called as " + sys::path::filename(it->path()) +
                   ", which every plugin begins with");
    auto text = MemoryBuffer::getFile(it->path());
    if (!text)
      return createStringError(it->path() + ": " + text.getError().message());
    generated |= hasWord(withoutTexts((*text)->getBuffer()), name);
  }
  if (generated)
    return fault("the code that every plugin begins with uses this name, and a plugin's classes live in a namespace of "
                 "its name");
  return Error::success();
}

/// No dialect or plugin that is there already has this name.
static Error checkFree(StringRef name, Host &host) {
  for (const LoadedPlugin &plugin : host.plugins.loaded())
    if (plugin.note.name == name || is_contained(plugin.dialects, name))
      return createStringError("plugin name '" + name + "': is taken by " + plugin.path + "; choose another");
  if (is_contained(host.dialects.getDialectNames(), name))
    return createStringError("plugin name '" + name +
                             "': is that of a dialect that every model may use; choose another");
  return Error::success();
}

static Error checkFolder(StringRef folder) {
  sys::fs::file_status status;
  if (sys::fs::status(folder, status))
    return Error::success(); // not there
  if (!sys::fs::is_directory(status))
    return createStringError(folder + ": found a file, wanted a folder that is absent or empty");
  std::error_code error;
  sys::fs::directory_iterator first(folder, error);
  if (error)
    return createStringError(folder + ": " + error.message());
  if (first != sys::fs::directory_iterator())
    return createStringError(folder + ": found a folder with files in it, wanted one that is absent or empty");
  return Error::success();
}

/// Copies the files below `from`; returns how many.
static Expected<unsigned> copyRenamed(StringRef from, StringRef to, StringRef name) {
  unsigned count = 0;
  std::error_code error;
  for (sys::fs::recursive_directory_iterator it(from, error), end; it != end && !error; it.increment(error)) {
    if (!sys::fs::is_regular_file(it->path()))
      continue;
    auto text = MemoryBuffer::getFile(it->path());
    if (!text)
      return createStringError(it->path() + ": " + text.getError().message());
    SmallString<256> target(to);
    sys::path::append(target, renamed(it->path().substr(from.size()), name));
    if (std::error_code failed = sys::fs::create_directories(sys::path::parent_path(target)))
      return createStringError(sys::path::parent_path(target) + ": " + failed.message());
    if (Error failed = writeFileAtomically(target.str().str(), [&](raw_pwrite_stream &out) {
          out << renamed((*text)->getBuffer().str(), name);
          return Error::success();
        }))
      return std::move(failed);
    ++count;
  }
  if (error)
    return createStringError(from + ": " + error.message());
  if (count == 0)
    return createStringError(from + ": found no template, wanted the one that is installed with this program");
  return count;
}

int newPlugin(const NewPluginOptions &options) {
  if (int code = report(checkName(options.name), Usage))
    return code;
  Session session({});
  if (session.status() != Success)
    return session.status();
  if (int code = report(checkFree(options.name, session.host()), Usage))
    return code;
  std::string folder = options.folder.empty() ? options.name : options.folder;
  if (int code = report(checkFolder(folder), Usage))
    return code;
  SmallString<256> source(sys::path::parent_path(sys::path::parent_path(executablePath())));
  sys::path::append(source, "share", "tilewright", "template");
  if (int code = report(checkTemplate(options.name, source), Usage))
    return code;
  Expected<unsigned> count = copyRenamed(source, folder, options.name);
  if (!count)
    return report(count.takeError(), WorkFailed);
  outs() << folder << ": " << *count << " files of plugin " << options.name << "\n"
         << "  cmake -B build && cmake --build build && ctest --test-dir build\n";
  return Success;
}

} // namespace tilewright::driver

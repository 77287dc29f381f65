// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/api/Note.h"

#include "plugins/api/PluginNote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

namespace tilewright {

namespace {
using ElfFile = llvm::object::ELFFile<llvm::object::ELF64LE>;

#if defined(__x86_64__)
constexpr uint16_t hostMachine = llvm::ELF::EM_X86_64;
constexpr llvm::StringLiteral hostMachineName = "x86-64";
#elif defined(__aarch64__)
constexpr uint16_t hostMachine = llvm::ELF::EM_AARCH64;
constexpr llvm::StringLiteral hostMachineName = "AArch64";
#else
#error "no plugin format for this machine"
#endif

constexpr llvm::StringLiteral rebuild = "rebuild the plugin with add_tilewright_plugin of this Tilewright";

/// "FILE: found X, wanted Y; what to do".
llvm::Error fault(llvm::StringRef path, const llvm::Twine &found, const llvm::Twine &wanted,
                  const llvm::Twine &remedy) {
  return llvm::createStringError("plugin " + path + ": found " + found + ", wanted " + wanted + "; " + remedy);
}

llvm::Error damaged(llvm::StringRef path, llvm::Error cause) {
  return fault(path, "a damaged ELF file (" + llvm::toString(std::move(cause)) + ")", "a complete shared library",
               "build or copy it again");
}

std::string machineName(uint16_t machine) {
  switch (machine) {
  case llvm::ELF::EM_X86_64:
    return "x86-64";
  case llvm::ELF::EM_AARCH64:
    return "AArch64";
  case llvm::ELF::EM_RISCV:
    return "RISC-V";
  default:
    return "ELF machine " + std::to_string(machine);
  }
}

/// The file's bytes, if it is a readable regular file that begins like an ELF file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readElf(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return fault(path, error.message(), "a readable plugin library", "check the name and the search path");
  if (llvm::sys::fs::is_directory(status))
    return fault(path, "a directory", "a plugin library", "name a libtilewright_<name>.so in it");
  if (!llvm::sys::fs::is_regular_file(status))
    return fault(path, "something that is not a regular file", "a plugin library", "name a libtilewright_<name>.so");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fault(path, buffer.getError().message(), "a readable plugin library", "check the file's permissions");
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (bytes.empty())
    return fault(path, "an empty file", "a plugin library (ELF)", "build or copy it again");
  if (!bytes.starts_with("\x7f"
                         "ELF")) {
    llvm::StringRef start = bytes.take_front(16);
    bool text = llvm::all_of(start, [](unsigned char c) { return llvm::isPrint(c) || llvm::isSpace(c); });
    return fault(path,
                 text ? "a text file that begins with '" + start.split('\n').first + "'"
                      : llvm::Twine("a file that begins with bytes ") + llvm::toHex(start.take_front(4)),
                 "a plugin library (ELF)", "name a libtilewright_<name>.so");
  }
  return std::move(*buffer);
}

llvm::Expected<ElfFile> openElf(llvm::StringRef path, llvm::StringRef bytes) {
  if (bytes.size() < sizeof(ElfFile::Elf_Ehdr))
    return fault(path, std::to_string(bytes.size()) + " bytes of an ELF file", "a complete shared library",
                 "build or copy it again");
  if (bytes[llvm::ELF::EI_CLASS] != llvm::ELF::ELFCLASS64 || bytes[llvm::ELF::EI_DATA] != llvm::ELF::ELFDATA2LSB)
    return fault(path, "a 32-bit or big-endian ELF file", "64-bit " + hostMachineName,
                 "use the plugin built for this machine");
  llvm::Expected<ElfFile> file = ElfFile::create(bytes);
  if (!file)
    return damaged(path, file.takeError());
  const ElfFile::Elf_Ehdr &header = file->getHeader();
  if (header.e_machine != hostMachine)
    return fault(path, "a library for " + machineName(header.e_machine), hostMachineName,
                 "use the plugin built for this machine");
  if (header.e_type != llvm::ELF::ET_DYN)
    return fault(path, "an ELF file of type " + std::to_string(header.e_type), "a shared library (type 3)",
                 "name a libtilewright_<name>.so");
  return *file;
}

/// The bytes of the note section; empty when there is none.
llvm::Expected<llvm::ArrayRef<uint8_t>> noteSection(llvm::StringRef path, const ElfFile &file) {
  auto sections = file.sections();
  if (!sections)
    return damaged(path, sections.takeError());
  for (const ElfFile::Elf_Shdr &section : *sections) {
    auto name = file.getSectionName(section);
    if (!name)
      return damaged(path, name.takeError());
    if (*name != note::sectionName)
      continue;
    auto contents = file.getSectionContents(section);
    if (!contents)
      return damaged(path, contents.takeError());
    return *contents;
  }
  return llvm::ArrayRef<uint8_t>();
}

/// Names of the libraries the file needs (DT_NEEDED).
llvm::Expected<std::vector<std::string>> neededLibraries(llvm::StringRef path, const ElfFile &file,
                                                         llvm::StringRef bytes) {
  auto entries = file.dynamicEntries();
  if (!entries)
    return damaged(path, entries.takeError());
  const char *strings = nullptr;
  uint64_t stringBytes = 0;
  std::vector<uint64_t> offsets;
  for (const auto &entry : *entries) {
    if (entry.getTag() == llvm::ELF::DT_STRTAB) {
      auto address = file.toMappedAddr(entry.getPtr());
      if (!address)
        return damaged(path, address.takeError());
      strings = reinterpret_cast<const char *>(*address);
    } else if (entry.getTag() == llvm::ELF::DT_STRSZ) {
      stringBytes = entry.getVal();
    } else if (entry.getTag() == llvm::ELF::DT_NEEDED) {
      offsets.push_back(entry.getVal());
    }
  }
  std::vector<std::string> names;
  if (offsets.empty())
    return names;
  if (!strings || strings < bytes.begin() || stringBytes > size_t(bytes.end() - strings))
    return damaged(path, llvm::createStringError("its dynamic string table lies outside the file"));
  llvm::StringRef table(strings, stringBytes);
  for (uint64_t offset : offsets) {
    if (offset >= table.size())
      return damaged(path, llvm::createStringError("a needed library's name lies outside the string table"));
    names.push_back(table.drop_front(offset).split('\0').first.str());
  }
  return names;
}

/// A symbol of MLIR that the file defines itself, which only a static copy brings along; empty when there is none.
llvm::Expected<std::string> ownMlirSymbol(llvm::StringRef path, const ElfFile &file) {
  auto sections = file.sections();
  if (!sections)
    return damaged(path, sections.takeError());
  for (const ElfFile::Elf_Shdr &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_DYNSYM && section.sh_type != llvm::ELF::SHT_SYMTAB)
      continue;
    auto symbols = file.symbols(&section);
    if (!symbols)
      return damaged(path, symbols.takeError());
    auto strings = file.getStringTableForSymtab(section, *sections);
    if (!strings)
      return damaged(path, strings.takeError());
    for (const ElfFile::Elf_Sym &symbol : *symbols) {
      if (symbol.isUndefined())
        continue;
      auto name = symbol.getName(*strings);
      if (!name)
        return damaged(path, name.takeError());
      if (name->starts_with("_ZN4mlir11MLIRContextC"))
        return name->str();
    }
  }
  return std::string();
}

template <size_t N> llvm::StringRef fieldText(const char (&field)[N]) {
  return llvm::StringRef(field, N).split('\0').first;
}

std::vector<std::string> words(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::SplitString(text, parts);
  return {parts.begin(), parts.end()};
}

bool isPluginName(llvm::StringRef name) {
  return !name.empty() && llvm::isAlpha(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isLower(c) || llvm::isDigit(c) || c == '_'; });
}
} // namespace

llvm::Expected<PluginNote> readPluginNote(llvm::StringRef path) {
  auto buffer = readElf(path);
  if (!buffer)
    return buffer.takeError();
  llvm::StringRef bytes = (*buffer)->getBuffer();
  auto file = openElf(path, bytes);
  if (!file)
    return file.takeError();
  auto contents = noteSection(path, *file);
  if (!contents)
    return contents.takeError();
  if (contents->empty())
    return fault(path, llvm::Twine("no section ") + note::sectionName, "a Tilewright plugin's note",
                 "write TILEWRIGHT_PLUGIN_NOTE in one of its sources, or name another file");

  // Everything before the struct layouts keeps its place in every version of the note.
  constexpr size_t fixedBytes = offsetof(note::Section, descriptor) + offsetof(note::Descriptor, llvmVersion);
  if (contents->size() < fixedBytes)
    return fault(path, "a note of " + std::to_string(contents->size()) + " bytes",
                 std::to_string(sizeof(note::Section)) + " bytes", rebuild);
  note::Section section = {};
  std::memcpy(&section, contents->data(), std::min(contents->size(), sizeof(section)));
  const note::Descriptor &d = section.descriptor;
  if (std::memcmp(d.magic, note::magic, sizeof(d.magic)) != 0)
    return fault(path, "note magic " + llvm::toHex(llvm::StringRef(d.magic, sizeof(d.magic))),
                 llvm::toHex(llvm::StringRef(note::magic, sizeof(note::magic))), rebuild);
  if (d.formatVersion != note::formatVersion)
    return fault(path, "note format " + std::to_string(d.formatVersion), std::to_string(note::formatVersion), rebuild);
  if (d.apiVersion != TILEWRIGHT_PLUGIN_API_VERSION)
    return fault(path, "plugin API version " + std::to_string(d.apiVersion),
                 std::to_string(TILEWRIGHT_PLUGIN_API_VERSION), rebuild);
  if (d.structCount != note::layoutCount || d.descriptorBytes != sizeof(note::Descriptor) ||
      contents->size() < sizeof(note::Section))
    return fault(path,
                 std::to_string(d.structCount) + " struct layouts in a note of " + std::to_string(contents->size()) +
                     " bytes",
                 std::to_string(note::layoutCount) + " in " + std::to_string(sizeof(note::Section)), rebuild);
  if (fieldText(d.llvmVersion) != LLVM_VERSION_STRING)
    return fault(path, "LLVM " + fieldText(d.llvmVersion), llvm::Twine("LLVM ") + LLVM_VERSION_STRING, rebuild);
  if (fieldText(d.cxxAbi) != TILEWRIGHT_CXX_ABI)
    return fault(path, "C++ ABI " + fieldText(d.cxxAbi), TILEWRIGHT_CXX_ABI, rebuild);
  for (size_t i = 0; i < note::layoutCount; ++i) {
    llvm::StringRef wanted = fieldText(note::structLayouts[i].name);
    if (fieldText(d.structs[i].name) != wanted)
      return fault(path,
                   "struct '" + fieldText(d.structs[i].name) + "' as number " + std::to_string(i) + " of its note",
                   "'" + wanted + "'", rebuild);
    if (d.structs[i].hash != note::structLayouts[i].hash)
      return fault(path, llvm::formatv("struct '{0}' with layout {1:x16}", wanted, d.structs[i].hash).str(),
                   llvm::formatv("layout {0:x16}", note::structLayouts[i].hash).str(), rebuild);
  }
  if (!isPluginName(fieldText(d.name)))
    return fault(path, "plugin name '" + fieldText(d.name) + "'", "lower-case letters, digits and underscores",
                 "rename the plugin");

  auto needed = neededLibraries(path, *file, bytes);
  if (!needed)
    return needed.takeError();
  std::string library = llvm::formatv("libMLIR.so.{0}.{1}", LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR).str();
  if (!llvm::is_contained(*needed, library))
    return fault(path, "no " + library + " among the libraries it needs (" + llvm::join(*needed, ", ") + ")",
                 "the shared MLIR that the host uses; a second, static copy has its own type ids",
                 "link it with add_tilewright_plugin");
  auto own = ownMlirSymbol(path, *file);
  if (!own)
    return own.takeError();
  if (!own->empty())
    return fault(path, "MLIR's own code inside (" + *own + ")",
                 "the shared MLIR that the host uses; a second, static copy has its own type ids",
                 "link no libMLIR*.a, and add_tilewright_plugin does the rest");

  PluginNote result;
  result.name = fieldText(d.name);
  result.version = fieldText(d.version);
  result.required = words(fieldText(d.requires_));
  result.provides = words(fieldText(d.provides));
  for (const std::string &provision : result.provides) {
    auto [kind, name] = llvm::StringRef(provision).split(':');
    constexpr llvm::StringLiteral kinds[] = {"dialect", "pass", "storage"};
    if (name.empty() || (!llvm::is_contained(kinds, kind) && provision != "runtime:" + result.name))
      return fault(path, "'" + provision + "' among what it provides",
                   "dialect:NAME, pass:FLAG, storage:TYPE or runtime:" + result.name, "correct TILEWRIGHT_PLUGIN_NOTE");
  }
  return result;
}

bool PluginNote::hasRuntimeHalf() const { return llvm::is_contained(provides, "runtime:" + name); }

} // namespace tilewright

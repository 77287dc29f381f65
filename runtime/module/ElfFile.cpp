// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/ElfFile.h"

#include "runtime/api/Error.h"

#include <cstring>
#include <elf.h>

namespace tilewright {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr const char *kMachineName = "x86-64";
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr const char *kMachineName = "AArch64";
#else
#error "no machine number known for this architecture"
#endif

std::string machineName(uint16_t machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "AArch64";
  }
  return "machine " + std::to_string(machine);
}

template <typename T> T readAt(std::span<const uint8_t> file, uint64_t offset) {
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

bool inside(std::span<const uint8_t> file, uint64_t offset, uint64_t length) {
  return offset <= file.size() && length <= file.size() - offset;
}

} // namespace

std::span<const uint8_t> findElfSection(std::span<const uint8_t> file, std::string_view name, const std::string &path,
                                        const char *what) {
  auto corrupt = [&](const std::string &what) { throw Error(TW_CORRUPT, path + ": " + what); };
  if (file.size() < sizeof(Elf64_Ehdr))
    corrupt("has " + std::to_string(file.size()) + " bytes, an ELF header alone has " +
            std::to_string(sizeof(Elf64_Ehdr)));
  const auto header = readAt<Elf64_Ehdr>(file, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    corrupt("is not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
    corrupt("is not a 64-bit little-endian shared object");
  if (header.e_machine != kMachine)
    throw Error(TW_INCOMPATIBLE,
                path + ": holds code for " + machineName(header.e_machine) + ", this machine is " + kMachineName);
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      !inside(file, header.e_shoff, static_cast<uint64_t>(header.e_shnum) * sizeof(Elf64_Shdr)))
    corrupt("its table of " + std::to_string(header.e_shnum) + " sections does not lie inside the file");
  auto section = [&](uint64_t index) { return readAt<Elf64_Shdr>(file, header.e_shoff + index * sizeof(Elf64_Shdr)); };
  if (header.e_shstrndx >= header.e_shnum)
    corrupt("names section " + std::to_string(header.e_shstrndx) + " of " + std::to_string(header.e_shnum) +
            " as its string table");
  const Elf64_Shdr strings = section(header.e_shstrndx);
  if (strings.sh_type != SHT_STRTAB || !inside(file, strings.sh_offset, strings.sh_size))
    corrupt("its section names do not lie inside the file");

  std::span<const uint8_t> found;
  bool any = false;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr candidate = section(i);
    if (candidate.sh_type == SHT_NULL || candidate.sh_type == SHT_NOBITS)
      continue;
    if (candidate.sh_name >= strings.sh_size)
      corrupt("the name of section " + std::to_string(i) + " lies outside the string table");
    const char *text = reinterpret_cast<const char *>(file.data() + strings.sh_offset + candidate.sh_name);
    if (std::string_view(text, strnlen(text, strings.sh_size - candidate.sh_name)) != name)
      continue;
    if (any)
      corrupt("has two sections " + std::string(name));
    if (!inside(file, candidate.sh_offset, candidate.sh_size))
      corrupt("section " + std::string(name) + " does not lie inside the file");
    found = file.subspan(candidate.sh_offset, candidate.sh_size);
    any = true;
  }
  if (!any)
    throw Error(TW_NOT_FOUND, path + ": has no section " + std::string(name) + ", so it is no " + what);
  return found;
}

} // namespace tilewright

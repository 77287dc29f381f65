// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/module/CodeFile.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace tilewright {

std::filesystem::path codeFile(const void *address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    // "7f0123-7f0456 r-xp 00000000 fe:00 1234   /usr/lib/libtilewright.so"
    std::istringstream words(line);
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    words >> std::hex >> begin >> dash >> end;
    if (!words || wanted < begin || wanted >= end)
      continue;
    const size_t path = line.find('/');
    return path == std::string::npos ? std::filesystem::path() : std::filesystem::path(line.substr(path));
  }
  return {};
}

} // namespace tilewright

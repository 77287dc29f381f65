// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/text/HalfSources.h"

#include "runtime/api/Error.h"
#include "runtime/module/RuntimeHalf.h"

namespace tilewright {

bool readHalfSources(const std::string &plugin, const std::string &folder, uint64_t &sources, std::string &error) {
  try {
    sources = sourcesOfRuntimeHalf(plugin, folder);
    return true;
  } catch (const Error &caught) {
    error = caught.message();
    return false;
  }
}

} // namespace tilewright

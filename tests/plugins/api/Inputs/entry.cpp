// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry function of a plugin made by make_plugin.py; FAULT says what is wrong with it.
#include "plugins/api/Plugin.h"

#include <cstdio>

#define NONE 0
#define RETURNS_NULL 1
#define WRONG_SIZE 2
#define WRONG_VERSION 3
#define OTHER_NAME 4
#define OTHER_RELEASE 5
#define NO_ENTRY 6
#define UNDEFINED_SYMBOL 7
#define OWN_MLIR 8
#define REGISTERS_NOTHING 9
#define NO_FLAG 10

#if FAULT == UNDEFINED_SYMBOL
extern "C" int tilewrightTestSymbolThatNobodyHas();
#endif

#if FAULT == OWN_MLIR
namespace mlir {
struct MLIRContext {
  enum class Threading { DISABLED };
  MLIRContext(Threading);
};
} // namespace mlir
mlir::MLIRContext::MLIRContext(Threading) {}
#endif

// something.cpp
void registerPass(tw_stage_registry *registry, const char *name, const char *flag);
void registerSharedWord(tw_dialect_registry *registry);

#if FAULT != NO_ENTRY
extern "C" const tw_plugin *tilewrightPlugin() {
#if FAULT == UNDEFINED_SYMBOL
  tilewrightTestSymbolThatNobodyHas();
#endif
#if FAULT == RETURNS_NULL
  return nullptr;
#else
  static const tw_plugin plugin = {FAULT == WRONG_SIZE ? sizeof(tw_plugin) + 8 : sizeof(tw_plugin),
                                   FAULT == WRONG_VERSION ? 99u : unsigned(TILEWRIGHT_PLUGIN_API_VERSION),
                                   FAULT == OTHER_NAME ? "somebody_else" : NAME,
                                   FAULT == OTHER_RELEASE ? "9.9.9" : VERSION,
                                   SHARED_WORD ? registerSharedWord : nullptr,
                                   FAULT == REGISTERS_NOTHING ? nullptr : +[](tw_stage_registry *registry) {
                                     registerPass(registry, PASS, FAULT == NO_FLAG ? "" : PASS);
                                   }};
  std::fprintf(stderr, "entry of %s ran\n", NAME);
  return &plugin;
#endif
}
#endif

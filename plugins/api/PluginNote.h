// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The note of a plugin library: what the loader reads from the file before any of the plugin's code runs. A plugin's
// author writes one line in one source file:
//
//   TILEWRIGHT_PLUGIN_NOTE("quantization", "dialect:swiglu pass:swiglu-recognise-glu")
//
// The first string names the plugins that must be loaded before this one, the second what this one adds; both are lists
// of words separated by spaces. The plugin's name and version come from add_tilewright_plugin.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/KernelBuilder.h"
#include "passes/api/Stages.h"
#include "plugins/api/Plugin.h"
#include "runtime/api/layout.h"

#include "llvm/Config/abi-breaking.h"
#include "llvm/Config/llvm-config.h"

#include <cstddef>
#include <cstdint>

namespace tilewright::note {

// Members of the boundary's structs are compared by offset; the compilers we support define it for all of them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

inline constexpr char magic[8] = {'T', 'W', 'P', 'L', 'U', 'G', 'I', 'N'};
inline constexpr uint32_t formatVersion = 1;
inline constexpr char sectionName[] = ".note.tilewright";
inline constexpr char owner[12] = "Tilewright";
inline constexpr uint32_t noteType = 1;

/// Size, alignment and member offsets of one struct that host and plugin share, as one number (FNV-1a).
constexpr uint64_t layoutHash(const uint64_t *numbers, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i)
    for (int byte = 0; byte < 8; ++byte)
      hash = (hash ^ ((numbers[i] >> (8 * byte)) & 0xff)) * 0x100000001b3u;
  return hash;
}
template <typename Struct, size_t N> constexpr uint64_t layoutOf(const uint64_t (&offsets)[N]) {
  uint64_t numbers[N + 2] = {sizeof(Struct), alignof(Struct)};
  for (size_t i = 0; i < N; ++i)
    numbers[i + 2] = offsets[i];
  return layoutHash(numbers, N + 2);
}

struct StructLayout {
  char name[32];
  uint64_t hash;
};

#define TILEWRIGHT_AT(type, member) offsetof(type, member)
inline constexpr StructLayout structLayouts[] = {
    {"tw_plugin",
     layoutOf<tw_plugin>({TILEWRIGHT_AT(tw_plugin, size), TILEWRIGHT_AT(tw_plugin, api_version),
                          TILEWRIGHT_AT(tw_plugin, name), TILEWRIGHT_AT(tw_plugin, version),
                          TILEWRIGHT_AT(tw_plugin, register_dialects), TILEWRIGHT_AT(tw_plugin, register_stages),
                          TILEWRIGHT_AT(tw_plugin, register_golden), TILEWRIGHT_AT(tw_plugin, register_blocks)})},
    {"StagePass", layoutOf<StagePass>({TILEWRIGHT_AT(StagePass, stage), TILEWRIGHT_AT(StagePass, name),
                                       TILEWRIGHT_AT(StagePass, before), TILEWRIGHT_AT(StagePass, after),
                                       TILEWRIGHT_AT(StagePass, plugin), TILEWRIGHT_AT(StagePass, make),
                                       TILEWRIGHT_AT(StagePass, receiptKinds)})},
    {"StageRegistry", layoutOf<StageRegistry>({TILEWRIGHT_AT(StageRegistry, currentPlugin)})},
    {"PipelineOptions", layoutOf<PipelineOptions>(
                            {TILEWRIGHT_AT(PipelineOptions, numerics), TILEWRIGHT_AT(PipelineOptions, shapeClass),
                             TILEWRIGHT_AT(PipelineOptions, kvType), TILEWRIGHT_AT(PipelineOptions, withoutKernels)})},
    {"ShapeClass", layoutOf<ShapeClass>({TILEWRIGHT_AT(ShapeClass, name), TILEWRIGHT_AT(ShapeClass, rowMultiple),
                                         TILEWRIGHT_AT(ShapeClass, queryTile)})},
    {"NumericsBound",
     layoutOf<NumericsBound>({TILEWRIGHT_AT(NumericsBound, absolute), TILEWRIGHT_AT(NumericsBound, relative)})},
    {"IntegerTile",
     layoutOf<IntegerTile>({TILEWRIGHT_AT(IntegerTile, pieces), TILEWRIGHT_AT(IntegerTile, scales),
                            TILEWRIGHT_AT(IntegerTile, offsets), TILEWRIGHT_AT(IntegerTile, zeroPoint)})},
    {"LayoutSplit",
     layoutOf<LayoutSplit>({TILEWRIGHT_AT(LayoutSplit, extent), TILEWRIGHT_AT(LayoutSplit, strideBits)})},
    {"LayoutField", layoutOf<LayoutField>({TILEWRIGHT_AT(LayoutField, bits), TILEWRIGHT_AT(LayoutField, sourceBit),
                                           TILEWRIGHT_AT(LayoutField, splits), TILEWRIGHT_AT(LayoutField, order),
                                           TILEWRIGHT_AT(LayoutField, xorMask), TILEWRIGHT_AT(LayoutField, itemBits),
                                           TILEWRIGHT_AT(LayoutField, shift)})},
    {"LayoutDescriptor", layoutOf<LayoutDescriptor>(
                             {TILEWRIGHT_AT(LayoutDescriptor, name), TILEWRIGHT_AT(LayoutDescriptor, blockElements),
                              TILEWRIGHT_AT(LayoutDescriptor, blockBytes),
                              TILEWRIGHT_AT(LayoutDescriptor, rowsPerGroup), TILEWRIGHT_AT(LayoutDescriptor, fields)})},
};
#undef TILEWRIGHT_AT
inline constexpr size_t layoutCount = sizeof(structLayouts) / sizeof(structLayouts[0]);

#pragma GCC diagnostic pop

#define TILEWRIGHT_TEXT_(x) #x
#define TILEWRIGHT_TEXT(x) TILEWRIGHT_TEXT_(x)
#if defined(_GLIBCXX_USE_CXX11_ABI)
#define TILEWRIGHT_STDLIB_ABI "libstdc++-cxx11abi" TILEWRIGHT_TEXT(_GLIBCXX_USE_CXX11_ABI)
#elif defined(_LIBCPP_ABI_VERSION)
#define TILEWRIGHT_STDLIB_ABI "libc++-" TILEWRIGHT_TEXT(_LIBCPP_ABI_VERSION)
#else
#define TILEWRIGHT_STDLIB_ABI "unknown"
#endif
/// Standard library and its ABI, and LLVM's own switch that changes class layouts.
#define TILEWRIGHT_CXX_ABI TILEWRIGHT_STDLIB_ABI "-llvmchecks" TILEWRIGHT_TEXT(LLVM_ENABLE_ABI_BREAKING_CHECKS)

/// The note's descriptor: fixed-size fields, strings ended by a zero byte; texts too long for their field do not
/// compile.
struct Descriptor {
  char magic[8];
  uint32_t formatVersion;
  uint32_t apiVersion;
  uint32_t descriptorBytes; // sizeof(Descriptor)
  uint32_t structCount;
  char llvmVersion[24];
  char cxxAbi[48];
  char name[64];
  char version[32];
  char requires_[512];
  char provides[2048];
  StructLayout structs[layoutCount];
};

/// An ELF note as it stands in the file.
struct Section {
  uint32_t ownerBytes;
  uint32_t descriptorBytes;
  uint32_t type;
  char owner[12];
  Descriptor descriptor;
};
static_assert(offsetof(Section, descriptor) == 24, "the descriptor follows the owner without a gap");

template <size_t N> constexpr void copyText(char (&to)[N], const char *from) {
  size_t i = 0;
  for (; from[i]; ++i)
    to[i] = from[i]; // past the end: not a constant expression, so it does not compile
  to[i] = 0;
}

consteval Section makeSection(const char *name, const char *version, const char *requirements, const char *provisions) {
  Section section = {};
  section.ownerBytes = sizeof("Tilewright");
  section.descriptorBytes = sizeof(Descriptor);
  section.type = noteType;
  copyText(section.owner, owner);
  Descriptor &d = section.descriptor;
  for (size_t i = 0; i < sizeof(magic); ++i)
    d.magic[i] = magic[i];
  d.formatVersion = formatVersion;
  d.apiVersion = TILEWRIGHT_PLUGIN_API_VERSION;
  d.descriptorBytes = sizeof(Descriptor);
  d.structCount = layoutCount;
  copyText(d.llvmVersion, LLVM_VERSION_STRING);
  copyText(d.cxxAbi, TILEWRIGHT_CXX_ABI);
  copyText(d.name, name);
  copyText(d.version, version);
  copyText(d.requires_, requirements);
  copyText(d.provides, provisions);
  for (size_t i = 0; i < layoutCount; ++i)
    d.structs[i] = structLayouts[i];
  return section;
}

} // namespace tilewright::note

#define TILEWRIGHT_PLUGIN_NOTE(requirements, provisions)                                                               \
  extern "C" __attribute__((section(".note.tilewright"), used, retain,                                                 \
                            aligned(8))) constinit const ::tilewright::note::Section tilewrightPluginNote =            \
      ::tilewright::note::makeSection(TILEWRIGHT_PLUGIN_NAME, TILEWRIGHT_PLUGIN_VERSION, requirements, provisions);

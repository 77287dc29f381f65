# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Three kinds of target: LLVM-facing (no RTTI, no exceptions, precompiled MLIR headers), plain C++, and plugins.

# The folder of libMLIR is not on the loader's path.
set(TILEWRIGHT_RPATH "$ORIGIN;$ORIGIN/../lib;$ORIGIN/../..;${LLVM_LIBRARY_DIR}")

include(TilewrightMlir)

# Plain C++ (exceptions allowed inside, never across a C interface).
function(tilewright_library name kind)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  if(NOT ARG_UNPARSED_ARGUMENTS)
    set(ARG_UNPARSED_ARGUMENTS ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
  endif()
  add_library(${name} ${kind} ${ARG_UNPARSED_ARGUMENTS})
  tilewright_common(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# tilewright_flatbuffers(TARGET schema.fbs): generates <folder>/<schema>_generated.h in the build tree.
function(tilewright_flatbuffers target schema)
  get_filename_component(stem ${schema} NAME_WE)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${stem}_generated.h)
  add_custom_command(OUTPUT ${out}
    COMMAND ${FLATC} --cpp --scoped-enums --gen-object-api --cpp-std c++17
      --cpp-include runtime/api/bounded_verifier.h -o ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
    DEPENDS ${schema} VERBATIM)
  add_custom_target(${target} DEPENDS ${out})
endfunction()

add_library(tilewright_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
tilewright_common(tilewright_pch)
target_include_directories(tilewright_pch SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
# Without timestamps the precompiled header is the same bytes each time, which ccache needs.
target_compile_options(tilewright_pch PRIVATE -fno-rtti -fno-exceptions -Xclang -fno-pch-timestamp)
target_compile_definitions(tilewright_pch PUBLIC ${LLVM_DEFINITIONS_LIST})
target_precompile_headers(tilewright_pch PRIVATE ${TILEWRIGHT_PRECOMPILED_HEADERS})

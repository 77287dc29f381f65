# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Targets that use MLIR: no RTTI, no exceptions, the shared libMLIR. Used by Tilewright itself and, installed, by plugins
# outside. Whoever includes it has found MLIR and sets
#   TILEWRIGHT_RPATH               where libraries are looked for when a program starts
#   TILEWRIGHT_TABLEGEN_INCLUDES   folders of .td files that are not directory properties

separate_arguments(_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
set(LLVM_DEFINITIONS_LIST "")
foreach(d ${_defs})
  string(REGEX REPLACE "^-D" "" d "${d}")
  list(APPEND LLVM_DEFINITIONS_LIST ${d})
endforeach()
set(TILEWRIGHT_PRECOMPILED_HEADERS
  <mlir/IR/Builders.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h>
  <mlir/Pass/Pass.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Tensor/IR/Tensor.h>)

# Every generated MLIR header; LLVM-facing targets wait for it.
if(NOT TARGET tilewright_headers)
  add_custom_target(tilewright_headers)
endif()

# Includes are written from the root of the project.
function(tilewright_common name)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
  set_target_properties(${name} PROPERTIES BUILD_RPATH "${TILEWRIGHT_RPATH}" INSTALL_RPATH "${TILEWRIGHT_RPATH}"
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
endfunction()

function(tilewright_mlir_options name)
  tilewright_common(${name})
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti -fno-exceptions>)
  target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_link_libraries(${name} PUBLIC MLIR LLVM)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # With -fPIE the precompiled header of the libraries would not match.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
  if(TARGET tilewright_pch)
    target_precompile_headers(${name} REUSE_FROM tilewright_pch)
  endif()
endfunction()

# tilewright_mlir_library(NAME SHARED|STATIC sources... [LINK libs...])
function(tilewright_mlir_library name kind)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} ${kind} ${ARG_UNPARSED_ARGUMENTS})
  tilewright_mlir_options(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  add_dependencies(${name} tilewright_headers ${ARG_DEPENDS})
endfunction()

# tilewright_tablegen_dialect(Stem dialect): ops, types, attributes, dialect declarations and documentation of Stem.td,
# beside it in the build tree. With SHARDS n the ops of a large dialect come in n parts that compile side by side: part i of
# Stem.cpp.inc stands behind GET_OP_DEFS_i; register<Dialect>DialectOperations, in part 0, adds them all.
function(tilewright_tablegen_dialect stem dialect)
  cmake_parse_arguments(ARG "" "SHARDS" "" ${ARGN})
  set(shards "")
  if(ARG_SHARDS)
    set(shards -op-shard-count=${ARG_SHARDS})
  endif()
  set(LLVM_TARGET_DEFINITIONS ${stem}.td)
  set(includes EXTRA_INCLUDES ${TILEWRIGHT_TABLEGEN_INCLUDES})
  mlir_tablegen(${stem}.h.inc -gen-op-decls -dialect=${dialect} ${includes})
  mlir_tablegen(${stem}.cpp.inc -gen-op-defs -dialect=${dialect} ${shards} ${includes})
  mlir_tablegen(${stem}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect} ${includes})
  mlir_tablegen(${stem}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect} ${includes})
  mlir_tablegen(${stem}Enums.h.inc -gen-enum-decls ${includes})
  mlir_tablegen(${stem}Enums.cpp.inc -gen-enum-defs ${includes})
  mlir_tablegen(${stem}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect} ${includes})
  mlir_tablegen(${stem}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect} ${includes})
  mlir_tablegen(${stem}Dialect.h.inc -gen-dialect-decls -dialect=${dialect} ${includes})
  mlir_tablegen(${stem}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect} ${includes})
  mlir_tablegen(${stem}.md -gen-dialect-doc -dialect=${dialect} ${includes})
  if(PROJECT_NAME STREQUAL "tilewright") # whose documentation is committed
    set_property(GLOBAL APPEND PROPERTY TILEWRIGHT_DIALECT_DOCS "${dialect} ${CMAKE_CURRENT_BINARY_DIR}/${stem}.md")
  endif()
  set_property(DIRECTORY APPEND PROPERTY TILEWRIGHT_MANUALS ${CMAKE_CURRENT_BINARY_DIR}/${stem}.md)
  string(TOLOWER ${dialect} lower)
  add_public_tablegen_target(tilewright_${lower}_tablegen)
  add_dependencies(tilewright_headers tilewright_${lower}_tablegen)
endfunction()

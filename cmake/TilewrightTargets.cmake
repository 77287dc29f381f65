# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Three kinds of target: LLVM-facing (no RTTI, no exceptions, precompiled MLIR headers), plain C++, and plugins.

# The folder of libMLIR is not on the loader's path.
set(TILEWRIGHT_RPATH "$ORIGIN;$ORIGIN/../lib;$ORIGIN/../..;${LLVM_LIBRARY_DIR}")

function(tilewright_common name)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
  set_target_properties(${name} PROPERTIES BUILD_RPATH "${TILEWRIGHT_RPATH}" INSTALL_RPATH "${TILEWRIGHT_RPATH}")
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
    COMMAND ${FLATC} --cpp --scoped-enums --gen-object-api --cpp-std c++17 -o ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
    DEPENDS ${schema} VERBATIM)
  add_custom_target(${target} DEPENDS ${out})
endfunction()

# Every generated MLIR header; LLVM-facing targets wait for it.
add_custom_target(tilewright_headers)
add_library(tilewright_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
tilewright_common(tilewright_pch)
target_include_directories(tilewright_pch SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
# Without timestamps the precompiled header is the same bytes each time, which ccache needs.
target_compile_options(tilewright_pch PRIVATE -fno-rtti -fno-exceptions -Xclang -fno-pch-timestamp)
separate_arguments(_defs NATIVE_COMMAND "${LLVM_DEFINITIONS}")
set(LLVM_DEFINITIONS_LIST "")
foreach(d ${_defs})
  string(REGEX REPLACE "^-D" "" d "${d}")
  list(APPEND LLVM_DEFINITIONS_LIST ${d})
endforeach()
target_compile_definitions(tilewright_pch PUBLIC ${LLVM_DEFINITIONS_LIST})
target_precompile_headers(tilewright_pch PRIVATE
  <mlir/IR/Builders.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h>
  <mlir/Pass/Pass.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Tensor/IR/Tensor.h>)

# tilewright_tablegen_dialect(file.td): ops, types, attributes, dialect declarations and documentation of one ODS file,
# beside it in the build tree.
function(tilewright_tablegen_dialect stem dialect)
  set(LLVM_TARGET_DEFINITIONS ${stem}.td)
  mlir_tablegen(${stem}.h.inc -gen-op-decls -dialect=${dialect})
  mlir_tablegen(${stem}.cpp.inc -gen-op-defs -dialect=${dialect})
  mlir_tablegen(${stem}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect})
  mlir_tablegen(${stem}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect})
  mlir_tablegen(${stem}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${stem}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${stem}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect})
  mlir_tablegen(${stem}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect})
  mlir_tablegen(${stem}Dialect.h.inc -gen-dialect-decls -dialect=${dialect})
  mlir_tablegen(${stem}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect})
  mlir_tablegen(${stem}.md -gen-dialect-doc -dialect=${dialect})
  set_property(GLOBAL APPEND PROPERTY TILEWRIGHT_DIALECT_DOCS "${dialect} ${CMAKE_CURRENT_BINARY_DIR}/${stem}.md")
  set_property(DIRECTORY APPEND PROPERTY TILEWRIGHT_MANUALS ${CMAKE_CURRENT_BINARY_DIR}/${stem}.md)
  string(TOLOWER ${dialect} lower)
  add_public_tablegen_target(tilewright_${lower}_tablegen)
  add_dependencies(tilewright_headers tilewright_${lower}_tablegen)
endfunction()

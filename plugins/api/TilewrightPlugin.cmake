# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# add_tilewright_plugin(NAME sources... [SAMPLES samples.mlir] [LINK libs...]): libtilewright_<NAME>.so, linked to the shared
# libMLIR alone, with the version of the project that it is in. If the folder has <Name>.td handled by
# tilewright_tablegen_dialect, call that first. The library carries SAMPLES and the manual that the dialects' ODS makes;
# `tilewright plugins check` works from both. That of a plugin outside lies at the top of its build folder, and is installed
# where `tilewright` looks for plugins.
# add_tilewright_runtime_half(NAME sources...): libtilewright_<NAME>_rt.so beside it, in C or C++ on runtime/api/runtime_half.h
# alone; the plugin says "runtime:NAME" among what its note provides.
if(NOT TARGET tilewright_plugins)
  add_custom_target(tilewright_plugins) # those that Tilewright ships
endif()

function(add_tilewright_plugin name)
  cmake_parse_arguments(ARG "" "SAMPLES" "LINK" ${ARGN})
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "add_tilewright_plugin: found name '${name}', wanted lower-case letters, digits and underscores")
  endif()
  get_property(manuals DIRECTORY PROPERTY TILEWRIGHT_MANUALS)
  set(samples "")
  if(ARG_SAMPLES)
    get_filename_component(samples ${ARG_SAMPLES} ABSOLUTE)
  endif()
  set(texts "")
  if(samples OR manuals)
    set(texts ${CMAKE_CURRENT_BINARY_DIR}/${name}_texts.cpp)
    set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed-texts.cmake)
    add_custom_command(OUTPUT ${texts}
      COMMAND ${CMAKE_COMMAND} -DOUT=${texts} "-DSAMPLES=${samples}" "-DMANUALS=${manuals}" -P ${script}
      DEPENDS ${samples} ${manuals} ${script} VERBATIM)
    set_source_files_properties(${texts} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
  tilewright_mlir_library(tilewright_${name} SHARED ${ARG_UNPARSED_ARGUMENTS} ${texts} LINK tilewright_ir ${ARG_LINK})
  target_compile_definitions(tilewright_${name} PRIVATE TILEWRIGHT_PLUGIN_NAME="${name}" TILEWRIGHT_PLUGIN_VERSION="${PROJECT_VERSION}")
  if(NOT TILEWRIGHT_SANITIZE) # a sanitizer's runtime is in the program alone
    target_link_options(tilewright_${name} PRIVATE -Wl,-z,defs)
  endif()
  if(PROJECT_NAME STREQUAL "tilewright")
    set_target_properties(tilewright_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TILEWRIGHT_PLUGIN_OUTPUT_DIRECTORY})
    add_dependencies(tilewright_plugins tilewright_${name})
  else()
    set_target_properties(tilewright_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  endif()
  if(CMAKE_PROJECT_NAME STREQUAL PROJECT_NAME AND NOT PROJECT_NAME STREQUAL "tilewright")
    install(TARGETS tilewright_${name} DESTINATION lib/tilewright/plugins)
  endif()
endfunction()

# 16 hexadecimal digits of what a runtime half is made from: the names and the text of its sources and of the headers beside them.
function(tilewright_hash_sources out)
  set(files "")
  foreach(source ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(folder ${source} DIRECTORY)
    file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)
    list(APPEND files ${source} ${headers})
  endforeach()
  list(REMOVE_DUPLICATES files)
  set(text "")
  foreach(file ${files})
    file(SHA256 ${file} hash)
    get_filename_component(name ${file} NAME)
    string(APPEND text "${name} ${hash}\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  string(SHA256 hash "${text}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${out} ${hash} PARENT_SCOPE)
endfunction()

function(add_tilewright_runtime_half name)
  tilewright_hash_sources(sources ${ARGN})
  add_library(tilewright_${name}_rt MODULE ${ARGN})
  target_include_directories(tilewright_${name}_rt PRIVATE $<TARGET_PROPERTY:tilewright_ir,INTERFACE_INCLUDE_DIRECTORIES>)
  set_target_properties(tilewright_${name}_rt PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_compile_definitions(tilewright_${name}_rt PRIVATE TILEWRIGHT_PLUGIN_NAME="${name}" TILEWRIGHT_PLUGIN_VERSION="${PROJECT_VERSION}"
    TILEWRIGHT_RUNTIME_HALF_SOURCES=0x${sources})
  if(NOT TILEWRIGHT_SANITIZE)
    target_link_options(tilewright_${name}_rt PRIVATE -Wl,-z,defs)
  endif()
  if(PROJECT_NAME STREQUAL "tilewright")
    set_target_properties(tilewright_${name}_rt PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TILEWRIGHT_PLUGIN_OUTPUT_DIRECTORY})
    add_dependencies(tilewright_plugins tilewright_${name}_rt)
  else()
    set_target_properties(tilewright_${name}_rt PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    if(CMAKE_PROJECT_NAME STREQUAL PROJECT_NAME)
      install(TARGETS tilewright_${name}_rt DESTINATION lib/tilewright/plugins)
    endif()
  endif()
endfunction()

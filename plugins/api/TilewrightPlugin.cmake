# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# add_tilewright_plugin(NAME sources... [SAMPLES samples.mlir] [LINK libs...]): libtilewright_<NAME>.so in the plugin folder,
# linked to the shared libMLIR alone. If the folder has <Name>.td handled by tilewright_tablegen_dialect, call that first.
# The library carries SAMPLES and the manual that the dialects' ODS makes; `tilewright plugins check` works from both.
set(TILEWRIGHT_PLUGIN_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
add_custom_target(tilewright_plugins)
function(add_tilewright_plugin name)
  cmake_parse_arguments(ARG "" "SAMPLES" "LINK" ${ARGN})
  get_property(manuals DIRECTORY PROPERTY TILEWRIGHT_MANUALS)
  set(samples "")
  if(ARG_SAMPLES)
    get_filename_component(samples ${ARG_SAMPLES} ABSOLUTE)
  endif()
  set(texts "")
  if(samples OR manuals)
    set(texts ${CMAKE_CURRENT_BINARY_DIR}/${name}_texts.cpp)
    set(script ${TILEWRIGHT_PLUGIN_CMAKE_DIR}/embed-texts.cmake)
    add_custom_command(OUTPUT ${texts}
      COMMAND ${CMAKE_COMMAND} -DOUT=${texts} "-DSAMPLES=${samples}" "-DMANUALS=${manuals}" -P ${script}
      DEPENDS ${samples} ${manuals} ${script} VERBATIM)
    set_source_files_properties(${texts} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
  tilewright_mlir_library(tilewright_${name} SHARED ${ARG_UNPARSED_ARGUMENTS} ${texts} LINK tilewright_ir ${ARG_LINK})
  set_target_properties(tilewright_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TILEWRIGHT_PLUGIN_OUTPUT_DIRECTORY})
  target_compile_definitions(tilewright_${name} PRIVATE TILEWRIGHT_PLUGIN_NAME="${name}" TILEWRIGHT_PLUGIN_VERSION="${PROJECT_VERSION}")
  if(NOT TILEWRIGHT_SANITIZE) # a sanitizer's runtime is in the program alone
    target_link_options(tilewright_${name} PRIVATE -Wl,-z,defs)
  endif()
  add_dependencies(tilewright_plugins tilewright_${name})
endfunction()

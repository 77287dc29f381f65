# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# add_tilewright_plugin(NAME sources...): libtilewright_<NAME>.so in the plugin folder, linked to the shared libMLIR alone.
# If the folder has <Name>.td handled by tilewright_tablegen_dialect, call that first.
add_custom_target(tilewright_plugins)
function(add_tilewright_plugin name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  tilewright_mlir_library(tilewright_${name} SHARED ${ARG_UNPARSED_ARGUMENTS} LINK tilewright_ir ${ARG_LINK})
  set_target_properties(tilewright_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TILEWRIGHT_PLUGIN_OUTPUT_DIRECTORY})
  target_compile_definitions(tilewright_${name} PRIVATE TILEWRIGHT_PLUGIN_NAME="${name}" TILEWRIGHT_PLUGIN_VERSION="${PROJECT_VERSION}")
  if(NOT TILEWRIGHT_SANITIZE) # a sanitizer's runtime is in the program alone
    target_link_options(tilewright_${name} PRIVATE -Wl,-z,defs)
  endif()
  add_dependencies(tilewright_plugins tilewright_${name})
endfunction()

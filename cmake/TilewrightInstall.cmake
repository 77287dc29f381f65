# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` copies and `make package` packs: programs, shared libraries, plugins, the C interface, and what a plugin
# outside is built and tested with. Included after every target is known.
include(CMakePackageConfigHelpers)

# tilewright_targets(OUT folder kinds...): the targets of these kinds in a folder and below that ALL builds.
function(tilewright_targets out folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  set(found "")
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(excluded ${target} EXCLUDE_FROM_ALL)
    if(type IN_LIST ARGN AND NOT excluded)
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    tilewright_targets(more ${below} ${ARGN})
    list(APPEND found ${more})
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

tilewright_targets(programs ${PROJECT_SOURCE_DIR}/tools EXECUTABLE)
get_target_property(plugins tilewright_plugins MANUALLY_ADDED_DEPENDENCIES)
set(libraries tilewright_ir tilewright_graph tilewright_plugin_loader)
if(NOT plugins)
  set(plugins "")
endif()
# Built with the search path that it is installed with: a path that is to be replaced by another one gets a ':' behind it from
# CMake, and the loader takes the empty entry for the current folder, whose libraries would come before the system's.
set_target_properties(${programs} ${plugins} ${libraries} tilewright_runtime PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
if(plugins)
  install(TARGETS ${plugins} DESTINATION lib/tilewright/plugins)
endif()
install(TARGETS ${programs} DESTINATION bin)
install(TARGETS tilewright_runtime DESTINATION lib)
# The pages keep their places, so that links among them hold.
install(FILES LICENSE THIRD_PARTY.md README.md DESTINATION share/doc/tilewright)
install(DIRECTORY docs DESTINATION share/doc/tilewright FILES_MATCHING PATTERN "*.md")
configure_file(cmake/tilewright.pc.in tilewright.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tilewright.pc DESTINATION lib/pkgconfig)

# Headers and ODS: what a plugin may include (docs/design.md, section 1), and a host, under the same paths.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ir/*.h ir/*.td frontend/api/*.h frontend/graph/*.h passes/api/*.h backends/api/*.h plugins/api/*.h)
list(APPEND headers runtime/api/layout.h runtime/api/abi.h runtime/api/bounded_verifier.h runtime/api/runtime_half.h runtime/api/tilewright.h
  runtime/api/tilewright_status.h)
foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION include/tilewright/${folder})
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/frontend/graph/graph_generated.h DESTINATION include/tilewright/frontend/graph)
install(DIRECTORY ${PROJECT_BINARY_DIR}/ir DESTINATION include/tilewright
  FILES_MATCHING PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)

# find_package(Tilewright).
set(config lib/cmake/Tilewright)
install(TARGETS ${libraries} EXPORT TilewrightTargets DESTINATION lib
  INCLUDES DESTINATION include/tilewright)
install(EXPORT TilewrightTargets DESTINATION ${config})
configure_package_config_file(cmake/TilewrightConfig.cmake.in TilewrightConfig.cmake INSTALL_DESTINATION ${config})
write_basic_package_version_file(TilewrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TilewrightConfig.cmake ${PROJECT_BINARY_DIR}/TilewrightConfigVersion.cmake
  cmake/TilewrightMlir.cmake cmake/TilewrightTesting.cmake plugins/api/TilewrightPlugin.cmake
  plugins/api/embed-texts.cmake DESTINATION ${config})
install(FILES tests/lit.base.cfg.py DESTINATION share/tilewright)

# What `tilewright plugins new` copies; programs find it beside their own folder, built or installed.
set(template ${PROJECT_BINARY_DIR}/share/tilewright/template)
file(GLOB files CONFIGURE_DEPENDS plugins/_template/* tests/plugins/_template/*)
file(CONFIGURE OUTPUT ${template}.files CONTENT "${files}") # a file that is gone makes nothing else newer
add_custom_command(OUTPUT ${template}.stamp
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${template} -P ${PROJECT_SOURCE_DIR}/cmake/make-template.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${template}.stamp
  DEPENDS ${files} ${template}.files ${PROJECT_SOURCE_DIR}/cmake/make-template.cmake VERBATIM)
add_custom_target(tilewright_template ALL DEPENDS ${template}.stamp)
install(DIRECTORY ${template} DESTINATION share/tilewright)
install(DIRECTORY examples DESTINATION share/tilewright PATTERN examples/CMakeLists.txt EXCLUDE)

# `make package`: a Debian package. What dpkg-shlibdeps finds is added to what is named here (it takes LLVM's own folder for a
# private one); what plugins are built and tested with is suggested.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tilewright)
set(CPACK_PACKAGE_VENDOR "Tilewright developers")
set(CPACK_PACKAGE_CONTACT "Tilewright developers <dev@tilewright.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiles transformer models ahead of time, every technique a plugin")
set(CPACK_PACKAGE_DESCRIPTION "Programs, runtime, plugins, and what plugins outside are built with.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${LLVM_LIBRARY_DIR})
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libllvm${LLVM_VERSION_MAJOR} (>= 1:${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR})")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++ | clang, libmlir-${LLVM_VERSION_MAJOR}-dev, mlir-${LLVM_VERSION_MAJOR}-tools, llvm-${LLVM_VERSION_MAJOR}-dev, llvm-${LLVM_VERSION_MAJOR}-tools, libgtest-dev")
include(CPack)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# add_tilewright_plugin_tests(NAME FOLDER): ctest entries for the tests of plugin NAME in FOLDER, seen from the caller's:
# `<NAME>_lit` runs each .mlir and .test file with lit, which finds the plugin just built, tw-opt, tilewright and FileCheck
# (lit.base.cfg.py says which words RUN lines may use; a lit.cfg.py in FOLDER may add to them); `<NAME>_unit`, where there are
# .cpp files, is a GoogleTest program linked to the plugin; `<NAME>_rt_unit`, where there are some in FOLDER/runtime, is one
# of the runtime half: plain C++, compiled with the half's sources. Adding a test edits no build file.
enable_testing()

function(add_tilewright_plugin_tests name folder)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  if(TILEWRIGHT_SOURCE_TREE AND NOT IS_DIRECTORY ${source})
    # In Tilewright's own tree the tests of plugins/<folder> lie in tests/plugins/<folder>, which is a lit suite already.
    file(RELATIVE_PATH path ${TILEWRIGHT_SOURCE_TREE} ${CMAKE_CURRENT_SOURCE_DIR})
    set(source ${TILEWRIGHT_SOURCE_TREE}/tests/${path})
    set(inSuite TRUE)
  endif()
  if(NOT IS_DIRECTORY ${source})
    message(FATAL_ERROR "add_tilewright_plugin_tests(${name} ${folder}): there is no folder ${source}")
  endif()
  if(TILEWRIGHT_TEST_RESULTS)
    set(litResult -o ${TILEWRIGHT_TEST_RESULTS}/${name}_lit.json)
    set(unitResult GTEST_OUTPUT=json:${TILEWRIGHT_TEST_RESULTS}/${name}_unit.json)
  endif()

  if(NOT inSuite)
    find_program(TILEWRIGHT_LIT NAMES lit PATHS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
    if(NOT TILEWRIGHT_LIT)
      message(FATAL_ERROR "found no lit in ${LLVM_TOOLS_BINARY_DIR}, wanted it for the tests of ${name}; install LLVM's tools (Debian: llvm-${LLVM_VERSION_MAJOR}-tools)")
    endif()
    set(own "")
    if(EXISTS ${source}/lit.cfg.py)
      set(own "lit_config.load_config(config, r\"${source}/lit.cfg.py\")\n")
    endif()
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${folder}/lit.site.cfg.py CONTENT
"# Written by CMake.
config.name = \"${name}\"
config.test_source_root = r\"${source}\"
config.test_exec_root = r\"${CMAKE_CURRENT_BINARY_DIR}/${folder}\"
config.tilewright_bin = r\"${TILEWRIGHT_TOOLS_DIR}\"
config.tilewright_plugins = r\"${TILEWRIGHT_PLUGIN_DIR}\"
config.tilewright_plugin_under_test = r\"$<TARGET_FILE:tilewright_${name}>\"
config.llvm_tools = r\"${LLVM_TOOLS_BINARY_DIR}\"
config.llvm_lib = r\"${LLVM_LIBRARY_DIR}\"
lit_config.load_config(config, r\"${TILEWRIGHT_LIT_CONFIG}\")
${own}")
    add_test(NAME ${name}_lit COMMAND ${TILEWRIGHT_LIT} -sv ${litResult} ${CMAKE_CURRENT_BINARY_DIR}/${folder})
  endif()

  file(GLOB sources CONFIGURE_DEPENDS ${source}/*.cpp)
  if(sources)
    find_package(GTest REQUIRED)
    add_executable(${name}_unit ${sources})
    tilewright_mlir_options(${name}_unit)
    target_link_libraries(${name}_unit PRIVATE tilewright_${name} GTest::gtest GTest::gtest_main)
    add_dependencies(${name}_unit tilewright_headers)
    set_target_properties(${name}_unit PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    add_test(NAME ${name}_unit COMMAND ${name}_unit)
    set_tests_properties(${name}_unit PROPERTIES ENVIRONMENT "${unitResult}")
  endif()

  file(GLOB sources CONFIGURE_DEPENDS ${source}/runtime/*.cpp)
  if(sources)
    find_package(GTest REQUIRED)
    get_target_property(half tilewright_${name}_rt SOURCES)
    get_target_property(home tilewright_${name}_rt SOURCE_DIR)
    foreach(file ${half})
      get_filename_component(file ${file} ABSOLUTE BASE_DIR ${home})
      list(APPEND sources ${file})
    endforeach()
    add_executable(${name}_rt_unit ${sources})
    target_include_directories(${name}_rt_unit PRIVATE $<TARGET_PROPERTY:tilewright_${name}_rt,INCLUDE_DIRECTORIES>)
    target_compile_definitions(${name}_rt_unit PRIVATE $<TARGET_PROPERTY:tilewright_${name}_rt,COMPILE_DEFINITIONS>)
    target_link_libraries(${name}_rt_unit PRIVATE GTest::gtest GTest::gtest_main)
    set_target_properties(${name}_rt_unit PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    add_test(NAME ${name}_rt_unit COMMAND ${name}_rt_unit)
    if(TILEWRIGHT_TEST_RESULTS)
      set_tests_properties(${name}_rt_unit PROPERTIES
        ENVIRONMENT GTEST_OUTPUT=json:${TILEWRIGHT_TEST_RESULTS}/${name}_rt_unit.json)
    endif()
  endif()
endfunction()

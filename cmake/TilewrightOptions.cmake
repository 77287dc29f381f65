# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Flags every target shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(TILEWRIGHT_PLUGIN_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/tilewright/plugins)

set(TILEWRIGHT_SANITIZE "" CACHE STRING "Sanitizers to build with: address;undefined or thread")
option(TILEWRIGHT_FUZZ "Build the libFuzzer programs of tests/fuzz" OFF)
set(TILEWRIGHT_PLUGINS "all" CACHE STRING "Plugins to build: all, or a list of folder names")
set(TILEWRIGHT_WITHOUT_PLUGINS "" CACHE STRING "Plugins to leave out of the build")

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
if(TILEWRIGHT_SANITIZE)
  string(REPLACE ";" "," _san "${TILEWRIGHT_SANITIZE}")
  add_compile_options(-fsanitize=${_san} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${_san})
endif()
if(TILEWRIGHT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Precompiled headers defeat ccache unless it is told what may differ.
  # Paths beneath the checkout are hashed relative to it, so that several checkouts share one cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

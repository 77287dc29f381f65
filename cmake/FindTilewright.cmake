# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# find_package(Tilewright) within Tilewright's own tree: a plugin that is a project of its own (plugins/_template, examples/)
# builds here without being installed first. Installed, TilewrightConfig.cmake stands in its place.
set(TILEWRIGHT_SOURCE_TREE ${tilewright_SOURCE_DIR})
set(TILEWRIGHT_TOOLS_DIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set(TILEWRIGHT_PLUGIN_DIR ${TILEWRIGHT_PLUGIN_OUTPUT_DIRECTORY})
set(TILEWRIGHT_LIT_CONFIG ${tilewright_SOURCE_DIR}/tests/lit.base.cfg.py)
set(TILEWRIGHT_TEST_RESULTS ${tilewright_BINARY_DIR}/tests/results)
include(TilewrightTesting)
set(Tilewright_VERSION ${tilewright_VERSION})
set(Tilewright_FOUND TRUE)

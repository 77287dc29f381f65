# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DROOT=repository -DOUT=folder -P make-template.cmake
# Writes what `tilewright plugins new` copies: plugins/_template as a project of its own, its tests in tests/.
set(source ${ROOT}/plugins/_template)
set(tests ${ROOT}/tests/plugins/_template)
file(REMOVE_RECURSE ${OUT})
foreach(folder ${source} ${tests})
  file(GLOB_RECURSE files RELATIVE ${folder} ${folder}/*)
  list(REMOVE_ITEM files lit.local.cfg) # add_tilewright_plugin_tests does outside what it does here
  foreach(file ${files})
    file(READ ${folder}/${file} text)
    string(REPLACE "plugins/_template/" "" text "${text}")
    if(text MATCHES "_template")
      message(FATAL_ERROR "${folder}/${file}: says '_template', which means nothing outside of the repository")
    endif()
    if(folder STREQUAL "${tests}")
      set(file tests/${file})
    endif()
    file(WRITE ${OUT}/${file} "${text}")
  endforeach()
endforeach()

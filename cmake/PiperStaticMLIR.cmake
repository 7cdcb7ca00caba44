# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Debian's static MLIR targets list the shared LLVM (and one lists the shared
# MLIR) as their dependency. Replaces these by the archives, all the way down;
# otherwise two copies of MLIR meet in one process.
function(piper_make_static)
  llvm_map_components_to_libnames(llvm_libs
    support core remarks bitwriter asmparser frontendopenmp targetparser)
  set(pending ${ARGN})
  set(done "")
  while(pending)
    list(POP_FRONT pending lib)
    if(lib IN_LIST done OR NOT TARGET ${lib})
      continue()
    endif()
    list(APPEND done ${lib})
    get_target_property(deps ${lib} INTERFACE_LINK_LIBRARIES)
    if(NOT deps)
      continue()
    endif()
    if(lib MATCHES "^MLIR" AND ("LLVM" IN_LIST deps OR "MLIR" IN_LIST deps))
      list(REMOVE_ITEM deps LLVM MLIR)
      list(APPEND deps ${llvm_libs})
      set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${deps}")
    endif()
    list(APPEND pending ${deps})
  endwhile()
endfunction()

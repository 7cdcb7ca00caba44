# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Warnings, sanitizers, ccache and the linker: what every target shares.

add_compile_options(-Wall -Wextra -Wno-unused-parameter -fno-math-errno)

if(PIPER_SANITIZER STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
elseif(PIPER_SANITIZER STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=thread)
elseif(PIPER_SANITIZER)
  message(FATAL_ERROR "PIPER_SANITIZER is '${PIPER_SANITIZER}', expected 'address' or 'thread'")
endif()

# ccache takes a file that uses precompiled headers only if it is told that
# their time stamps do not matter, and GCC writes what they hold.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()

find_program(PIPER_LLD NAMES ld.lld-22 ld.lld)
if(PIPER_LLD)
  # g++ finds the linker as "ld.lld" in the folders given with -B.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/linker)
  file(CREATE_LINK ${PIPER_LLD} ${PROJECT_BINARY_DIR}/linker/ld.lld SYMBOLIC)
  add_link_options(-B${PROJECT_BINARY_DIR}/linker -fuse-ld=lld)
endif()

# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Finds LLVM and MLIR 22 and makes the interface library PiperMLIR, which every
# compiler library links: include folders, and either libMLIR.so or the static
# archives that the tools need.

list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Piper needs LLVM 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(PiperStaticMLIR)

include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

add_library(PiperMLIR INTERFACE)
target_include_directories(PiperMLIR SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(PiperMLIR INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

if(PIPER_LINK_MLIR_DYLIB)
  target_link_libraries(PiperMLIR INTERFACE MLIR LLVM)
else()
  set(PIPER_MLIR_LIBS
    MLIRIR MLIRParser MLIRAsmParser MLIRBytecodeReader MLIRBytecodeWriter
    MLIRFuncDialect MLIRPass MLIRTransforms MLIRTransformUtils MLIRSupport
    MLIRDialectUtils MLIRRemarkStreamer MLIRDebug)
  piper_make_static(${PIPER_MLIR_LIBS} MLIROptLib MLIRLspServerLib MLIRReduce)
  target_link_libraries(PiperMLIR INTERFACE ${PIPER_MLIR_LIBS})
  add_link_options(-Wl,--gc-sections -static-libstdc++ -static-libgcc)
  add_compile_options(-ffunction-sections -fdata-sections)
endif()

# piper_add_library(NAME SOURCE... LIBS lib... DEPENDS target...): a library of
# the compiler. Reading the headers of MLIR takes longer than most files of
# their own: they are compiled once, with the dialect (lib/Dialect). -O2, since
# the compiler has no loops that -O3 would make faster.
function(piper_add_library name)
  cmake_parse_arguments(ARG "" "" "LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LIBS} PiperMLIR)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  if(NOT name STREQUAL "PiperDialect")
    target_precompile_headers(${name} REUSE_FROM PiperDialect)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

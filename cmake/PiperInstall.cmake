# Part of Piper, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# `cmake --install`: tools, libraries, headers, and a package that
# find_package(Piper) finds.

include(CMakePackageConfigHelpers)

set(piper_libraries PiperSchedule PiperRuntimeSupport PiperRuntimeCPU PiperRuntime)
set(piper_tools piper-schedule)
if(NOT PIPER_RUNTIME_ONLY)
  list(APPEND piper_libraries
    PiperMLIR PiperDialect PiperSharding PiperTarget PiperTransforms PiperCommandLine PiperDriver PiperModels)
  list(APPEND piper_tools
    piper-model piper-opt piper-run piper-lsp-server piper-reduce)
endif()

install(TARGETS ${piper_tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${piper_libraries} EXPORT PiperTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/Piper
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
if(NOT PIPER_RUNTIME_ONLY)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/Piper
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.inc")
endif()

set(piper_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Piper)
install(EXPORT PiperTargets DESTINATION ${piper_cmake_dir})
configure_package_config_file(cmake/PiperConfig.cmake.in
  ${PROJECT_BINARY_DIR}/PiperConfig.cmake INSTALL_DESTINATION ${piper_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PiperConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PiperConfig.cmake
  ${PROJECT_BINARY_DIR}/PiperConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/PiperStaticMLIR.cmake
  DESTINATION ${piper_cmake_dir})

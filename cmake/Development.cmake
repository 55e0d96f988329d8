# SPDX-License-Identifier: BSD-3-Clause
# What programs need that link with Rondo: headers, a CMake package, pkg-config files. All find their neighbours by
# relative paths, since the Python package may be installed anywhere.

install(FILES include/rondo.h include/rondo_prefix.h include/rondo_prefix.hpp include/rondo_prefix.f90
        DESTINATION rondo/include)

include(CMakePackageConfigHelpers)
set(development "${PROJECT_BINARY_DIR}/generated/development")
write_basic_package_version_file("${development}/rondo-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${development}/rondo-config-version.cmake" cmake/rondo-config.cmake DESTINATION rondo/lib/cmake/rondo)

foreach(abi IN LISTS RONDO_ABIS)
    if(TARGET rondo_prefix_${abi})
        configure_file(cmake/rondo-prefix.pc.in "${development}/rondo-prefix-${abi}.pc" @ONLY)
        install(FILES "${development}/rondo-prefix-${abi}.pc" DESTINATION rondo/lib/pkgconfig)
    endif()
endforeach()

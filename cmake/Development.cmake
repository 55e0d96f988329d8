# SPDX-License-Identifier: BSD-3-Clause
# What programs need that link with Rondo, or include rondo.h: headers, a CMake package, pkg-config files.

rondo_install_files(include include/rondo.h include/rondo_prefix.h include/rondo_prefix.hpp include/rondo_prefix.f90)

include(CMakePackageConfigHelpers)
set(development "${PROJECT_BINARY_DIR}/generated/development")
write_basic_package_version_file("${development}/rondo-config-version.cmake" COMPATIBILITY SameMajorVersion)

# rondo_development(<layout> <folder of libraries> <folder of headers> <folder of rules> <word of install()>...)
function(rondo_development layout libraries headers rules)
    file(RELATIVE_PATH headers_from_libraries "/${libraries}" "/${headers}")
    file(RELATIVE_PATH rules_from_libraries "/${libraries}" "/${rules}")
    set(files "${development}/${layout}")
    configure_file(cmake/rondo-config.cmake.in "${files}/rondo-config.cmake" @ONLY)
    install(FILES "${files}/rondo-config.cmake" "${development}/rondo-config-version.cmake"
            DESTINATION "${libraries}/cmake/rondo" ${ARGN})
    configure_file(cmake/rondo.pc.in "${files}/rondo.pc" @ONLY)
    set(found "${files}/rondo.pc")
    foreach(abi IN LISTS RONDO_ABIS)
        if(TARGET rondo_prefix_${abi})
            configure_file(cmake/rondo-prefix.pc.in "${files}/rondo-prefix-${abi}.pc" @ONLY)
            list(APPEND found "${files}/rondo-prefix-${abi}.pc")
        endif()
    endforeach()
    install(FILES ${found} DESTINATION "${libraries}/pkgconfig" ${ARGN})
endfunction()

rondo_development(python_package rondo/lib rondo/include rondo/tuning COMPONENT python_package EXCLUDE_FROM_ALL)
rondo_development(prefix "${prefix_lib}" "${prefix_include}" "${prefix_share}/tuning" COMPONENT prefix)

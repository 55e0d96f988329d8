# SPDX-License-Identifier: BSD-3-Clause
# Libraries that are compiled once per MPI ABI. Every one is self-contained: no libmpi, no shared C++ runtime but the
# unwinder, no symbol but what it is there for.
#   librondo_<abi>.so         is preloaded: the MPI functions that it wraps, and include/rondo.h
#   librondo-prefix-<abi>.so  is linked with, or loaded by Python: include/rondo_prefix.h
#   librondo_profile_<abi>.so is preloaded by `rondo profile`: all functions of <mpi.h>

# What is exported, on purpose, as a version script for the linker. mpi4py probes for functions to tell ABIs apart:
# others must not show up.
# rondo_exports(<file> <header> [<name before>...]): the version script with what a header of include/ declares.
function(rondo_exports file header)
    set(names ${ARGN})
    set(path "${PROJECT_SOURCE_DIR}/include/${header}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    string(REGEX MATCHALL "rondo_[a-z_]+\\(" public "${text}")
    foreach(match IN LISTS public)
        string(REGEX REPLACE "\\(" "" name "${match}")
        list(APPEND names "${name}")
    endforeach()
    list(JOIN names ";\n        " global)
    file(CONFIGURE OUTPUT "${file}" CONTENT "{\n    global:\n        ${global};\n    local:\n        *;\n};\n")
endfunction()
set(preload_exports "${PROJECT_BINARY_DIR}/generated/exports.map")
set(prefix_exports "${PROJECT_BINARY_DIR}/generated/prefix_exports.map")
rondo_exports("${preload_exports}" rondo.h ${exported_names})
rondo_exports("${prefix_exports}" rondo_prefix.h)

# rondo_abi_library(<target> <name> <abi> <version script>): made of <target>_parts.
function(rondo_abi_library target name abi exports_map)
    add_library(${target} SHARED $<TARGET_OBJECTS:${target}_parts>)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX)
    # Of the backend, what is needed.
    target_link_libraries(${target} PRIVATE rondo_backend_${abi} rondo_guard rondo_virtual rondo_shared_memory rondo_core
                          rondo_kernels ${CMAKE_DL_LIBS})
    target_link_options(${target} PRIVATE
        ${RONDO_STATIC_RUNTIME} -Wl,-z,defs -Wl,-z,now "-Wl,--version-script=${exports_map}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exports_map}")
    rondo_install_target(${target})

    if(RONDO_BUILD_TESTS)
        add_test(NAME ${target}.is_self_contained
                 COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/scripts/check_preload.py"
                         --library $<TARGET_FILE:${target}> --exports "${exports_map}")
    endif()
endfunction()

foreach(abi IN LISTS abis)
    rondo_abi_library(rondo_${abi} rondo_${abi} ${abi} "${preload_exports}")
    if(RONDO_BUILD_PREFIX)
        rondo_abi_library(rondo_prefix_${abi} rondo-prefix-${abi} ${abi} "${prefix_exports}")
    endif()
    if(RONDO_BUILD_PROFILER)
        rondo_abi_library(rondo_profile_${abi} rondo_profile_${abi} ${abi} "${profile_exports_${abi}}")
    endif()
endforeach()

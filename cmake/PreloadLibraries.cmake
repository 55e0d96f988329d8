# SPDX-License-Identifier: BSD-3-Clause
# Libraries that are compiled once per MPI ABI. Every one is self-contained: no libmpi, no shared C++ runtime but the
# unwinder, no symbol but what it is there for.
#   librondo_<abi>.so         is preloaded: the MPI functions that it wraps, and include/rondo.h
#   librondo-prefix-<abi>.so  is linked with, or loaded by Python: include/rondo_prefix.h
#   librondo_profile_<abi>.so is preloaded by `rondo profile`: all functions of <mpi.h>

include(MpiHeaders)
include(MpiFunctions)
include(CheckCXXSourceCompiles)

rondo_glob(backend_sources rondo/backends/mpi/*.cpp)
rondo_glob(preload_sources rondo/interposer/*.cpp rondo/guard/*.cpp)
list(REMOVE_ITEM preload_sources ${guard_sources})  # those without MPI
rondo_glob(prefix_sources rondo/prefix/*.cpp)

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

# The standard ABI has its own header name; programs, and Rondo, include <mpi.h>.
set(mpiabi_forward "${PROJECT_BINARY_DIR}/generated/mpiabi")
if(RONDO_MPIABI_INCLUDE)
    file(CONFIGURE OUTPUT "${mpiabi_forward}/mpi.h" CONTENT "#include \"${RONDO_MPIABI_INCLUDE}/mpi_abi.h\"\n")
endif()

# rondo_for_abi(<target> <abi> <header directory>): how everything is compiled that includes <mpi.h>.
function(rondo_for_abi target abi directory)
    string(TOUPPER ${abi} upper)
    rondo_configure(${target})
    target_include_directories(${target} PRIVATE "${generated_include}")
    target_include_directories(${target} SYSTEM BEFORE PRIVATE "${directory}")
    # The C++ bindings that MPI-3 removed would pull in symbols of libmpicxx.
    target_compile_definitions(${target} PRIVATE
        RONDO_ABI_${upper}=1 RONDO_ABI_NAME="${abi}" OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)

    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    set(CMAKE_REQUIRED_INCLUDES "${directory}")
    set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX=1 -DMPICH_SKIP_MPICXX=1)
    set(CMAKE_REQUIRED_QUIET ON)
    string(SHA1 directory_key "${directory}")
    string(SUBSTRING ${directory_key} 0 8 directory_key)
    check_cxx_source_compiles("#include <mpi.h>\nint main() { return &MPI_Scan_c == nullptr; }"
                              RONDO_${upper}_LARGE_COUNT_${directory_key})
    if(RONDO_${upper}_LARGE_COUNT_${directory_key})
        target_compile_definitions(${target} PRIVATE RONDO_HAVE_LARGE_COUNT_API=1)
        set(large_count "with")
    else()
        set(large_count "without")
    endif()
    message(STATUS "${target}: headers in ${directory}, ${large_count} the large-count (_c) functions")
endfunction()

# rondo_abi_library(<target> <name> <abi> <header directory> <version script> <source>...)
function(rondo_abi_library target name abi directory exports_map)
    add_library(${target} SHARED ${ARGN})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
    rondo_for_abi(${target} ${abi} "${directory}")
    # Of the backend, what is needed.
    target_link_libraries(${target} PRIVATE rondo_backend_${abi} rondo_guard rondo_virtual rondo_shared_memory rondo_core
                          rondo_kernels ${CMAKE_DL_LIBS})
    target_link_options(${target} PRIVATE
        ${RONDO_STATIC_RUNTIME} -Wl,-z,defs -Wl,-z,now "-Wl,--version-script=${exports_map}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exports_map}")
    install(TARGETS ${target} LIBRARY DESTINATION rondo/lib NAMELINK_SKIP)

    if(RONDO_BUILD_TESTS)
        add_test(NAME ${target}.is_self_contained
                 COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/scripts/check_preload.py"
                         --library $<TARGET_FILE:${target}> --exports "${exports_map}")
    endif()
endfunction()

include(ProfileLibraries)

if(NOT preload_sources)
    message(STATUS "Preload libraries skipped: no sources in rondo/backends/mpi and rondo/interposer")
    return()
endif()

foreach(abi IN LISTS RONDO_ABIS)
    string(TOUPPER ${abi} upper)
    set(directory "${RONDO_${upper}_INCLUDE}")
    if(NOT directory)
        message(STATUS "librondo_${abi}.so skipped: no headers of this ABI; set RONDO_${upper}_INCLUDE or run "
                       "scripts/setup.py mpi")
        continue()
    endif()
    if(abi STREQUAL "mpiabi")
        set(directory "${mpiabi_forward}")
    endif()
    add_library(rondo_backend_${abi} STATIC ${backend_sources})
    rondo_for_abi(rondo_backend_${abi} ${abi} "${directory}")
    rondo_abi_library(rondo_${abi} rondo_${abi} ${abi} "${directory}" "${preload_exports}" ${preload_sources}
                      ${generated_sources})
    if(RONDO_BUILD_PREFIX)
        rondo_abi_library(rondo_prefix_${abi} rondo-prefix-${abi} ${abi} "${directory}" "${prefix_exports}"
                          ${prefix_sources})
    endif()
    if(RONDO_BUILD_PROFILER)
        rondo_profile_library(${abi} "${directory}")
    endif()
endforeach()

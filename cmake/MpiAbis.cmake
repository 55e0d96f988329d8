# SPDX-License-Identifier: BSD-3-Clause
# What is compiled once per MPI ABI, as parts: of libraries (PreloadLibraries.cmake), and of tests with a made-up MPI
# library. Only those parts are built that something is made of.
#   rondo_backend_<abi>        rondo/backends/mpi
#   rondo_<abi>_parts          what is preloaded, besides
#   rondo_prefix_<abi>_parts   the library of prefix sums
#   rondo_profile_<abi>_parts  the profiler
# Sets
#   abis                       those whose headers are found

include(MpiHeaders)
include(MpiFunctions)
include(CheckCXXSourceCompiles)

rondo_glob(backend_sources rondo/backends/mpi/*.cpp)
rondo_glob(preload_sources rondo/interposer/*.cpp rondo/guard/*.cpp)
list(REMOVE_ITEM preload_sources ${guard_sources})  # those without MPI
rondo_glob(prefix_sources rondo/prefix/*.cpp)

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
    check_cxx_source_compiles("#include <mpi.h>\nint main() { return &MPI_Scan_init == nullptr; }"
                              RONDO_${upper}_PERSISTENT_${directory_key})
    if(RONDO_${upper}_PERSISTENT_${directory_key})
        target_compile_definitions(${target} PRIVATE RONDO_HAVE_PERSISTENT_API=1)
    endif()
    check_cxx_source_compiles("#include <mpi.h>\nint main() { return &MPI_Scan_init_c == nullptr; }"
                              RONDO_${upper}_LARGE_COUNT_${directory_key})
    if(RONDO_${upper}_LARGE_COUNT_${directory_key})
        target_compile_definitions(${target} PRIVATE RONDO_HAVE_LARGE_COUNT_API=1)
        set(large_count "with" PARENT_SCOPE)
    else()
        set(large_count "without" PARENT_SCOPE)
    endif()
endfunction()

# rondo_abi_parts(<target> <abi> <header directory> <source>...)
function(rondo_abi_parts target abi directory)
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${ARGN})
    rondo_for_abi(${target} ${abi} "${directory}")
    rondo_precompile(${target})
endfunction()

include(ProfileParts)

set(abis "")
foreach(abi IN LISTS RONDO_ABIS)
    string(TOUPPER ${abi} upper)
    set(directory "${RONDO_${upper}_INCLUDE}")
    if(NOT directory)
        message(STATUS "ABI ${abi} skipped: no headers of it; set RONDO_${upper}_INCLUDE or run scripts/setup.py mpi")
        continue()
    endif()
    if(abi STREQUAL "mpiabi")
        set(directory "${mpiabi_forward}")
    endif()
    list(APPEND abis ${abi})
    add_library(rondo_backend_${abi} STATIC EXCLUDE_FROM_ALL ${backend_sources})
    rondo_for_abi(rondo_backend_${abi} ${abi} "${directory}")
    rondo_precompile(rondo_backend_${abi})
    message(STATUS "ABI ${abi}: headers in ${directory}, ${large_count} the large-count (_c) functions")
    rondo_abi_parts(rondo_${abi}_parts ${abi} "${directory}" ${preload_sources} ${generated_sources})
    rondo_abi_parts(rondo_prefix_${abi}_parts ${abi} "${directory}" ${prefix_sources})
    if(RONDO_BUILD_PROFILER)
        rondo_profile_parts(${abi} "${directory}")
    endif()
endforeach()

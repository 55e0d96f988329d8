# SPDX-License-Identifier: BSD-3-Clause
# librondo_<abi>.so: the interposer and the MPI backend, compiled once per MPI ABI.
# Every library is self-contained: no libmpi, no shared C++ runtime, no symbol that is not in exports.map.

include(MpiHeaders)
include(CheckCXXSourceCompiles)
find_package(Python3 COMPONENTS Interpreter)

rondo_glob(preload_sources rondo/backends/mpi/*.cpp rondo/interposer/*.cpp)
set(exports_map "${PROJECT_SOURCE_DIR}/rondo/interposer/exports.map")

# The standard ABI has its own header name; programs, and Rondo, include <mpi.h>.
set(mpiabi_forward "${PROJECT_BINARY_DIR}/generated/mpiabi")
if(RONDO_MPIABI_INCLUDE)
    file(CONFIGURE OUTPUT "${mpiabi_forward}/mpi.h" CONTENT "#include \"${RONDO_MPIABI_INCLUDE}/mpi_abi.h\"\n")
endif()

# rondo_preload_library(<abi> <header directory>)
function(rondo_preload_library abi directory)
    string(TOUPPER ${abi} upper)
    set(target rondo_${abi})

    add_library(${target} SHARED ${preload_sources})
    rondo_configure(${target})
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
    message(STATUS "librondo_${abi}.so: headers in ${directory}, ${large_count} the large-count (_c) functions")

    target_link_libraries(${target} PRIVATE rondo_virtual rondo_core rondo_kernels ${CMAKE_DL_LIBS})
    target_link_options(${target} PRIVATE
        -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,-z,now)
    if(EXISTS "${exports_map}")
        target_link_options(${target} PRIVATE "-Wl,--version-script=${exports_map}")
        set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${exports_map}")
    endif()
    install(TARGETS ${target} LIBRARY DESTINATION rondo/lib NAMELINK_SKIP)

    if(RONDO_BUILD_TESTS AND Python3_Interpreter_FOUND AND EXISTS "${exports_map}")
        add_test(NAME preload.${abi}.is_self_contained
                 COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/scripts/check_preload.py"
                         --library $<TARGET_FILE:${target}> --exports "${exports_map}")
    endif()
endfunction()

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
    rondo_preload_library(${abi} "${directory}")
endforeach()

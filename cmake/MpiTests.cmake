# SPDX-License-Identifier: BSD-3-Clause
# Tests of the rooms that include <mpi.h>, with a made-up MPI library (tests/backends/mpi) behind them. By MPICH's
# interface, whose handles need no library to be looked up in.

if(NOT "mpich" IN_LIST abis)
    message(STATUS "Tests with a made-up MPI library skipped: no headers of MPICH")
    return()
endif()

rondo_glob(made_up_sources tests/backends/mpi/made_up*.cpp)
add_library(rondo_made_up STATIC EXCLUDE_FROM_ALL ${made_up_sources})
rondo_for_abi(rondo_made_up mpich "${RONDO_MPICH_INCLUDE}")
rondo_precompile(rondo_made_up)
target_link_libraries(rondo_made_up PUBLIC rondo_backend_mpich rondo_guard rondo_virtual rondo_shared_memory rondo_core
                      rondo_kernels ${CMAKE_DL_LIBS} GTest::gmock)

# rondo_mpi_tests(<room> [<parts>])
function(rondo_mpi_tests room)
    rondo_glob(sources tests/${room}/*_test.cpp)
    string(REPLACE "/" "_" name "${room}")
    set(target ${name}_test)
    add_executable(${target} EXCLUDE_FROM_ALL ${sources})
    foreach(parts IN LISTS ARGN)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:${parts}>)
    endforeach()
    rondo_for_abi(${target} mpich "${RONDO_MPICH_INCLUDE}")
    rondo_test_options(${target})
    target_link_libraries(${target} PRIVATE rondo_made_up GTest::gtest_main)
    rondo_discover_tests(${target} ${room})
endfunction()

rondo_mpi_tests(backends/mpi)
rondo_mpi_tests(interposer rondo_mpich_parts)
rondo_mpi_tests(prefix rondo_prefix_mpich_parts)
if(RONDO_BUILD_PROFILER)
    rondo_mpi_tests(profiler rondo_profile_mpich_parts)
endif()

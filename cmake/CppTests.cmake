# SPDX-License-Identifier: BSD-3-Clause
# One GoogleTest executable per directory of tests/, from every <name>_test.cpp in it.
# tests/mpi (real MPI programs) and tests/packaging are driven by pytest; MpiTests.cmake has what includes <mpi.h>.

# Not of `all`: installing needs no tests. Build presets name it, `cmake --build --preset release` builds both.
add_custom_target(rondo_tests)
# `make test` runs each room once: optimised as shipped where that is what matters or where it takes long, else sanitized.
set(optimised_rooms backends conformance kernels)
add_custom_target(rondo_optimised_tests)
add_custom_target(rondo_sanitized_tests)
add_custom_target(rondo_thread_tests)  # those of the preset `threads`
find_package(GTest QUIET)
if(NOT TARGET GTest::gmock)  # Debian has GoogleTest and GoogleMock in packages of their own
    message(STATUS "C++ tests skipped: no GoogleTest with GoogleMock; install libgtest-dev and libgmock-dev")
    return()
endif()
include(GoogleTest)

file(GLOB test_sources CONFIGURE_DEPENDS
     "${PROJECT_SOURCE_DIR}/tests/*/*_test.cpp" "${PROJECT_SOURCE_DIR}/tests/*/*/*_test.cpp")
list(FILTER test_sources EXCLUDE REGEX "/tests/(mpi|packaging|benchmarks|interposer|prefix|profiler)/|/tests/[^/]+/mpi/")
if(NOT TARGET rondo_testbed_parts)
    list(FILTER test_sources EXCLUDE REGEX "/tests/testbed/")
endif()

# Discovery at test time: a build does not start the programs, so it works under every sanitizer setting.
function(rondo_discover_tests target room)
    set(label sanitized)
    if(room IN_LIST optimised_rooms)
        set(label optimised)
    endif()
    add_dependencies(rondo_tests ${target})
    add_dependencies(rondo_${label}_tests ${target})
    gtest_discover_tests(${target} TEST_PREFIX "${room}." NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS ${label} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()

# Tests take what is precompiled from here.
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/test_headers.cpp" CONTENT "// Headers alone.\n")
add_library(rondo_test_headers OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/generated/test_headers.cpp")
rondo_configure(rondo_test_headers)
rondo_precompile(rondo_test_headers <gmock/gmock.h> <gtest/gtest.h>)
target_link_libraries(rondo_test_headers PRIVATE GTest::gmock)
set(sanitized_test_options "")
if(NOT RONDO_SANITIZE_ALL)  # checks of each pointer in a test: they take two fifths of the time of a compilation
    set(sanitized_test_options
        -fno-sanitize=null,alignment,object-size,vptr,nonnull-attribute,returns-nonnull-attribute)
endif()
target_compile_options(rondo_test_headers PRIVATE ${sanitized_test_options})
set_target_properties(rondo_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)

# rondo_test_options(<target>): how tests are compiled, besides.
function(rondo_test_options target)
    target_precompile_headers(${target} REUSE_FROM rondo_test_headers)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    # GoogleTest's macros hold an if and an else of their own. What is tested is optimised as shipped; tests need not be.
    target_compile_options(${target} PRIVATE -Wno-dangling-else $<$<CONFIG:Release>:-O1> ${sanitized_test_options})
    if(CMAKE_CROSSCOMPILING)  # by Clang (cmake/Zig.cmake), which takes literals of other signs amiss
        target_compile_options(${target} PRIVATE -Wno-error=sign-conversion)
        target_compile_definitions(${target} PRIVATE RONDO_TESTS_ARE_EMULATED=1)
    endif()
endfunction()

set(rooms "")
foreach(source IN LISTS test_sources)
    string(REGEX REPLACE "^${PROJECT_SOURCE_DIR}/tests/(.*)/[^/]+$" "\\1" room "${source}")
    list(APPEND rooms ${room})
    list(APPEND sources_of_${room} "${source}")
endforeach()
list(REMOVE_DUPLICATES rooms)

foreach(room IN LISTS rooms)
    string(REPLACE "/" "_" name "${room}")
    set(target ${name}_test)
    add_executable(${target} EXCLUDE_FROM_ALL ${sources_of_${room}})
    if(room STREQUAL "backends/shared_memory")
        add_dependencies(rondo_thread_tests ${target})
    endif()
    rondo_configure(${target})
    rondo_test_options(${target})
    target_link_libraries(${target} PRIVATE rondo_virtual rondo_core GTest::gmock GTest::gtest_main)
    if(room STREQUAL "backends/shared_memory")
        target_link_libraries(${target} PRIVATE rondo_shared_memory)
    elseif(room STREQUAL "distribution")
        target_link_libraries(${target} PRIVATE rondo_distribution)
    elseif(room STREQUAL "bench")  # of the driver, which is compiled where it runs
        target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/apps/bench/division.cpp"
                                         "${PROJECT_SOURCE_DIR}/apps/bench/line.cpp")
    elseif(room STREQUAL "guard")
        target_link_libraries(${target} PRIVATE rondo_guard)
    elseif(room STREQUAL "kernels")
        target_link_libraries(${target} PRIVATE rondo_kernels)
    elseif(room STREQUAL "testbed")
        target_link_libraries(${target} PRIVATE rondo_testbed_parts ${CMAKE_DL_LIBS})
        target_compile_definitions(${target} PRIVATE RONDO_PATIENCE_LIBRARY="$<TARGET_FILE:patience>")
        add_dependencies(${target} patience)
    endif()
    rondo_discover_tests(${target} ${room})
endforeach()
include(MpiTests)

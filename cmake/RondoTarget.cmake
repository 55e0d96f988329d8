# SPDX-License-Identifier: BSD-3-Clause
# What every target of this project has in common.

find_package(Threads REQUIRED)

# libgcc stays shared: exceptions of a program that pass through a library need the program's unwinder.
set(RONDO_STATIC_RUNTIME -static-libstdc++ -Wl,--exclude-libs,ALL
    CACHE STRING "Linker options for a C++ runtime inside each library that no program sees")

add_library(rondo_options INTERFACE)
target_include_directories(rondo_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
target_compile_features(rondo_options INTERFACE cxx_std_20)

add_library(rondo_warnings INTERFACE)
target_compile_options(rondo_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-missing-field-initializers -Wpedantic -Wshadow -Wconversion $<$<BOOL:${RONDO_WERROR}>:-Werror>>)
# GCC warns falsely about std::string operator+ (its bug 105651), and of more that is inlined from precompiled headers.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(rondo_warnings INTERFACE
        $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endif()

# rondo_glob(<variable> <pattern>...): sources by pattern, so that a new file needs no edit here.
function(rondo_glob variable)
    list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
    file(GLOB found CONFIGURE_DEPENDS LIST_DIRECTORIES false ${ARGN})
    set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# rondo_configure(<target>): include root, warnings, hidden symbols.
function(rondo_configure target)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:rondo_warnings> PUBLIC rondo_options)
    set_target_properties(${target} PROPERTIES
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
endfunction()

# rondo_precompile(<target> [<header>...]): the standard headers, and those named, are read once for all of its sources.
# A source of an algorithm takes a third of the time then. Sources include what they need all the same: `make lint` and
# packages for other machines compile without.
function(rondo_precompile target)
    target_precompile_headers(${target} PRIVATE
        <algorithm> <array> <cstdint> <cstring> <functional> <limits> <map> <memory> <optional> <span> <string>
        <string_view> <utility> <vector> ${ARGN})
endfunction()

# rondo_static_library(<target> <source>...). A room that is still empty is built from an empty file.
function(rondo_static_library target)
    set(sources ${ARGN})
    if(NOT sources)
        set(sources "${PROJECT_BINARY_DIR}/generated/${target}_empty.cpp")
        file(CONFIGURE OUTPUT "${sources}" CONTENT "// No source files yet.\n")
    endif()
    add_library(${target} STATIC ${sources})
    rondo_configure(${target})
    rondo_precompile(${target})
endfunction()

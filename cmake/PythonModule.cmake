# SPDX-License-Identifier: BSD-3-Clause
# rondo._core: the MPI-free core for Python. It is compiled for the Python that builds; or, for a wheel that serves many
# versions and perhaps another processor, for those whose headers are named.

set(RONDO_PYTHON_HEADERS "" CACHE STRING
    "For which versions of Python to build, where their headers are: 3.10=<folder>;3.12=<folder>; empty: the one here")

set(python_module "${PROJECT_SOURCE_DIR}/python/rondo/_core")
set(python_module_sources "${python_module}/core_module.cpp" "${python_module}/described_call.cpp"
                          "${python_module}/distribution_module.cpp" "${python_module}/machine_module.cpp"
                          "${python_module}/plan_module.cpp" "${python_module}/rules_module.cpp"
                          "${python_module}/settings_module.cpp" "${python_module}/trace_module.cpp" "${python_module}/verdicts_module.cpp")

if(CMAKE_VERSION VERSION_LESS 3.26 OR RONDO_PYTHON_HEADERS)
    set(python_development "")
else()
    set(python_development OPTIONAL_COMPONENTS Development.SABIModule)
endif()
if(NOT RONDO_PYTHON_HEADERS)
    list(PREPEND python_development Development.Module)
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter ${python_development})
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT)

# rondo_core_module(<target>): what the module is linked with and where it goes.
function(rondo_core_module target)
    target_link_libraries(${target} PRIVATE rondo_warnings rondo_distribution rondo_core rondo_virtual)
    install(TARGETS ${target} LIBRARY DESTINATION rondo COMPONENT python_package EXCLUDE_FROM_ALL)
    install(TARGETS ${target} LIBRARY DESTINATION "${prefix_python}/rondo" COMPONENT prefix)
endfunction()

if(NOT RONDO_PYTHON_HEADERS)
    find_package(nanobind CONFIG REQUIRED)
    # NB_SUPPRESS_WARNINGS: nanobind's headers are system headers to us.
    nanobind_add_module(_core NB_STATIC NB_SUPPRESS_WARNINGS ${python_module_sources})
    rondo_core_module(_core)
    return()
endif()

# nanobind's CMake package knows one Python, which has to run here. So this is its recipe for other build systems
# (nb_combined.cpp). From 3.12 on, nanobind can keep to the stable interface: one module for all later versions.
get_filename_component(nanobind_directory "${nanobind_ROOT}" DIRECTORY)
foreach(each IN LISTS RONDO_PYTHON_HEADERS)
    string(REGEX MATCH "^([0-9.]+)=(.+)$" _ "${each}")
    set(version "${CMAKE_MATCH_1}")
    set(headers "${CMAKE_MATCH_2}")
    string(REPLACE "." "" digits "${version}")
    set(target _core_${digits})
    add_library(${target} MODULE ${python_module_sources})
    add_library(nanobind_${digits} OBJECT "${nanobind_directory}/src/nb_combined.cpp")
    set(suffix ".cpython-${digits}-${CMAKE_SYSTEM_PROCESSOR}-linux-gnu.so")
    if(version VERSION_GREATER_EQUAL 3.12)
        set(suffix ".abi3.so")
        target_compile_definitions(nanobind_${digits} PUBLIC Py_LIMITED_API=0x030C0000)
        target_compile_options(nanobind_${digits} PUBLIC "SHELL:-include cstdio")  # nanobind takes it to be in Python.h
    endif()
    target_include_directories(nanobind_${digits} SYSTEM PUBLIC "${headers}" "${nanobind_directory}/include"
                               PRIVATE "${nanobind_directory}/ext/robin_map/include")
    target_compile_definitions(nanobind_${digits} PRIVATE NB_COMPACT_ASSERTIONS)
    target_compile_options(nanobind_${digits} PUBLIC -ffunction-sections -fdata-sections
                           PRIVATE -w -fno-strict-aliasing)
    set_target_properties(${target} nanobind_${digits} PROPERTIES CXX_VISIBILITY_PRESET hidden)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME _core PREFIX "" SUFFIX "${suffix}")
    target_compile_options(${target} PRIVATE -Os)
    target_link_libraries(${target} PRIVATE nanobind_${digits})
    target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,-z,undefs)
    rondo_core_module(${target})
endforeach()

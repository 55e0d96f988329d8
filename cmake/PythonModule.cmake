# SPDX-License-Identifier: BSD-3-Clause
# rondo._core: the MPI-free core for Python.

set(python_module_source "${PROJECT_SOURCE_DIR}/python/rondo/_core/core_module.cpp")
if(NOT EXISTS "${python_module_source}")
    message(STATUS "Python module skipped: python/rondo/_core/core_module.cpp does not exist yet")
    return()
endif()

if(CMAKE_VERSION VERSION_LESS 3.26)
    set(python_development Development.Module)
else()
    set(python_development Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter ${python_development})
execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT)
find_package(nanobind CONFIG REQUIRED)

# NB_SUPPRESS_WARNINGS: nanobind's headers are system headers to us.
nanobind_add_module(_core NB_STATIC NB_SUPPRESS_WARNINGS "${python_module_source}"
                    "${PROJECT_SOURCE_DIR}/python/rondo/_core/distribution_module.cpp"
                    "${PROJECT_SOURCE_DIR}/python/rondo/_core/machine_module.cpp"
                    "${PROJECT_SOURCE_DIR}/python/rondo/_core/rules_module.cpp"
                    "${PROJECT_SOURCE_DIR}/python/rondo/_core/trace_module.cpp"
                    "${PROJECT_SOURCE_DIR}/python/rondo/_core/verdicts_module.cpp")
target_link_libraries(_core PRIVATE rondo_warnings rondo_distribution rondo_core rondo_virtual)
install(TARGETS _core LIBRARY DESTINATION rondo)

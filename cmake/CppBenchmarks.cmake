# SPDX-License-Identifier: BSD-3-Clause
# One program per tests/benchmarks/<name>_benchmark.cpp, all in <build>/benchmarks.

add_custom_target(rondo_benchmarks DEPENDS rondo_kernels)
rondo_glob(benchmark_sources tests/benchmarks/*_benchmark.cpp)
foreach(source IN LISTS benchmark_sources)
    get_filename_component(target "${source}" NAME_WE)
    add_executable(${target} EXCLUDE_FROM_ALL "${source}")
    rondo_configure(${target})
    target_link_libraries(${target} PRIVATE rondo_guard rondo_virtual rondo_shared_memory rondo_core rondo_kernels)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
    add_dependencies(rondo_benchmarks ${target})
endforeach()

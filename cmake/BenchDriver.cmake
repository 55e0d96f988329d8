# SPDX-License-Identifier: BSD-3-Clause
# The benchmark driver is compiled where it runs. Here it is only known, so that clang-tidy sees its compile commands.

if(RONDO_MPICH_INCLUDE)
    rondo_glob(driver_sources apps/bench/*.cpp)
    add_library(rondo_bench_driver OBJECT EXCLUDE_FROM_ALL ${driver_sources})
    rondo_configure(rondo_bench_driver)
    target_include_directories(rondo_bench_driver SYSTEM BEFORE PRIVATE "${RONDO_MPICH_INCLUDE}")
    target_compile_definitions(rondo_bench_driver PRIVATE MPICH_SKIP_MPICXX=1)
endif()

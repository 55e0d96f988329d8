# SPDX-License-Identifier: BSD-3-Clause
# The benchmark driver for SimGrid's SMPI, with Rondo linked in: the same sources in simulated time, a second opinion.
# For the preset "simgrid" only: SMPI's compiler wrapper makes every program a library that smpirun loads once a rank.

include(MpiFunctions)
rondo_glob(simgrid_sources apps/bench/*.cpp rondo/backends/mpi/*.cpp rondo/guard/*.cpp
           rondo/interposer/*.cpp)

add_library(rondo_bench_simgrid MODULE ${simgrid_sources} ${generated_sources})
set_target_properties(rondo_bench_simgrid PROPERTIES PREFIX "" SUFFIX "")
rondo_configure(rondo_bench_simgrid)
target_include_directories(rondo_bench_simgrid PRIVATE "${generated_include}")
target_compile_definitions(rondo_bench_simgrid PRIVATE RONDO_ABI_SIMGRID=1 RONDO_ABI_NAME="simgrid")
target_link_libraries(rondo_bench_simgrid PRIVATE rondo_virtual rondo_shared_memory rondo_core rondo_kernels ${CMAKE_DL_LIBS})
# smpirun looks main up by name.
set_source_files_properties("${PROJECT_SOURCE_DIR}/apps/bench/main.cpp" PROPERTIES COMPILE_OPTIONS -fvisibility=default)
# Every rank has variables of its own only if none is unique in the process (the preset's -fno-gnu-unique), and calls
# Rondo's MPI_Exscan only if the program's symbols come before the library's.
target_link_options(rondo_bench_simgrid PRIVATE -Wl,-Bsymbolic)

# SPDX-License-Identifier: BSD-3-Clause
# The benchmark driver. Its sources are installed and compiled where they run; for clang-tidy, MPICH's is known here.
# A package for other machines has a program for each ABI that `rondo bench` starts, linked with stand-ins of the MPI libraries.

set(RONDO_MPI_STAND_INS "" CACHE PATH "Folder with <abi>/<library> to link prebuilt benchmark drivers with; empty: none")

# Room for what python/rondo/bench/prebuilt.py writes into the program: where the MPI library and Rondo's are.
string(REPEAT "/of-the-mpi-library" 27 room_for_run_path)
string(REPEAT "/of-rondo-prefix" 32 room_for_prefix_library)

rondo_glob(driver_sources apps/bench/*.cpp)

# rondo_bench_driver(<abi> <header directory>)
function(rondo_bench_driver abi directory)
    set(target rondo_bench_${abi})
    add_executable(${target} ${driver_sources})
    rondo_for_abi(${target} ${abi} "${directory}")
    target_compile_definitions(${target} PRIVATE RONDO_PREFIX_LIBRARY="${room_for_prefix_library}")
    file(GLOB library "${RONDO_MPI_STAND_INS}/${abi}/*.so*")
    target_link_options(${target} PRIVATE "${library}" "-Wl,-rpath,${room_for_run_path}")
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME rondo-bench-${abi} SKIP_BUILD_RPATH ON)
    rondo_install_target(${target})
endfunction()

if(RONDO_MPI_STAND_INS)
    rondo_bench_driver(mpich "${RONDO_MPICH_INCLUDE}")
    rondo_bench_driver(openmpi "${RONDO_OPENMPI_INCLUDE}")
elseif(RONDO_MPICH_INCLUDE)
    add_library(rondo_bench_driver OBJECT EXCLUDE_FROM_ALL ${driver_sources})
    rondo_configure(rondo_bench_driver)
    target_include_directories(rondo_bench_driver SYSTEM BEFORE PRIVATE "${RONDO_MPICH_INCLUDE}")
    target_compile_definitions(rondo_bench_driver PRIVATE MPICH_SKIP_MPICXX=1)
endif()

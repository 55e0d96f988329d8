# SPDX-License-Identifier: BSD-3-Clause
# librondo_profile_<abi>.so: the profiler, compiled once per MPI ABI. It wraps all functions that the ABI's <mpi.h>
# declares, as C++ that a script makes of it.

rondo_glob(profiler_sources rondo/profiler/*.cpp)
set(profiler_script "${PROJECT_SOURCE_DIR}/scripts/profiled_functions.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${profiler_script}")

# rondo_profile_library(<abi> <header directory>)
function(rondo_profile_library abi directory)
    set(generated "${PROJECT_BINARY_DIR}/generated/profile_${abi}")
    execute_process(
        COMMAND "${Python3_EXECUTABLE}" "${profiler_script}" --compiler "${CMAKE_CXX_COMPILER}" --include "${directory}"
                --list "${mpi_functions}" --output "${generated}/entries.cpp" --exports "${generated}/exports.map"
        RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "librondo_profile_${abi}.so: cannot list the functions of ${directory}/mpi.h")
    endif()
    rondo_abi_library(rondo_profile_${abi} rondo_profile_${abi} ${abi} "${directory}" "${generated}/exports.map"
                      ${profiler_sources} "${generated}/entries.cpp")
endfunction()

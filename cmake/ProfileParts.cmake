# SPDX-License-Identifier: BSD-3-Clause
# The profiler, compiled once per MPI ABI. It wraps all functions that the ABI's <mpi.h> declares, as C++ that a script
# makes of it.

rondo_glob(profiler_sources rondo/profiler/*.cpp)
set(profiler_script "${PROJECT_SOURCE_DIR}/scripts/profiled_functions.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${profiler_script}")

# rondo_profile_parts(<abi> <header directory>): sets profile_exports_<abi> besides, the version script.
function(rondo_profile_parts abi directory)
    set(generated "${PROJECT_BINARY_DIR}/generated/profile_${abi}")
    execute_process(
        COMMAND "${Python3_EXECUTABLE}" "${profiler_script}" --compiler "${CMAKE_CXX_COMPILER}" --include "${directory}"
                --list "${mpi_functions}" --output "${generated}/entries.cpp" --exports "${generated}/exports.map"
        RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "librondo_profile_${abi}.so: cannot list the functions of ${directory}/mpi.h")
    endif()
    rondo_abi_parts(rondo_profile_${abi}_parts ${abi} "${directory}" ${profiler_sources} "${generated}/entries.cpp")
    if(NOT RONDO_SANITIZE_ALL)  # a thousand functions that are all alike
        set_source_files_properties("${generated}/entries.cpp" PROPERTIES COMPILE_OPTIONS "-fno-sanitize=all" SKIP_PRECOMPILE_HEADERS ON)
    endif()
    set(profile_exports_${abi} "${generated}/exports.map" PARENT_SCOPE)
endfunction()

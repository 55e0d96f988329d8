# SPDX-License-Identifier: BSD-3-Clause
# Finds the header directory of each MPI ABI. Only headers are needed: the preload libraries take every function
# pointer from dlsym and never link with libmpi.

# Include directories that the mpicc on PATH would pass.
function(_rondo_wrapper_directories variable)
    set(directories "")
    find_program(RONDO_MPICC mpicc DOC "MPI compiler wrapper that is asked for its header directory")
    if(RONDO_MPICC)
        foreach(flag IN ITEMS -show --showme)
            execute_process(COMMAND "${RONDO_MPICC}" ${flag} OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE status)
            if(status EQUAL 0)
                string(REGEX MATCHALL "-I *[^ \n]+" flags "${line}")
                list(TRANSFORM flags REPLACE "^-I *" "")
                list(APPEND directories ${flags})
                break()
            endif()
        endforeach()
    endif()
    set(${variable} "${directories}" PARENT_SCOPE)
endfunction()

# _rondo_find_header(<cache variable> <header> <text that the header must contain> <directory>...)
function(_rondo_find_header variable header text)
    if(${variable})
        return()
    endif()
    foreach(directory IN LISTS ARGN)
        if(EXISTS "${directory}/${header}")
            file(STRINGS "${directory}/${header}" lines REGEX "${text}" LIMIT_COUNT 1)
            if(lines)
                set(${variable} "${directory}" CACHE PATH "Directory with the ${header} of this ABI" FORCE)
                return()
            endif()
        endif()
    endforeach()
    set(${variable} "" CACHE PATH "Directory with the ${header} of this ABI" FORCE)
endfunction()

_rondo_wrapper_directories(wrapper_directories)
set(toolchain "${PROJECT_SOURCE_DIR}/.toolchain")
set(multiarch "x86_64-linux-gnu")
if(CMAKE_LIBRARY_ARCHITECTURE)
    set(multiarch "${CMAKE_LIBRARY_ARCHITECTURE}")
endif()

_rondo_find_header(RONDO_MPICH_INCLUDE mpi.h "define +MPICH_VERSION|define +MPICH_NAME|define +I_MPI_VERSION"
    "${toolchain}/mpich/include" "/usr/include/${multiarch}/mpich" ${wrapper_directories})
_rondo_find_header(RONDO_OPENMPI_INCLUDE mpi.h "define +OMPI_MAJOR_VERSION"
    "${toolchain}/openmpi/include" "/usr/lib/${multiarch}/openmpi/include" ${wrapper_directories})
_rondo_find_header(RONDO_MPIABI_INCLUDE mpi_abi.h "MPI_ABI_VERSION|MPI_H_ABI"
    "${toolchain}/mpich/include" "/usr/include/${multiarch}/mpich" ${wrapper_directories})

# SPDX-License-Identifier: BSD-3-Clause
# find_package(rondo) for programs that compute prefix sums. Targets:
#   rondo::prefix_<abi>   for each ABI that this installation has: mpich (Intel MPI's, too), openmpi, mpiabi
#   rondo::prefix         the one for the MPI that find_package(MPI) has found before, by its mpi.h
# CMAKE_PREFIX_PATH is what `python -c "import rondo; print(rondo.__path__[0])"` prints.

get_filename_component(_rondo_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
foreach(_rondo_abi IN ITEMS mpich openmpi mpiabi)
    set(_rondo_library "${_rondo_root}/lib/librondo-prefix-${_rondo_abi}.so")
    if(EXISTS "${_rondo_library}" AND NOT TARGET rondo::prefix_${_rondo_abi})
        add_library(rondo::prefix_${_rondo_abi} SHARED IMPORTED)
        set_target_properties(rondo::prefix_${_rondo_abi} PROPERTIES
            IMPORTED_LOCATION "${_rondo_library}"
            IMPORTED_SONAME "librondo-prefix-${_rondo_abi}.so"
            INTERFACE_INCLUDE_DIRECTORIES "${_rondo_root}/include")
    endif()
endforeach()

# Which of them is for an mpi.h.
function(_rondo_abi_of_mpi variable)
    set(${variable} "" PARENT_SCOPE)
    foreach(language IN ITEMS C CXX)
        foreach(directory IN LISTS MPI_${language}_INCLUDE_DIRS MPI_${language}_COMPILER_INCLUDE_DIRS)
            if(NOT EXISTS "${directory}/mpi.h")
                continue()
            endif()
            file(STRINGS "${directory}/mpi.h" lines
                 REGEX "define +(OMPI_MAJOR_VERSION|MPICH_VERSION|MPICH_NAME|I_MPI_VERSION|MPI_ABI_VERSION)")
            if("${lines}" MATCHES "OMPI_MAJOR_VERSION")
                set(${variable} openmpi PARENT_SCOPE)
            elseif("${lines}" MATCHES "MPICH_|I_MPI_")
                set(${variable} mpich PARENT_SCOPE)
            elseif("${lines}" MATCHES "MPI_ABI_VERSION")
                set(${variable} mpiabi PARENT_SCOPE)
            endif()
            return()
        endforeach()
    endforeach()
endfunction()

_rondo_abi_of_mpi(_rondo_abi)
if(_rondo_abi AND TARGET rondo::prefix_${_rondo_abi} AND NOT TARGET rondo::prefix)
    add_library(rondo::prefix INTERFACE IMPORTED)
    set_target_properties(rondo::prefix PROPERTIES INTERFACE_LINK_LIBRARIES rondo::prefix_${_rondo_abi})
elseif(NOT _rondo_abi AND NOT rondo_FIND_QUIETLY)
    message(STATUS "rondo: no MPI yet, so no rondo::prefix; find_package(MPI) before find_package(rondo) makes it")
elseif(_rondo_abi AND NOT TARGET rondo::prefix)
    set(rondo_FOUND FALSE)
    set(rondo_NOT_FOUND_MESSAGE "${_rondo_root} has no library for MPI's ABI, ${_rondo_abi}")
endif()

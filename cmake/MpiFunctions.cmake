# SPDX-License-Identifier: BSD-3-Clause
# What is generated from the list of MPI functions, rondo/mpi_functions.txt. Sets
#   generated_include  where the generated headers lie, by their names in the source tree
#   generated_sources  of a library that exports the functions
#   exported_names     the symbols

find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)

set(mpi_functions "${PROJECT_SOURCE_DIR}/rondo/mpi_functions.txt")
set(generate_entries "${PROJECT_SOURCE_DIR}/scripts/generate_entries.py")
set(generated_include "${PROJECT_BINARY_DIR}/generated/functions")
set(generated_sources "${generated_include}/rondo/interposer/entries.cpp"
                      "${generated_include}/rondo/interposer/native_functions.cpp")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             "${mpi_functions}" "${generate_entries}" "${PROJECT_SOURCE_DIR}/scripts/mpi_functions.py")
execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${generate_entries}" --list "${mpi_functions}" --output "${generated_include}"
    RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "Nothing can be generated from ${mpi_functions}")
endif()
file(STRINGS "${generated_include}/exported_names.txt" exported_names)

# SPDX-License-Identifier: BSD-3-Clause
# The reduction kernels: one text (level.hpp), compiled once per instruction set, chosen at run time.

set(kernels_directory "${PROJECT_SOURCE_DIR}/rondo/kernels")
rondo_static_library(rondo_kernels "${kernels_directory}/kernels.cpp" "${kernels_directory}/identity.cpp"
                     "${kernels_directory}/baseline.cpp")

set_target_properties(rondo_kernels PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)  # sources with flags of their own

# -O3 also in debug builds: at -O0 nothing is vectorised, and a collective would measure that.
# No contraction to fused multiply-add: levels would differ in the last bit, and a complex product would no longer
# commute.
# Clang warns of every loop that it cannot vectorise as the text asks, such as those on long double.
target_compile_options(rondo_kernels PRIVATE -O3 -ffp-contract=off $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
if(NOT RONDO_SANITIZE_ALL)  # only tests of the kernels have a use for it
    target_compile_options(rondo_kernels PRIVATE -fno-sanitize=all)
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    target_compile_definitions(rondo_kernels PRIVATE RONDO_KERNELS_X86_LEVELS=1)
    target_sources(rondo_kernels PRIVATE "${kernels_directory}/avx2.cpp" "${kernels_directory}/avx512.cpp")
    # kernels.cpp asks the processor for each of these.
    set(avx2_flags -mavx2 -mfma -mbmi -mbmi2)
    set(avx512_flags ${avx2_flags} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
    set_source_files_properties("${kernels_directory}/avx2.cpp" PROPERTIES COMPILE_OPTIONS "${avx2_flags}")
    set_source_files_properties("${kernels_directory}/avx512.cpp" PROPERTIES COMPILE_OPTIONS "${avx512_flags}")
endif()

# SPDX-License-Identifier: BSD-3-Clause
# Toolchain file for binaries that run on every Linux with glibc 2.28 or newer. scripts/portable.py makes what it needs:
#   RONDO_ZIG_TOOLS  folder with the compilers cc and c++, with ar and ranlib, and with libgcc_s.so.1
#   RONDO_PROCESSOR  x86_64 or aarch64

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RONDO_ZIG_TOOLS RONDO_PROCESSOR)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR "${RONDO_PROCESSOR}")
set(CMAKE_C_COMPILER "${RONDO_ZIG_TOOLS}/cc")
set(CMAKE_CXX_COMPILER "${RONDO_ZIG_TOOLS}/c++")
set(CMAKE_AR "${RONDO_ZIG_TOOLS}/ar" CACHE FILEPATH "Archiver")
set(CMAKE_RANLIB "${RONDO_ZIG_TOOLS}/ranlib" CACHE FILEPATH "Indexer of archives")

set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)  # so that one build at least sees what each source includes

# As other compilers do. In a short call, keeping frame pointers is a tenth of Rondo's instructions.
set(CMAKE_C_FLAGS_INIT -fomit-frame-pointer)
set(CMAKE_CXX_FLAGS_INIT -fomit-frame-pointer)

# The C++ runtime is static, and the version scripts hide it. Only the unwinder is the program's (RondoTarget.cmake).
foreach(kind IN ITEMS SHARED MODULE EXE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT "${RONDO_ZIG_TOOLS}/libgcc_s.so.1 -Wl,--undefined-version -s")
endforeach()
set(RONDO_STATIC_RUNTIME "" CACHE STRING "Linker options for a static C++ runtime")

# SPDX-License-Identifier: BSD-3-Clause
# The emulated cluster: the program rondo-testbed, and the preload library that keeps ranks from polling.

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    message(STATUS "Emulated cluster skipped: it needs Linux")
    return()
endif()

rondo_glob(testbed_sources testbed/*.cpp)
list(FILTER testbed_sources EXCLUDE REGEX "/main\\.cpp$")
rondo_static_library(rondo_testbed_parts ${testbed_sources})
target_link_libraries(rondo_testbed_parts PUBLIC rondo_virtual rondo_core)  # the shapes of networks

add_executable(rondo_testbed "${PROJECT_SOURCE_DIR}/testbed/main.cpp")
rondo_configure(rondo_testbed)
target_link_libraries(rondo_testbed PRIVATE rondo_testbed_parts)
# It runs inside the nodes, whatever libraries the user's environment has put on the path.
target_link_options(rondo_testbed PRIVATE ${RONDO_STATIC_RUNTIME})
set_target_properties(rondo_testbed PROPERTIES OUTPUT_NAME rondo-testbed)
rondo_install_target(rondo_testbed)

add_library(patience SHARED "${PROJECT_SOURCE_DIR}/testbed/patience.c")
target_link_libraries(patience PRIVATE ${CMAKE_DL_LIBS})
target_compile_options(patience PRIVATE -Wall -Wextra -Wno-unused-parameter)
rondo_install_target(patience)

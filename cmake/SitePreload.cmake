# SPDX-License-Identifier: BSD-3-Clause
# librondo.so, which a site preloads into all programs: it finds out which MPI a program has, if any, and loads the library
# for that ABI from beside itself. It is of C++ without its library: most programs that it enters have none.

include(CheckLinkerFlag)

set(site_generated "${PROJECT_BINARY_DIR}/generated/site")
set(generate_site "${PROJECT_SOURCE_DIR}/scripts/generate_site.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${generate_site}" "${PROJECT_SOURCE_DIR}/include/rondo.h")
execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${generate_site}" --list "${mpi_functions}"
            --header "${PROJECT_SOURCE_DIR}/include/rondo.h" --output "${site_generated}"
    RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "librondo.so cannot be generated from ${mpi_functions}")
endif()

rondo_glob(site_sources rondo/site/*.cpp)
set(site_exports "${site_generated}/rondo/site/exports.map")
add_library(rondo_site SHARED ${site_sources} "${site_generated}/rondo/site/functions.cpp")
rondo_configure(rondo_site)
set_target_properties(rondo_site PROPERTIES OUTPUT_NAME rondo LINKER_LANGUAGE C)
# Optimised in every build: a stand-in must not be the caller of what it calls. No sanitizer: it is in all programs.
target_compile_options(rondo_site PRIVATE -O2 -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables -fno-sanitize=all)
target_link_libraries(rondo_site PRIVATE ${CMAKE_DL_LIBS})
target_link_options(rondo_site PRIVATE -fno-sanitize=all -Wl,-z,defs -Wl,-z,now "-Wl,--version-script=${site_exports}")
# Code on the pages of its table of versions would forbid changing that. ziglang knows no such option, and its linker
# gives code pages of its own anyway.
check_linker_flag(C -Wl,-z,separate-code RONDO_HAVE_SEPARATE_CODE)
if(RONDO_HAVE_SEPARATE_CODE)
    target_link_options(rondo_site PRIVATE -Wl,-z,separate-code)
endif()
set_property(TARGET rondo_site APPEND PROPERTY LINK_DEPENDS "${site_exports}")
rondo_install_target(rondo_site)

if(RONDO_BUILD_TESTS)
    add_test(NAME rondo_site.is_self_contained
             COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/scripts/check_preload.py"
                     --library $<TARGET_FILE:rondo_site> --exports "${site_generated}/rondo/site/symbols.map")
endif()

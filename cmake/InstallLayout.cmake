# SPDX-License-Identifier: BSD-3-Clause
# Where files go. One build has two layouts, as components, so that none of them needs another configuration:
#   python_package  all below rondo/, which scikit-build-core puts into a wheel (pyproject.toml names the component)
#   prefix          `cmake --install`: bin, lib, include and share, as everybody expects them below a prefix
# In both, files find their neighbours by relative paths, so either may be moved as a whole.

include(GNUInstallDirs)
foreach(directory IN ITEMS BINDIR LIBDIR INCLUDEDIR DATADIR DOCDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${directory}}")
        message(FATAL_ERROR "CMAKE_INSTALL_${directory} is ${CMAKE_INSTALL_${directory}}: expected a path below the prefix, "
                            "since what is installed finds its neighbours by relative paths")
    endif()
endforeach()
set(prefix_lib "${CMAKE_INSTALL_LIBDIR}")
set(prefix_include "${CMAKE_INSTALL_INCLUDEDIR}")
set(prefix_share "${CMAKE_INSTALL_DATADIR}/rondo")
set(prefix_private "${CMAKE_INSTALL_LIBDIR}/rondo")  # what users do not start themselves
set(prefix_python "${prefix_private}/python")

# Of a folder of the package, where the prefix has it.
function(_rondo_in_prefix variable folder)
    string(REGEX REPLACE "^lib" "${prefix_lib}" folder "${folder}")
    string(REGEX REPLACE "^include" "${prefix_include}" folder "${folder}")
    string(REGEX REPLACE "^bin" "${prefix_private}/bin" folder "${folder}")
    string(REGEX REPLACE "^(tuning|driver)" "${prefix_share}/\\1" folder "${folder}")
    set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

# rondo_install_target(<target>): a library, or a program that the command starts.
function(rondo_install_target target)
    install(TARGETS ${target}
            LIBRARY DESTINATION rondo/lib COMPONENT python_package NAMELINK_SKIP EXCLUDE_FROM_ALL
            RUNTIME DESTINATION rondo/bin COMPONENT python_package EXCLUDE_FROM_ALL)
    install(TARGETS ${target}
            LIBRARY DESTINATION "${prefix_lib}" COMPONENT prefix NAMELINK_SKIP
            RUNTIME DESTINATION "${prefix_private}/bin" COMPONENT prefix)
endfunction()

# rondo_install_files(<folder of the package> <file>...)
function(rondo_install_files folder)
    _rondo_in_prefix(there "${folder}")
    install(FILES ${ARGN} DESTINATION "rondo/${folder}" COMPONENT python_package EXCLUDE_FROM_ALL)
    install(FILES ${ARGN} DESTINATION "${there}" COMPONENT prefix)
endfunction()

# rondo_install_matching(<folder of the package> <directory> <pattern>...)
function(rondo_install_matching folder directory)
    _rondo_in_prefix(there "${folder}")
    list(TRANSFORM ARGN PREPEND "PATTERN;")
    install(DIRECTORY "${directory}/" DESTINATION "rondo/${folder}" COMPONENT python_package EXCLUDE_FROM_ALL
            FILES_MATCHING ${ARGN})
    install(DIRECTORY "${directory}/" DESTINATION "${there}" COMPONENT prefix FILES_MATCHING ${ARGN})
endfunction()

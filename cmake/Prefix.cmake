# SPDX-License-Identifier: BSD-3-Clause
# What a prefix has besides libraries, programs and headers: the command, its Python package, manual pages, completion
# for shells, and environment modules.

install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT prefix)

# Lmod reads <version>.lua, and Environment Modules <version>, so both may use the same folder.
set(prefix_modules "${CMAKE_INSTALL_DATADIR}/modulefiles")
set(modules rondo-preload)
if(RONDO_BUILD_PYTHON)
    list(APPEND modules rondo)
endif()
foreach(module IN LISTS modules)
    set(files "${PROJECT_BINARY_DIR}/generated/modules/${module}/${PROJECT_VERSION}")
    configure_file(packaging/modules/${module}.lua.in "${files}.lua" @ONLY)
    configure_file(packaging/modules/${module}.tcl.in "${files}" @ONLY)
    install(FILES "${files}" "${files}.lua" DESTINATION "${prefix_modules}/${module}" COMPONENT prefix)
endforeach()

if(NOT RONDO_BUILD_PYTHON)
    return()
endif()
# A core for many versions of Python takes whatever python3 there is; another only the Python that it was compiled for.
if(RONDO_PYTHON_HEADERS)
    set(command_python python3)
else()
    set(command_python "${Python_EXECUTABLE}")
endif()
file(RELATIVE_PATH python_from_bin "/${CMAKE_INSTALL_BINDIR}" "/${prefix_python}")
set(command "${PROJECT_BINARY_DIR}/generated/command")
configure_file(packaging/prefix/rondo.in "${command}/rondo" @ONLY)
configure_file(packaging/prefix/METADATA.in "${command}/METADATA" @ONLY)
install(PROGRAMS "${command}/rondo" TYPE BIN COMPONENT prefix)
install(FILES packaging/prefix/start_rondo.py DESTINATION "${prefix_python}" COMPONENT prefix)
# By this importlib.metadata knows the version.
install(FILES "${command}/METADATA" DESTINATION "${prefix_python}/rondo_mpi-${PROJECT_VERSION}.dist-info" COMPONENT prefix)
install(DIRECTORY python/rondo DESTINATION "${prefix_python}" COMPONENT prefix
        PATTERN __pycache__ EXCLUDE PATTERN _core EXCLUDE)  # _core: C++

# Where the package finds its files, which a Python package has beside itself. Links would make circles of folders.
foreach(folder IN ITEMS lib bin tuning driver)
    _rondo_in_prefix(there ${folder})
    file(RELATIVE_PATH ${folder}_from_package "/${prefix_python}/rondo" "/${there}")
endforeach()
configure_file(packaging/prefix/folders.py.in "${command}/_folders.py" @ONLY)
install(FILES "${command}/_folders.py" DESTINATION "${prefix_python}/rondo" COMPONENT prefix)

configure_file(packaging/prefix/finish.cmake.in "${command}/finish.cmake" @ONLY)
install(SCRIPT "${command}/finish.cmake" COMPONENT prefix)

# What is installed and where. Components are the Debian packages of packages.cmake: the command, the shared library, and
# what one needs to build with it.

set(package_files ${CMAKE_INSTALL_LIBDIR}/cmake/kbass)
set(documents ${CMAKE_INSTALL_DATADIR}/doc/kbass)

set(static_modules JANSSON ZLIB EXPAT) # what a static library needs, without asking for their .pc files
if(NOT BLAS_OBJECT)
    list(APPEND static_modules OPENBLAS LAPACKE)
endif()
foreach(module ${static_modules})
    list(APPEND static_flags ${${module}_LDFLAGS})
endforeach()
list(REMOVE_DUPLICATES static_flags)
list(JOIN static_flags " " static_flags)
configure_file(cmake/kbass.pc.in kbass.pc @ONLY)
configure_package_config_file(cmake/kbassConfig.cmake.in kbassConfig.cmake INSTALL_DESTINATION ${package_files})
write_basic_package_version_file(kbassConfigVersion.cmake COMPATIBILITY SameMinorVersion)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME command)
install(TARGETS kbass RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${PROJECT_BINARY_DIR}/kbass.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/kbass.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kbass)
install(FILES ${PROJECT_BINARY_DIR}/_kbass DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES README.md CHANGELOG.md CITATION.cff LICENSE DESTINATION ${documents})
install(DIRECTORY docs DESTINATION ${documents})

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
install(TARGETS kbass-hdf5 RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/kbass)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS kbass_shared EXPORT shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
                                                   NAMELINK_COMPONENT development)
install(TARGETS kbass_static EXPORT static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/kbass/kbass.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kbass)
install(FILES ${PROJECT_BINARY_DIR}/kbass.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT shared NAMESPACE kbass:: FILE kbassShared.cmake DESTINATION ${package_files})
install(EXPORT static NAMESPACE kbass:: FILE kbassStatic.cmake DESTINATION ${package_files})
install(FILES ${PROJECT_BINARY_DIR}/kbassConfig.cmake ${PROJECT_BINARY_DIR}/kbassConfigVersion.cmake cmake/dependencies.cmake
        DESTINATION ${package_files})
install(DIRECTORY examples DESTINATION ${documents})

# Debian packages, by `make deb`: kbass, libkbass0.2 and libkbass-dev, one for each component of install.cmake.

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL command library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "KBASS authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "discovers differential equations from noisy measurements")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(description "KBASS finds the equations that govern a few noisy measurements: which terms are in, with
what weights and how surely, and which other equations would explain the data nearly as well.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libkbass${interface_version})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The shared library. ${description}")
set(same_library "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${PROJECT_VERSION})") # it holds the reader of HDF5 files, too

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME kbass)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${same_library}")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "${description}")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkbass-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${same_library}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libsundials-dev, libjansson-dev, zlib1g-dev, libexpat1-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Header, static library, pkg-config and CMake files, and examples. The
packages suggested are needed by programs that link the library statically.")

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME Unspecified)
foreach(component command library development)
    string(TOUPPER ${component} COMPONENT)
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME} RENAME copyright
            COMPONENT ${component})
endforeach()

include(CPack)

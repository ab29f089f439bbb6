# What the library links beside BLAS. The build includes this file, and find_package(kbass COMPONENTS static) does.

find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(SUNDIALS REQUIRED COMPONENTS cvodes nvecserial sunmatrixdense sunlinsoldense)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)

if(SUNDIALS_VERSION VERSION_LESS 6)
    message(FATAL_ERROR "found SUNDIALS ${SUNDIALS_VERSION}, needed 6 or later")
elseif(SUNDIALS_VERSION VERSION_LESS 7)
    set(sundials_interface 6)
else()
    set(sundials_interface 7)
    set(sundials_core -lsundials_core)
endif()

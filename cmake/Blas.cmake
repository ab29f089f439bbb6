# OpenBLAS and LAPACKE, kept to ourselves. A host such as NumPy has an OpenBLAS of its own, whose number of threads holds
# for the whole process: the archive of the serial one goes into the library, and its names are not seen from outside.
# Where there is no such archive, the system's OpenBLAS is linked as any other library.
#
#   blas               what the sources are compiled with, and what programs link that use the objects: tests
#   BLAS_ARCHIVES      what goes into the library; empty without the archive
#   BLAS_DEPENDENCIES  what the library links instead

file(GLOB serial_folders /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial /usr/lib/*/openblas-serial)
find_library(KBASS_OPENBLAS_ARCHIVE libopenblas.a PATHS ${serial_folders} NO_DEFAULT_PATH
             DOC "static archive of a serial OpenBLAS that may be called from several threads")
find_library(KBASS_LAPACKE_ARCHIVE liblapacke.a)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)
add_library(blas INTERFACE)

if(KBASS_OPENBLAS_ARCHIVE AND KBASS_LAPACKE_ARCHIVE AND CMAKE_OBJCOPY)
    set(BLAS_ARCHIVES ${KBASS_LAPACKE_ARCHIVE} ${KBASS_OPENBLAS_ARCHIVE})
    set(BLAS_DEPENDENCIES "")
    set(BLAS_MODULES "")
    get_filename_component(folder ${KBASS_OPENBLAS_ARCHIVE} DIRECTORY)
    get_filename_component(flavour ${folder} NAME)
    find_path(KBASS_CBLAS_FOLDER cblas.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/${flavour} REQUIRED)
    target_include_directories(blas INTERFACE ${KBASS_CBLAS_FOLDER} ${LAPACKE_INCLUDE_DIRS})

    # Sixty test programs share one copy of what linalg.c calls.
    set(shared_copy ${PROJECT_BINARY_DIR}/libkbass-tests-blas.so)
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/base/linalg.c lines REGEX "(cblas|LAPACKE)_[a-z_]+\\(")
    string(REGEX MATCHALL "(cblas|LAPACKE)_[a-z_]+" names "${lines}")
    list(TRANSFORM names PREPEND "-Wl,-u,")
    add_custom_command(OUTPUT ${shared_copy} VERBATIM
                       COMMAND ${CMAKE_C_COMPILER} -shared -o ${shared_copy} ${names} ${BLAS_ARCHIVES} -lm
                       DEPENDS ${BLAS_ARCHIVES} ${PROJECT_SOURCE_DIR}/src/base/linalg.c)
    add_custom_target(blas_of_tests DEPENDS ${shared_copy})
    add_dependencies(blas blas_of_tests)
    target_link_libraries(blas INTERFACE ${shared_copy})
else()
    message(STATUS "No archive of a serial OpenBLAS (Debian: libopenblas-serial-dev): the system's OpenBLAS is linked; "
                   "if it has threads of its own, run with OPENBLAS_NUM_THREADS=1")
    pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
    set(BLAS_ARCHIVES "")
    set(BLAS_MODULES "openblas lapacke ")
    set(BLAS_DEPENDENCIES PkgConfig::LAPACKE PkgConfig::OPENBLAS)
    target_link_libraries(blas INTERFACE ${BLAS_DEPENDENCIES})
endif()

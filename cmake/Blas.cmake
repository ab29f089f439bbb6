# OpenBLAS and LAPACKE, kept to ourselves. A host such as NumPy has an OpenBLAS of its own, whose number of threads holds
# for the whole process: a copy of what linalg.c calls goes into the library, and its names are not seen from outside.
# It is made of the archive with threads, since Debian's serial one may not be called from several (0.3.21 gives wrong
# products then), and told that it has one: src/base/blas_environment.c. Where there is no such archive, the system's
# OpenBLAS is linked as any other library.
#
#   blas               what the sources are compiled with, and what programs link that use the objects: tests
#   BLAS_OBJECT        what goes into the library; empty without the archive
#   BLAS_DEPENDENCIES  what the library links instead

file(GLOB archive_folders /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread /usr/lib/*/openblas-pthread)
find_library(KBASS_OPENBLAS libopenblas.a PATHS ${archive_folders} NO_DEFAULT_PATH
             DOC "static archive of an OpenBLAS that may be called from several threads")
find_library(KBASS_LAPACKE liblapacke.a)
find_program(KBASS_LD NAMES ld.bfd ld) # GNU's, with clang too: LLVM's want other options
find_program(KBASS_OBJCOPY objcopy)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)
add_library(blas INTERFACE)

if(KBASS_OPENBLAS AND KBASS_LAPACKE AND KBASS_LD AND KBASS_OBJCOPY)
    set(BLAS_OBJECT ${PROJECT_BINARY_DIR}/blas.o)
    set(BLAS_DEPENDENCIES "")
    set(BLAS_MODULES "")
    get_filename_component(folder ${KBASS_OPENBLAS} DIRECTORY)
    get_filename_component(flavour ${folder} NAME)
    find_path(KBASS_CBLAS_FOLDER cblas.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/${flavour} REQUIRED)
    target_include_directories(blas INTERFACE ${KBASS_CBLAS_FOLDER} ${LAPACKE_INCLUDE_DIRS})

    file(STRINGS ${PROJECT_SOURCE_DIR}/src/base/linalg.c lines REGEX "(cblas|LAPACKE)_[a-z_]+\\(")
    string(REGEX MATCHALL "(cblas|LAPACKE)_[a-z_]+" names "${lines}")
    list(TRANSFORM names PREPEND "--undefined=")
    add_custom_command(OUTPUT ${BLAS_OBJECT} VERBATIM
                       COMMAND ${KBASS_LD} -r -d -o ${BLAS_OBJECT} ${names} ${KBASS_LAPACKE} ${KBASS_OPENBLAS}
                       COMMAND ${KBASS_OBJCOPY} --redefine-sym getenv=kb_blas_getenv ${BLAS_OBJECT}
                       DEPENDS ${KBASS_LAPACKE} ${KBASS_OPENBLAS} ${PROJECT_SOURCE_DIR}/src/base/linalg.c)
    add_custom_target(blas_object DEPENDS ${BLAS_OBJECT})

    # Sixty test programs share one copy.
    add_library(blas_of_tests SHARED src/base/blas_environment.c ${BLAS_OBJECT})
    set_target_properties(blas_of_tests PROPERTIES OUTPUT_NAME kbass-tests-blas)
    target_link_libraries(blas_of_tests PRIVATE m)
    add_dependencies(blas_of_tests blas_object)
    target_link_libraries(blas INTERFACE blas_of_tests)
else()
    message(STATUS "No archive of OpenBLAS (Debian: libopenblas-pthread-dev): the system's is linked; if it has threads "
                   "of its own, run with OPENBLAS_NUM_THREADS=1")
    pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
    set(BLAS_OBJECT "")
    set(BLAS_MODULES "openblas lapacke ")
    set(BLAS_DEPENDENCIES PkgConfig::LAPACKE PkgConfig::OPENBLAS)
    target_link_libraries(blas INTERFACE ${BLAS_DEPENDENCIES})
endif()

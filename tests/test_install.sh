#!/bin/bash
# What is installed serves: a program is built with it by pkg-config and by CMake, shared and static, and runs.
. "$(dirname "$0")/outside.sh"
build=$(dirname "$kbass")
there=$folder/there
DESTDIR=$there cmake --install "$build" > log 2>&1 || complain "cmake --install: $(tail -3 log)"
prefix=$there$(sed -n 's/^CMAKE_INSTALL_PREFIX:[A-Z]*=//p' "$build/CMakeCache.txt")
library=$(dirname "$(find "$there" -name libkbass.so)")

has() { # PATH below the prefix
    [ -e "$prefix/$1" ] || complain "$1 is not installed"
}

runs() { # PROGRAM
    LD_LIBRARY_PATH=$library "$@" > out 2> err || complain "$1: exit code $?: $(cat err)"
    grep -q '_t = ' out || complain "$1: no equations: $(cat out)"
}

for file in bin/kbass share/man/man1/kbass.1 share/doc/kbass/README.md share/doc/kbass/docs/math.md share/doc/kbass/LICENSE \
    share/doc/kbass/examples/discover.c include/kbass/kbass.h; do
    has $file
done
version=$("$prefix/bin/kbass" version | sed 's/kbass //')
soname=$(objdump -p "$library/libkbass.so" | sed -n 's/.*SONAME *//p')
[ "$soname" = "libkbass.so.${version%.*}" ] || complain "the shared library of $version is named $soname"

# ---------------------------------------------------------------- pkg-config
export PKG_CONFIG_PATH=$library/pkgconfig PKG_CONFIG_SYSROOT_DIR=$there
[ "$(pkg-config --modversion kbass)" = "$version" ] || complain "pkg-config: $(pkg-config --modversion kbass 2>&1)"
# shellcheck disable=SC2046 # flags are words
cc "$prefix/share/doc/kbass/examples/discover.c" $(pkg-config --cflags --libs kbass) -lm -o by_pkg_config 2> err ||
    complain "pkg-config: $(cat err)"
runs ./by_pkg_config
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

# ---------------------------------------------------------------- CMake
cat > CMakeLists.txt << EOF
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C)
find_package(kbass ${version%.*} REQUIRED)
find_package(kbass REQUIRED COMPONENTS static)
foreach(target kbass shared static)
    add_executable(with_\${target} $prefix/share/doc/kbass/examples/discover.c)
    target_link_libraries(with_\${target} PRIVATE kbass::\${target} m)
endforeach()
EOF
cmake -S . -B made -DCMAKE_PREFIX_PATH="$prefix" > log 2>&1 && cmake --build made >> log 2>&1 || complain "CMake: $(tail -5 log)"
for target in kbass shared static; do runs made/with_$target; done

finish

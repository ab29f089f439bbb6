#!/bin/sh
# install-packages.sh [--tests | --only] [PACKAGE ...]: installs the Debian packages that this machine lacks of those the build
# needs, with --tests those that any test uses, and those named; with --only no others. Without root it prints the line
# to run.
build="gcc libc6-dev make cmake pkg-config libopenblas-pthread-dev liblapacke-dev libsundials-dev libjansson-dev zlib1g-dev
       libexpat1-dev libhdf5-dev libcmocka-dev"
tests="gnuplot-nox python3 python3-numpy python3-sympy octave texlive-latex-base zsh groff unzip locales"

command -v dpkg-query > /dev/null || exit 0 # not a Debian machine: CMake says what is missing

case $1 in
    --tests) needed="$build $tests"; shift ;;
    --only) needed=; shift ;;
    *) needed=$build ;;
esac
missing=
for package in $needed "$@"; do
    case $(dpkg-query -W -f '${Status}' "$package" 2> /dev/null) in
        *"ok installed") ;;
        *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0
install="apt-get install -y --no-install-recommends$missing"

if [ "$(id -u)" -eq 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    quiet="-qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3"
    log=$(mktemp)
    # shellcheck disable=SC2086 # lists of words
    { apt-get $quiet update && $install $quiet; } < /dev/null > "$log" 2>&1 && { rm "$log"; exit 0; }
    cat "$log" >&2
    rm "$log"
    echo "Packages could not be installed:$missing" >&2
    exit 1
fi
echo "Packages are missing. Please run, as root:" >&2
echo "    apt-get update" >&2
echo "    $install" >&2
exit 1

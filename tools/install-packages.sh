#!/bin/sh
# Installs the Debian packages the build needs and this machine lacks; without root it prints the line to run.
# Further packages may be named as arguments.
needed="gcc libc6-dev make cmake pkg-config libopenblas-dev liblapacke-dev libsundials-dev libjansson-dev zlib1g-dev libhdf5-dev libcmocka-dev $*"

command -v dpkg-query > /dev/null || exit 0 # not a Debian machine: CMake says what is missing

missing=
for package in $needed; do
    case $(dpkg-query -W -f '${Status}' "$package" 2> /dev/null) in
        *"ok installed") ;;
        *) missing="$missing $package" ;;
    esac
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086 # a list of names
    apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing > /dev/null
else
    echo "Some packages are missing. Please run:" >&2
    echo "    sudo apt-get install$missing" >&2
    exit 1
fi

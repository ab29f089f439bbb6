#!/bin/sh
# test_symbols.sh libkbass.so libkbass.a [private-blas]: the libraries define public names only, so that nothing of ours
# stands in for a host's functions; with a private BLAS they use no other, and so touch no host's number of threads.
failures=0
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }

seen=$(nm -D --defined-only "$1" | awk '{print $3}' | grep -v '^kbass_')
[ -z "$seen" ] || complain "$1 defines" $seen
if [ "$3" = private-blas ]; then
    seen=$(nm -g --defined-only "$2" 2> /dev/null | awk 'NF == 3 {print $3}' | grep -v '^kbass_' | head -5)
    [ -z "$seen" ] || complain "$2 defines" $seen
    needed=$(readelf -d "$1" | grep NEEDED | grep -i 'blas\|lapack')
    [ -z "$needed" ] || complain "$1 needs" $needed
    seen=$(nm -u "$2" 2> /dev/null | grep -i 'cblas_\|lapacke_\|openblas_')
    [ -z "$seen" ] || complain "$2 asks for" $seen
fi
[ "$failures" -eq 0 ]

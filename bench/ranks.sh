#!/bin/bash
# ranks.sh FOLDER [TIMES]: what a second rank brings. One rank against two, one thread each, pinned to a core, in turns; the
# median of TIMES (default 5) and the ratio. Needs an idle machine of two cores, and make mpi. KS=FILE: the released field, too.
# ALL=1: what has no bar, too (a field of few data, a grid in its file: a minute a run).
folder=$(cd "$1" && pwd) || exit 1
times=${2:-5}
released=${KS:+$(realpath "$KS")}
scratch=$(mktemp -d) && cd "$scratch" || exit 1
trap 'rm -rf "$scratch"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none

seconds() { # RANKS OPTIONS ...
    local n=$1 began ended; shift
    began=$(date +%s.%N)
    mpirun --bind-to core -n "$n" "$folder/kbass-mpi" "$@" > /dev/null 2> err || { cat err >&2; exit 1; }
    ended=$(date +%s.%N)
    echo "$ended $began" | awk '{ print $1 - $2 }'
}
compare() { # NAME OPTIONS ...
    local name=$1; shift
    rm -f one two
    for _ in $(seq "$times"); do
        seconds 1 "$@" >> one
        seconds 2 "$@" >> two
    done
    paste <(sort -n one) <(sort -n two) | awk -v name="$name" '{ a[NR] = $1; b[NR] = $2 }
        END { m = int((NR + 1) / 2); printf "%-34s %7.2f s  %7.2f s  %5.2f\n", name, a[m], b[m], a[m] / b[m] }'
}

for i in $(seq 20); do
    "$folder/kbass" simulate lotka-volterra -n 15 --until 8 --noise 5 --seed "$i" --start "$((8 + i)),$((18 - i / 2))" -o "run$i.csv"
done
"$folder/kbass" simulate ks --grid 251x1024 --noise 10 -o ks.csv
echo "data                                 1 rank    2 ranks  ratio"
compare "Lotka-Volterra, 20 runs, degree 3" discover run*.csv -q --threads 1 --degree 3
compare "dense KS 251 x 1024, 10 %" discover ks.csv --axes t,x -q --threads 1
[ -z "$released" ] || compare "released KS" discover "$released" --axes t,x -q --threads 1
compare "bench calibration, 12 draws" bench calibration --seeds 12 -q
[ -z "$ALL" ] && exit
"$folder/kbass" simulate burgers --grid 12x14 --noise 2 -o field.csv
"$folder/kbass" simulate kdv --grid 8000x600 --noise 10 -o grid.h5
compare "Burgers 12 x 14, 2 %" discover field.csv --axes t,x -q --threads 1
compare "KdV 8000 x 600 in its file, 10 %" discover grid.h5 -q --threads 1

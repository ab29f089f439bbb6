#!/bin/bash
# fuzz.sh SECONDS [corpus ...]: fuzzes each target so long with libFuzzer and the sanitizers, from the corpus in tests/fuzz.
# What breaks is left in build-fuzz/findings; what is new and of use in build-fuzz/corpus.
set -e
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true

cmake -S . -B build-fuzz -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKBASS_FUZZ=ON > /dev/null
cmake --build build-fuzz --parallel "$(nproc)" \
    --target kbass-hdf5 fuzz_data fuzz_hdf5 fuzz_sheet fuzz_expression fuzz_equations fuzz_units fuzz_cells fuzz_questions

export OMP_NUM_THREADS=2 KBASS_LIBEXEC=$PWD/build-fuzz
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:symbolize=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export LSAN_OPTIONS=suppressions=$PWD/tools/leaks.supp:print_suppressions=0
mkdir -p build-fuzz/findings

for corpus in ${@:-text npy npz mat hdf5 netcdf octave json xlsx sheet expression equations units cells questions}; do
    case $corpus in
        hdf5 | sheet | expression | equations | units | cells | questions) target=fuzz_$corpus ;;
        *) target=fuzz_data ;;
    esac
    mkdir -p "build-fuzz/corpus/$corpus"
    echo "$corpus: $seconds s"
    build-fuzz/tests/$target -max_total_time="$seconds" -timeout=60 -rss_limit_mb=3000 -max_len=20000 -verbosity=0 \
        -print_final_stats=1 -artifact_prefix="build-fuzz/findings/$corpus-" "build-fuzz/corpus/$corpus" \
        "tests/fuzz/corpus/$corpus" 2>&1 | grep -v '^stat::new\|^stat::slowest\|^INFO\|^\s*NEW_FUNC\|^###\|# Uses:' || exit 1
    [ "${PIPESTATUS[0]}" -eq 0 ] || exit 1
done

#!/bin/bash
# kbass bench from outside: a few cells asserted on their equations, bad input, a crash, an interrupted run resumed.
# test_bench.sh KBASS [few]: with "few" only the cells that are quick even under sanitizers.
. "$(dirname "$0")/outside.sh"
cells=vdp-10,hare-lynx,burgers-10-20
[ "$2" = few ] && cells=vdp-10-20,hare-lynx

# refuses "part of the message" arguments...: exit code 2, one line on stderr
refuses() {
    local message=$1 code
    shift
    timeout 60 "$kbass" bench "$@" > out 2> err
    code=$?
    [ $code -eq 2 ] || complain "bench $*: exit code $code, expected 2: $(cat err)"
    [ "$(wc -l < err)" -eq 1 ] && grep -qF -- "$message" err || complain "bench $*: expected \"$message\": $(cat err)"
}

# column NAME CELL: of the CSV table
column() {
    awk -F, -v name="$1" -v cell="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i } $1 == cell { print $k }' \
        table.csv
}

# ---------------------------------------------------------------- bad input
refuses 'one benchmark'
refuses 'did you mean paper?' papr
refuses 'no "vpd"' paper --case vdp,vpd
refuses '--seeds' paper --seeds 0
refuses '--jobs' paper --jobs many
refuses '--resume needs --json' paper --resume
refuses 'cannot be written' paper --json /nowhere/rows.json
refuses 'cannot be written' paper --csv /nowhere/table.csv
refuses '--output' samples
echo '{"format": "something"}' > other.json
refuses 'exists' paper --json other.json
refuses 'is not a file that kbass bench' paper --json other.json --resume
echo '{"format": ' > broken.json
refuses 'broken.json:' paper --json broken.json --resume

# ---------------------------------------------------------------- the cells, in two runs: interrupted, then resumed
"$kbass" bench paper --case "$cells" --json rows.json --jobs 1 > out 2> err &
pid=$!
for _ in $(seq 1200); do [ -e rows.json ] && break; sleep 0.1; done
kill -INT $pid
wait $pid
code=$?
[ $code -eq 130 ] || complain "Ctrl-C: exit code $code, expected 130: $(cat err)"
grep -q 'resume' err || complain "Ctrl-C: no word about --resume: $(cat err)"
finished=$(grep -c '"name"' rows.json)
[ "$finished" -ge 1 ] || complain "Ctrl-C: no finished rows kept"
refuses 'other options' paper --case "$cells" --json rows.json --resume --time-limit 3
"$kbass" bench paper --case "$cells" --json rows.json --resume --csv table.csv > out 2> err || complain "bench paper: $(cat err)"
grep -q "kbass: $((finished + 1)) of" err || complain "--resume did not go on after $finished rows: $(head -1 err)"
grep -q '"error"' rows.json && complain "failed rows: $(grep -B2 '"error"' rows.json)"

# Every cell has exactly the true terms, an error near the oracle's, and a first column that the terminal shows too.
for cell in $(awk -F, 'NR > 1 { print $1 }' table.csv); do
    [ "$(column exact "$cell")" = 1/1 ] || complain "$cell: $(grep "^$cell" table.csv)"
    [ "$(column bar "$cell")" = met ] || complain "$cell: $(grep "^$cell" table.csv)"
    grep -q "^$cell " out || complain "$cell is not in the table"
done
[ "$(wc -l < table.csv)" -ge 3 ] || complain "table.csv: $(cat table.csv)"
grep -q '"y_t: -.* x^2\*y"' rows.json || complain "van der Pol's damping is not among the terms found"

# Nothing is left to do: no row is run again.
"$kbass" bench paper --case "$cells" --json rows.json --resume > again 2> err || complain "second --resume: $(cat err)"
[ -s err ] && complain "rows were run twice: $(cat err)"
cmp -s out again || complain "the same rows gave another table"

# The same command goes on from its checkpoint.
"$kbass" bench paper --case hare-lynx --checkpoint kept -q > out 2> err || complain "--checkpoint: $(cat err)"
"$kbass" bench paper --case hare-lynx --checkpoint kept --json copy.json > again 2> err || complain "--checkpoint again: $(cat err)"
[ -s err ] && complain "--checkpoint: rows were run twice: $(cat err)"
cmp -s out again && grep -q hare-lynx copy.json || complain "--checkpoint: other rows than before"

# ---------------------------------------------------------------- methods beside each other
refuses 'none of kbass, em, paper' paper --methods kbass,elm
refuses 'found none' paper --methods ,
"$kbass" bench paper --case hare-lynx --methods kbass,em --json both.json -q > out 2> err || complain "--methods: $(cat err)"
grep -q '"hare-lynx em seed 1"' both.json || complain "--methods: no row of em: $(cat both.json)"
grep -q '^hare-lynx  *0.0244  *0.21  *1/1 .* 1/1 .* 1/1 ' out || complain "--methods: no exact law by both: $(cat out)"

# ---------------------------------------------------------------- a failing row is a row
"$kbass" bench paper --case vdp-10-20 --time-limit 1e-9 > out 2> err || complain "time limit: exit code $?: $(cat err)"
grep -q '^vdp-10-20 .*0/1' out || complain "time limit: $(cat out)"

# ---------------------------------------------------------------- samples
"$kbass" bench samples --case vdp-10 --seeds 2 -o samples > out 2> err || complain "samples: $(cat err)"
[ "$(wc -l < out)" -eq 5 ] || complain "samples: $(cat out)"
[ "$(sed -n 2p samples/vdp-10-0-seed1.csv)" = 0,1,0 ] || complain "samples: $(head -2 samples/vdp-10-0-seed1.csv)"
cmp -s samples/vdp-10-20-seed1.csv samples/vdp-10-20-seed2.csv && complain "two seeds, one noise"

# ---------------------------------------------------------------- map and speed
refuses 'no "lorenz64"' map --case lorenz64
refuses 'no "size"' speed --case size
refuses 'cannot be written' map --figure /nowhere/map.svg
"$kbass" bench map --case vdp-4-2.5 --seeds 1 --json map.json --csv map.csv > out 2> err || complain "map: $(cat err)"
grep -q '^van der Pol  *4  *1.00 ' out || complain "map: $(cat out)"
refuses 'bench map, needed bench paper' paper --json map.json --resume
refuses 'no "vdp"' calibration --case vdp
"$kbass" bench calibration --seeds 2 --json calibration.json > out 2> err || complain "calibration: $(cat err)"
grep -q '^2 random sparse systems, .* 0 failed' out || complain "calibration: $(cat out)"
grep -q '^points of the forecast' out || complain "calibration: $(cat out)"
if [ "$2" != few ]; then
    "$kbass" bench speed --case dictionary > out 2> err || complain "speed: $(cat err)"
    [ "$(grep -c '^dictionary *[0-9]' out)" -eq 4 ] || complain "speed: $(cat out)"
    grep -q '^dictionary *n^' out || complain "speed: no exponents: $(cat out)"
fi

# ---------------------------------------------------------------- results
refuses 'needs files' results -o results.md
refuses '--output' results rows.json
refuses 'nowhere.json: cannot be read' results nowhere.json -o results.md
refuses 'is not a file that kbass bench' results other.json -o results.md
refuses 'a second file of bench paper' results rows.json rows.json -o results.md
refuses 'cannot be written' results rows.json -o /nowhere/results.md
"$kbass" bench results rows.json -o results.md > out 2> err || complain "results: $(cat err)"
grep -q '^|vdp-10-20 *|' results.md && grep -q 'of 31 cells' results.md || complain "results.md: $(head -20 results.md)"
grep -q '^## Where we lose, and why' results.md || complain "results.md says nothing of losses"
cat > pysindy.json << 'END' # as bench/pysindy.py writes it
{"format": "kbass-bench", "bench": "pysindy", "version": "2.1.0", "machine": {}, "options": {}, "rows": [
 {"name": "vdp-10-20 seed 1", "exact": false, "rmse": 0.9, "recall": 0.5, "precision": 1.0, "errors": {}, "terms": []},
 {"name": "hare-lynx seed 1", "error": "ValueError: too few samples"}]}
END
"$kbass" bench results rows.json pysindy.json -o results.md > out 2> err || complain "results with PySINDy: $(cat err)"
grep -q '^|vdp-10-20 *| *0.9| *0.5| *1| *0/1|' results.md && grep -q '^|hare-lynx *| *failed: ValueError' results.md ||
    complain "PySINDy's table: $(grep -A9 '^## PySINDy' results.md)"
if command -v gnuplot > /dev/null; then
    "$kbass" bench results rows.json map.json calibration.json -o results.md > out 2> err || complain "results: $(cat err)"
    grep -q '<svg' results-map.svg || complain "no figure of the map"
else
    skip "figures: no gnuplot"
fi

finish

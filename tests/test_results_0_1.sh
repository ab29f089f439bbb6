#!/bin/sh
# test_results_0_1.sh KBASS: result files of version 0.1.0 are read, and forecasts, simulations and exports of them have the
# numbers that they had; every one of them makes a page and a figure.
kept=$(realpath "$(dirname "$0")")/data/results-0.1
. "$(dirname "$0")/outside.sh"

run_all() {
    while read -r command file rest; do
        echo "== $command $file $rest"
        # shellcheck disable=SC2086 # a list of options
        "$kbass" $command "$kept/$file" $rest 2>&1
    done < "$kept/commands" | sed "s|$kept/||g" | grep -v "found by kbass" |
        grep -v "^kbass: *[0-9]* % draws" # progress, which a busy machine shows
}
if [ "$2" = write ]; then
    run_all > "$kept/expected"
    exit
fi

# Numbers may differ in the last digits, since matrix products round as the processor at hand has it: a millionth of the
# largest in the line.
run_all > found
awk '
function pieces(line, out) { gsub(/[^-+.0-9eE]+/, " ", line); return split(line, out, " ") }
function words(line) { gsub(/[-+.0-9eE]+/, "#", line); return line }
NR == FNR { expected[FNR] = $0; n = FNR; next }
{
    if (/^==/) command = $0
    same = $0 == expected[FNR]
    if (!same && words($0) == words(expected[FNR])) {
        k = pieces($0, a); pieces(expected[FNR], b); same = 1; largest = 0
        for (i = 1; i <= k; i++) if (b[i] * b[i] > largest) largest = b[i] * b[i]
        for (i = 1; i <= k; i++) { d = a[i] - b[i]; if (!(d * d <= 1e-12 * largest)) same = 0 }
    }
    if (!same) { print command; print "  expected " expected[FNR]; print "  found    " $0; if (++bad > 5) exit 1 }
}
END { if (FNR != n) { print n " lines expected, found " FNR; bad++ } exit bad != 0 }' "$kept/expected" found ||
    complain "numbers of results of 0.1.0"

if command -v gnuplot > /dev/null; then
    for file in "$kept"/*.json; do
        "$kbass" plot "$file" weights -o figure.svg > said 2>&1 || complain "plot $file: $(cat said)"
        grep -q '<svg' figure.svg || complain "plot $file"
    done
    for name in vdp runs burgers plane; do
        "$kbass" report "$kept/$name.json" -o page.html > said 2>&1 || complain "report $name: $(cat said)"
    done
fi
[ "$failures" -eq 0 ]

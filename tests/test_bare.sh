#!/bin/bash
# On a machine without gnuplot and python3: every command does what it can and says what it lacks, and the tests of pages
# pass but for the figures.
. "$(dirname "$0")/outside.sh"

mkdir bare
IFS=: read -ra places <<< "$PATH"
for place in "${places[@]}"; do
    for tool in "$place"/*; do
        case ${tool##*/} in
            gnuplot* | python* | "*") ;;
            *) [ -e "bare/${tool##*/}" ] || ln -s "$tool" bare/ ;;
        esac
    done
done
PATH=$folder/bare
! command -v gnuplot python3 || complain "they are not hidden"

# without FIGURE-OPTION-CODE FILE arguments...: the file is made, one line says that gnuplot is missing
without() {
    local expected=$1 file=$2 code
    shift 2
    "$kbass" "$@" > out 2> err
    code=$?
    [ $code -eq "$expected" ] || complain "kbass $*: exit code $code, expected $expected: $(cat err)"
    [ "$(grep -c 'figures need gnuplot' err)" -eq 1 ] || complain "kbass $*: $(cat err)"
    [ -s "$file" ] || complain "kbass $*: no $file"
}

"$kbass" simulate vdp -n 12 --noise 5 -o vdp.csv || complain "simulate"
without 0 page.html discover vdp.csv -q --terms "x, y, x^2*y" --json vdp.json --report page.html
without 0 again.html report vdp.json -o again.html
without 2 forecast.csv forecast vdp.json --until 12 --draws 20 -o forecast.csv --figure forecast.svg
"$kbass" simulate vdp -n 20 --until 12 -o later.csv || complain "simulate, later"
without 2 score.csv score vdp.json later.csv -o score.csv --figure score.svg
without 2 gain.csv next vdp.json -o gain.csv --figure gain.svg
without 2 doctor.json doctor vdp.csv --json doctor.json --figure doctor.svg
without 2 map.json bench map --case vdp-4-2.5 --seeds 1 --quiet --json map.json --figure map.svg
without 0 results.md bench results map.json -o results.md
grep -q 'Rates over noise and length: not drawn' results.md || complain "results.md: $(cat results.md)"
without 2 vdp.json plot vdp.json solution -o solution.svg
for figure in *.svg; do [ ! -e "$figure" ] || complain "$figure was made without gnuplot"; done

"$root/tests/test_pages.sh" "$kbass" > pages 2>&1
code=$?
[ $code -eq 77 ] && grep -q '^skipped: figures: no gnuplot' pages || complain "test_pages.sh: exit code $code: $(cat pages)"

finish

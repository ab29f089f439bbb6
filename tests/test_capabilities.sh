#!/bin/sh
# Every capability asked of every kind of data: one small discovery a kind, saved once, and what README's table says of it.
# test_capabilities.sh KBASS
kbass=$1
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

# runs 'what' command...: it must succeed
runs() {
    what=$1
    shift
    "$@" >out 2>err || fail "$what: $(tail -1 err)"
}

# refuses 'what' 'sentence' command...: it must end with this sentence
refuses() {
    what=$1 sentence=$2
    shift 2
    "$@" >out 2>err && fail "$what is not refused"
    grep -q "$sentence" err || fail "$what: found \"$(tail -1 err)\", needed \"$sentence\""
}

simulate() { "$kbass" simulate "$@" || exit 1; }
plane="--domain t=0:2,x=0:2*pi,y=0:2*pi --boundary periodic --grid 6x8x8 --noise 2"
simulate harmonic -n 20 --until 6 --noise 2 -o s1.csv
simulate harmonic -n 15 --until 5 --noise 2 --start 1,1 --seed 2 -o s2.csv
simulate -e "u_t = 0.2*u_xx - u_x" --domain "t=0:2, x=0:6" --initial "sin(pi*x/3)+0.5*cos(2*pi*x/3)" --boundary periodic \
    --grid 7x12 --noise 2 -o x1.csv
simulate -e "u_t = 0.1*u_xx + 0.15*u_yy" --initial "sin(x)+0.7*cos(y)*sin(x)+0.5*cos(2*y)" $plane -o xy1.csv
simulate -e "u_t = 0.1*u_xx + 0.15*u_yy" --initial "cos(x)*sin(y)+0.7*sin(2*x)" $plane --seed 2 -o xy2.csv
simulate -e "u_tt = u_xx" --domain "t=0:3, x=0:2*pi" --initial "sin(x)+0.3*cos(2*x)" --boundary periodic --grid 10x12 \
    --noise 1 -o w1.csv

# discover KIND TERM 'files' options...: the result, and what discover itself is asked
discover() {
    kind=$1 term=$2 files=$3
    shift 3
    runs "$kind: discover" "$kbass" discover $files "$@" --threads 1 --quiet --json "$kind.json" --solution "$kind.npz" \
        --residuals "$kind-residuals.csv" --explain "$term"
    command -v python3 >out || return
    python3 -I "$here/verify.py" "$kind.json" >out 2>err || fail "$kind: verify: $(tail -1 err)"
}

# ask KIND UNTIL options...: everything that a result file is asked
ask() {
    kind=$1 until=$2
    shift 2
    runs "$kind: forecast" "$kbass" forecast "$kind.json" --until "$until" --draws 8 -n 3 --quiet -o "$kind-forecast.csv" "$@"
    runs "$kind: next" "$kbass" next "$kind.json" --best 1 "$@"
    runs "$kind: export" "$kbass" export "$kind.json" --to latex
    runs "$kind: report" "$kbass" report "$kind.json" -o "$kind.html"
}

fields="--axes t,x --terms u_x,u_xx"
axes="--axes t,x,y --terms u_xx,u_yy"
discover states "y_t: x" s1.csv --degree 1
discover runs "y_t: x" "s1.csv s2.csv" --degree 1
discover closed "u_t: u_xx" x1.csv $fields
discover plane "u_t: u_xx" xy1.csv $axes
discover plane-open "u_t: u_xx" xy1.csv $axes --periodic none
discover plane-runs "u_t: u_xx" "xy1.csv xy2.csv" $axes
discover wave "u_tt: u_xx" w1.csv --axes t,x --lhs u_tt --terms u,u_xx --periodic x
ask states 7
ask runs 7 --of-run s1.csv
ask closed 2.4
ask plane 2.4
ask plane-open 2.4
ask plane-runs 2.4 --of-run xy2.csv
ask wave 3.5

# A forecast over closed axes is that of the true law, to what the noise allows.
simulate -e "u_t = 0.1*u_xx + 0.15*u_yy" --domain "t=0:2.4,x=0:2*pi,y=0:2*pi" --boundary periodic \
    --initial "sin(x)+0.7*cos(y)*sin(x)+0.5*cos(2*y)" --grid 2x20x20 -o truth.csv
for kind in plane plane-open; do
    awk -F, -v kind=$kind 'FNR == 1 { next } FNR == NR { if ($1 > 2.39) u[sprintf("%.4f %.4f", $2, $3)] = $4; next }
        $1 > 2.39 { d = $4 - u[sprintf("%.4f %.4f", $2, $3)]; sum += d * d; n++ }
        END { if (n != 400 || sqrt(sum / n) > 0.05) { print kind, n, sqrt(sum / n); exit 1 } }' truth.csv $kind-forecast.csv ||
        fail "$kind: the forecast is not that of the law" # 0.05: three times the noise of 2 % of sd 0.9
done

# Without meaning, so refused.
refuses "a forecast far beyond open ends" "reach only a quarter of the record" \
    "$kbass" forecast plane-open.json --until 4 --draws 2 -o far.csv
runs "the same with a boundary" "$kbass" forecast plane-open.json --until 2.8 --boundary neumann --draws 2 -n 2 -o far.csv
refuses "a weight that varies in one run" "needed several runs" "$kbass" discover s1.csv --degree 1 --vary "y_t: x"
refuses "logarithms of negative values" "positive" "$kbass" discover s1.csv --degree 1 --noise-model log
"$kbass" discover s1.csv --degree 1 --equation-for x --quiet --json part.json >out 2>&1
refuses "a forecast where a state has no equation" "every state needs an equation" \
    "$kbass" forecast part.json --until 7 -o far.csv
refuses "a next where a state has no equation" "every state needs an equation" "$kbass" next part.json

[ $failed = 0 ] && echo "all capabilities are as the README says"
exit $failed

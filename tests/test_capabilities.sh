#!/bin/sh
# Every capability asked of every kind of data: one small discovery a kind, saved once, and what README's table says of it.
# test_capabilities.sh KBASS [few|all]
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
cube="--domain t=0:1,x=0:2*pi,y=0:2*pi,z=0:2*pi --boundary periodic --noise 2"
line="--domain t=0:2,x=0:6 --boundary periodic --grid 7x12 --noise 2"
heat="u_t = 0.3*u_xx + 0.2*u_yy + 0.4*u_zz"
simulate harmonic -n 20 --until 6 --noise 2 -o s1.csv
simulate harmonic -n 15 --until 5 --noise 2 --start 1,1 --seed 2 -o s2.csv
simulate -e "u_t = 0.2*u_xx - u_x" --initial "sin(pi*x/3)+0.5*cos(2*pi*x/3)" $line -o x1.csv
simulate -e "u_t = 0.2*u_xx - u_x" --initial "cos(pi*x/3)+0.5*sin(2*pi*x/3)" $line --seed 2 -o x2.csv
simulate -e "u_t = 0.1*u_xx + 0.15*u_yy" --initial "sin(x)+0.7*cos(y)*sin(x)+0.5*cos(2*y)" $plane -o xy1.csv
simulate -e "u_t = 0.1*u_xx + 0.15*u_yy" --initial "cos(x)*sin(y)+0.7*sin(2*x)" $plane --seed 2 -o xy2.csv
simulate -e "$heat" --initial "sin(x)*cos(y)+0.7*cos(z)+0.5*sin(z+x)" $cube --grid 4x6x6x6 -o xyz1.csv
simulate -e "$heat" --initial "sin(x)*cos(y)+0.7*cos(z)" $cube --grid 3x4x4x4 -o xyz2.csv
simulate -e "$heat" --initial "cos(x)+0.7*sin(y)*cos(z)+0.4*sin(z)" $cube --grid 3x4x4x4 --seed 2 -o xyz3.csv
simulate -e "u_tt = u_xx" --domain "t=0:3, x=0:2*pi" --initial "sin(x)+0.3*cos(2*x)" --boundary periodic --grid 10x12 \
    --noise 1 -o w1.csv
simulate -e "u_tt = 1.5*u_xx" --domain "t=0:3, x=0:2*pi" --initial "cos(x)+0.3*sin(2*x)" --boundary periodic --grid 10x12 \
    --noise 1 --seed 2 -o w2.csv

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
    runs "$kind: report" "$kbass" report "$kind.json" -o "$kind.html"
    runs "$kind: plot" "$kbass" plot "$kind.json" residuals -o "$kind.svg"
    runs "$kind: simulate" "$kbass" simulate "$kind.json" -o "$kind-again.csv"
    for format in latex c csv; do runs "$kind: export $format" "$kbass" export "$kind.json" --to $format; done
}

fields="--axes t,x --terms u_x,u_xx"
axes="--axes t,x,y --terms u_xx,u_yy"
space="--axes t,x,y,z --terms u_xx,u_zz"
wave="--axes t,x --lhs u_tt --terms u,u_xx --periodic x"
discover states "y_t: x" s1.csv --degree 1
discover runs "y_t: x" "s1.csv s2.csv" --degree 1 --vary "y_t: x"
discover closed "u_t: u_xx" x1.csv $fields
discover open "u_t: u_xx" x1.csv $fields --periodic none
discover field-runs "u_t: u_xx" "x1.csv x2.csv" $fields --vary "u_t: u_xx"
discover plane "u_t: u_xx" xy1.csv $axes
discover plane-open "u_t: u_xx" xy1.csv $axes --periodic none
discover plane-runs "u_t: u_xx" "xy1.csv xy2.csv" $axes --vary "u_t: u_xx"
discover cube "u_t: u_xx" xyz1.csv $space,u_yy
discover wave "u_tt: u_xx" w1.csv $wave
discover wave-runs "u_tt: u_xx" "w1.csv w2.csv" $wave --vary "u_tt: u_xx"
ask states 7
ask runs 7 --of-run s1.csv
ask closed 2.4
ask open 2.4
ask field-runs 2.4 --of-run x2.csv
ask plane 2.4
ask plane-open 2.4
ask plane-runs 2.4 --of-run xy2.csv
ask cube 1.2 --places 4
ask wave 3.5
ask wave-runs 3.5 --of-run w2.csv
if [ "$2" != few ]; then # the kernel engine takes its time over three axes
    discover cube-open "u_t: u_xx" xyz2.csv $space --periodic none
    ask cube-open 1.2 --places 4
fi
if [ "$2" = all ]; then # as plane-runs
    discover cube-runs "u_t: u_xx" "xyz2.csv xyz3.csv" $space --vary "u_t: u_xx"
    ask cube-runs 1.2 --places 4 --of-run xyz3.csv
fi
for kind in runs field-runs plane-runs wave-runs; do grep -q '"spread"' $kind.json || fail "$kind: no weight varies"; done

# Simulated again from where it was found to begin, a law gives what the data were made from, to what their noise allows.
# again KIND 'truth of an awk program': root mean square of the difference
again() {
    awk -F, -v kind="$1" "NR > 1 { d = \$NF - ($2); sum += d * d; n++ } END { if (!(n && sqrt(sum / n) < 0.02)) { print kind, n, sqrt(sum / n); exit 1 } }" \
        "$1-again.csv" || fail "$1: simulate gives another field" # 0.02: noise of 2 % and weights as far off as it lets them
}
line_truth='exp(-0.21932 * $1) * sin(1.047198 * ($2 - $1)) + 0.5 * exp(-0.87730 * $1) * cos(2.094395 * ($2 - $1))'
plane_truth='exp(-0.1 * $1) * sin($2) + 0.7 * exp(-0.25 * $1) * cos($3) * sin($2) + 0.5 * exp(-0.6 * $1) * cos(2 * $3)'
for kind in closed open field-runs; do again $kind "$line_truth"; done
for kind in plane plane-open plane-runs; do again $kind "$plane_truth"; done
again wave 'cos($1) * sin($2) + 0.3 * cos(2 * $1) * cos(2 * $2)'

# What discover is told of noise and equations, one search a kind. asked KIND 'text of the result' files options...
asked() {
    kind=$1 text=$2
    shift 2
    runs "$kind" "$kbass" discover "$@" --threads 1 --quiet --json asked.json
    grep -q "$text" asked.json || fail "$kind: the result has no $text"
}
bars() { awk -F, -v OFS=, 'NR == 1 { print $0, "s"; next } { print $0, 0.02 + 0.01 * (NR % 2) }' "$1"; } # error bars
lift() { awk -F, -v OFS=, 'NR > 1 { $NF += 5 } { print }' "$1"; }                                     # positive values
for file in x1 xy1 w1; do bars $file.csv >$file-bars.csv && lift $file.csv >$file-up.csv; done
bars s1.csv | sed 's/,s$/,sx/' >s1-bars.csv
asked "states: --sigma" '"sigma_columns"' s1-bars.csv --degree 1 --sigma sx
asked "one axis: --sigma" '"sigma_columns"' x1-bars.csv $fields --sigma s
asked "two axes: --sigma" '"sigma_columns"' xy1-bars.csv $axes --sigma s
asked "u_tt: --sigma" '"sigma_columns"' w1-bars.csv $wave --sigma s
asked "states: --fix" '"known": true' s1.csv --degree 1 --fix "x_t = y"
asked "one axis: --fix" '"known": true' x1.csv $fields --fix "u_t = 0.2*u_xx - u_x"
asked "two axes: --fix" '"known": true' xy1.csv $axes --fix "u_t = 0.1*u_xx + 0.15*u_yy"
asked "u_tt: --fix" '"known": true' w1.csv $wave --fix "u_tt = u_xx"
asked "one axis: --noise-model" '"relative_noise":true' x1-up.csv $fields --noise-model log
asked "two axes: --noise-model" '"relative_noise":true' xy1-up.csv $axes --noise-model log
asked "two open axes: --noise-model" '"relative_noise":true' xy1-up.csv $axes --noise-model multiplicative --periodic none
asked "u_tt: --noise-model" '"relative_noise":true' w1-up.csv $wave --noise-model multiplicative
awk -F, -v OFS=, 'NR == 1 { print $0, "v"; next } { print $0, sin($2) }' x1.csv >two.csv
asked "one axis: --equation-for" '"lhs": "u_t"' two.csv $fields,v --equation-for u

# Inputs: over the record the result has them, beyond it they have to be told; what does not fit is refused.
printf 't,f\n0,1\n3,0\n5,2\n9,0\n20,0\n' >switch.csv
simulate -e "x_t = -x + f" --start 0.2 --until 12 -n 61 --noise 1 --input-data switch.csv --input-hold -o heated.csv
awk -F, 'NR == 1 { print "t,x,f"; next } { t = $1 + 1e-9; print $1 "," $2 "," (t < 3 ? 1 : t < 5 ? 0 : t < 9 ? 2 : 0) }' heated.csv >heater.csv
discover driven "x_t: f" heater.csv --input f --input-hold --degree 1
ask driven 15 --input-data switch.csv
runs "inputs in other data" "$kbass" score driven.json heater.csv --draws 20 --quiet
refuses "a forecast without inputs" "is known from t = 0 to 12" "$kbass" forecast driven.json --until 15
printf 't,g\n0,1\n20,0\n' >other.csv
printf 't,f\n0,1\n4,0\n' >short.csv
printf 't,f\n0,\n4,1\n' >hole.csv
refuses "inputs without their column" 'no column "f", an input' "$kbass" simulate driven.json --input-data other.csv
refuses "inputs that end too early" "to 4, and needed from 0 to 12" "$kbass" simulate driven.json --input-data short.csv
refuses "inputs with one value" "has 1 value" "$kbass" simulate driven.json --input-data hole.csv
refuses "a delay longer than the record" "lasts only" "$kbass" discover heater.csv --input f --input-delay f=40

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
refuses "a simulation where a state has no equation" "every state needs an equation" "$kbass" simulate part.json
refuses "logarithms of negative fields" "positive" "$kbass" discover xy1.csv $axes --noise-model log

[ $failed = 0 ] && echo "all capabilities are as the README says"
exit $failed

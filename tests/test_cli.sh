#!/bin/bash
# The command from outside: exit codes and messages for every kind of bad input, and the way through when all is well.
. "$(dirname "$0")/outside.sh"

# refuses "part of the message" arguments...: exit code 2, nothing on stdout, one line on stderr (and two for a caret)
refuses() {
    local message=$1 code lines
    shift
    timeout 60 "$kbass" "$@" > out 2> err
    code=$?
    lines=$(wc -l < err)
    [ $code -eq 2 ] || complain "kbass $*: exit code $code, expected 2: $(cat err)"
    [ -s out ] && complain "kbass $*: wrote to standard output: $(head -1 out)"
    [ "$lines" -eq 1 ] || { [ "$lines" -eq 3 ] && sed -n 3p err | grep -q '^ *^$'; } ||
        complain "kbass $*: $lines lines on stderr: $(cat err)"
    head -1 err | grep -q '^kbass: ' || complain "kbass $*: $(cat err)"
    head -1 err | grep -qF -- "$message" || complain "kbass $*: expected \"$message\", found: $(cat err)"
}

# accepts arguments...: exit code 0 and nothing on stderr
accepts() {
    "$kbass" "$@" > out 2> err || complain "kbass $*: exit code $?: $(cat err)"
    [ -s err ] && complain "kbass $*: on stderr: $(cat err)"
}

# points_at column: the caret of the last refusal stands under this column of the source
points_at() {
    local column
    column=$(($(sed -n 3p err | wc -m) - 5))
    [ $column -eq "$1" ] || complain "caret under column $column, expected $1: $(cat err)"
}

rows() { for i in 0 1 2 3 4 5 6 7 8 9; do echo "$i,$((i * i % 7)),$((i * 3 % 5))"; done; }
{ echo t,x,y; rows; } > good.csv

# ---------------------------------------------------------------- commands and options
refuses 'no command'
refuses 'did you mean discover?' discovr good.csv
refuses 'unknown command "frobnicate"' frobnicate
refuses 'did you mean --degree?' discover good.csv --degre 3
refuses 'unknown option -z' discover good.csv -z
refuses '--degree needs a value' discover good.csv --degree
refuses '--constant takes no value' discover good.csv --constant=1
refuses '--degree: "99"' discover good.csv --degree 99
refuses '--degree: "2.5"' discover good.csv --degree=2.5
refuses '--degree: "nan"' discover good.csv --degree nan
refuses '--mesh: "3"' discover good.csv --mesh 3
refuses '--time-limit: "-1"' discover good.csv --time-limit -1
refuses 'kbass|paper' discover good.csv --method papr
refuses '--terms: found an empty value' discover good.csv --terms ""
refuses '--threads: "0"' discover good.csv --threads 0
refuses '--degree: "0"' discover good.csv --degree 0
awk -F, 'NR == 1 { print } NR > 1 { print $1 "e-310," $2 "," $3 }' good.csv > brief.csv
refuses 't: spans 9e-310, needed 1e-70 to 1e70' discover brief.csv
refuses 't: spans 9e-310, needed 1e-70 to 1e70' doctor brief.csv
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 "e200," $3 }' good.csv > vast.csv
refuses 'x: reaches 4e+200' discover vast.csv
refuses 'needs a data file' discover
printf 't,z\n0,1\n1,2\n' > other_states.csv
refuses 'runs share their states' discover good.csv other_states.csv
refuses 'no column "nr"' discover good.csv --run nr

# ---------------------------------------------------------------- tables
refuses 'nowhere.csv' discover nowhere.csv
: > empty.csv
refuses 'empty.csv' discover empty.csv
rows > headless.csv
refuses 'headless.csv:1' discover headless.csv
{ echo s,x,y; rows; } > timeless.csv
refuses 'timeless.csv' discover timeless.csv
refuses '"tau"' discover good.csv --time tau
{ echo t,x,y; rows | sed 's/^5,4/5,n\/x/'; } > words.csv
refuses 'words.csv:7: column "x": "n/x" is not a number' discover words.csv
{ echo t,x,x; rows; } > twice.csv
accepts data twice.csv
grep -q 'x_2 is "x"' out || complain "two columns of one name: $(cat out)"
{ echo t,x,y; rows | head -3; } > few.csv
refuses '3' discover few.csv
{ echo t,x,y; rows | sed 's/^[0-9]*,/1,/'; } > moment.csv
refuses 'time' discover moment.csv
{ echo t,x,y; rows | sed 's/,[0-9]*$/,5/'; } > constant.csv
refuses '"y"' discover constant.csv
{ echo t,x,y; rows | sed 's/^5,4/5,inf/'; } > infinite.csv
refuses 'infinite.csv:7: column "x"' discover infinite.csv
{ echo t,x,y; rows | sed 's/^5,4,.*/5,4/'; } > short.csv
refuses 'short.csv:7' discover short.csv

# ---------------------------------------------------------------- what a file holds
accepts data good.csv
grep -q '10 rows, 2 states (x, y), t from 0 to 9, spacing 1 (even), nothing missing' out || complain "data: $(cat out)"
sed 's/,/;/g; s/;\([0-9]\)$/;\1,5/' good.csv | gzip > odd
accepts data odd
grep -q 'gzip' out && grep -q 'decimal commas' out || complain "data odd: $(cat out)"
accepts data odd -o plain.csv
[ "$(sed -n 2p plain.csv)" = 0,0,0.5 ] || complain "data -o: $(head -2 plain.csv)"
refuses 'no column "tau" for time' data good.csv --time tau
refuses 'nowhere.npz' data nowhere.npz
"$kbass" data /dev/stdin < <(cat "$root/tests/data/grid_chunks.h5") | grep -q '20 rows on a 5 x 4 grid' ||
    complain "data from a pipe"
printf '\223NUMPY' > broken.npy
refuses 'broken.npy: it breaks off in the header' discover broken.npy

# ---------------------------------------------------------------- terms and equations
refuses 'z' discover good.csv --terms 'x, y*z'
points_at 3
refuses '' discover good.csv --terms 'x, y +* 2'
points_at 4
refuses 'sinn' discover good.csv --terms 'sinn(x)'
refuses '' discover good.csv --terms '(x + y'
refuses '"log(x)" is not finite in the data at t = 0, where x = 0' discover good.csv --terms 'log(x)'
refuses '"x/(8-x*y)" is not finite in the data at t = 3, where x = 2, y = 4' discover good.csv --terms 'x, x/(x*y-8)'
refuses 'z' discover good.csv --fix 'z_t = x'
refuses 'z' discover good.csv --equation-for z
refuses '--input: unknown state "z"' discover good.csv --input z
refuses 'vary: needed several runs' discover good.csv --vary x
refuses 'nowhere.txt' discover good.csv --terms-file nowhere.txt

# ---------------------------------------------------------------- fields over space
# field rows columns formula-of-t-and-x: a table t,x,u
field() {
    awk -v n_t="$1" -v n_x="$2" 'BEGIN { print "t,x,u"
        for (i = 0; i < n_t; i++) for (j = 0; j < n_x; j++) { t = i / (n_t - 1 + (n_t == 1)); x = 6.283185307 * j / n_x
            printf "%.9g,%.9g,%.9g\n", t, x, '"$3"' } }'
}
field 8 8 'exp(-t)*cos(x)' > field.csv
refuses 'no column "y" for an axis' discover field.csv --axes t,y
refuses 'axes: "x" is named twice' discover field.csv --axes t,x,x
refuses 'time u is not among --axes t,x' discover field.csv --axes t,x --time u
field 1 8 'cos(x)' > moment.csv
refuses 'are at one time' discover moment.csv --axes t,x
field 8 1 'exp(-t)' > place.csv
refuses 'single point of the axis' discover place.csv --axes t,x
field 8 5 'exp(-t)*cos(x)' > narrow.csv
refuses 'needs at least 6' discover narrow.csv --axes t,x --derivatives 4
field 8 8 '2' > flat.csv
refuses '"u" is constant' discover flat.csv --axes t,x
refuses 'unknown name "u_y"' discover field.csv --axes t,x --terms 'u_xx, u*u_y'
points_at 3
refuses '' discover field.csv --axes t,x --periodic y
refuses '' discover field.csv --axes t,x --mesh 3,3
refuses '"5," is not a grid' simulate burgers --grid 5,
refuses 'has 3 numbers, the data have 2 axes' discover field.csv --axes t,x --mesh 30,30,30
refuses_mesh() { printf '%b' "$2" > mesh.txt; refuses "$1" discover field.csv --axes t,x --mesh-file mesh.txt; }
refuses_mesh 'mesh.txt:2: "y" is no axis of the data' '# a mesh\ny 0 1 2\n'
refuses_mesh 'mesh.txt:1: axis "t": "one" is not a number' 't 0 0.1 one\n'
refuses_mesh 'mesh.txt:1: axis "t": 0.1 does not follow 0.2, coordinates must ascend' 't 0 0.2 0.1'
refuses_mesh 'is outside the domain' 'x 0, 0.1, 1000\n'
refuses_mesh 'axis "x" has 2 points, needed 8' 'x 0 0.1 # 0.2\n'
refuses_mesh 'mesh.txt:2: axis "x" comes twice' 'x 0 0.1 0.2 0.3 0.4 0.5 0.6 0.7\nx 0\n'
refuses 'nowhere.txt: cannot be opened' discover field.csv --axes t,x --mesh-file nowhere.txt
refuses 'needed fields over space' discover good.csv --mesh-file mesh.txt
refuses 'mesh: auto needs fields over space' discover good.csv --mesh auto
field3() { awk 'BEGIN { print "t,x,y,u"; for (i = 0; i < 512; i++) { t = i % 8; x = int(i / 8) % 8; y = int(i / 64)
    print t "," x "," y "," sin(t + x + y) } }'; }
field3 > cube.csv
refuses 'mesh: 4000 x 4000 x 4000 points take ' discover cube.csv --axes t,x,y --mesh 4000 --method paper
field 8 8 'x*exp(-t)' > ramp.csv
refuses 'the ends of axis "x" disagree' discover ramp.csv --axes t,x --periodic x
refuses 'the ends of axis "x" disagree' discover ramp.csv --axes t,x --periodic x --method paper
refuses '' discover field.csv --axes t,x --lhs u_x
refuses 'needed u_t or u_tt' discover field.csv --axes t,x --lhs v_t
refuses 'unknown name "u_xxy"' discover field.csv --axes t,x --terms 'u_xxy'
refuses 'unknown name "v_x"' discover field.csv --axes t,x --require 'v_x'
refuses ', x = 0' discover field.csv --axes t,x --terms 'u*log(x)'
refuses 'unknown state "v"' discover field.csv --axes t,x --fix 'v_t = u'
sed '1s/$/,v/; 2,$s/,\([^,]*\)$/,\1,\1/' field.csv > two.csv
refuses 'all 3 columns are axes' discover field.csv --axes t,x,u
field 8 8 '""' > nothing.csv
sed -i 's/,0$/,/' nothing.csv
refuses 'no states beside the axes: at least one column with values' discover nothing.csv --axes t,x
{ cat field.csv; echo '0,0,7'; } > repeated.csv
accepts data repeated.csv --axes t,x
grep -q '1 row repeats a place: separate measurements' out || complain "replicates: $(cat out)"
{ cat field.csv; echo '0.5,0.5,7,8'; } > wide.csv
refuses 'wide.csv:66' discover wide.csv --axes t,x

# ---------------------------------------------------------------- outputs
refuses 'cannot be written' discover good.csv --residuals /nowhere/residuals.csv
refuses 'cannot be written' discover good.csv --json /nowhere/result.json
refuses 'cannot be written' discover good.csv --solution .
refuses 'cannot write over' discover good.csv --json good.csv
[ "$(head -1 good.csv)" = t,x,y ] || complain "the data were overwritten"
[ -e /nowhere ] && complain "/nowhere was made"

# ---------------------------------------------------------------- simulate and data
refuses 'simulate needs' simulate
refuses 'vpd' simulate vpd
refuses 'needed 2 (x, y)' simulate vdp --start 1
refuses 'no state "z"' simulate vdp --start 'x=1, z=2'
refuses 'no value for y' simulate vdp --start 'x=1'
refuses '--start is needed' simulate --equation 'x_t = y' --equation 'y_t = -x' --until 1
refuses '--until is needed' simulate --equation 'x_t = y' --equation 'y_t = -x' --start 1,0
refuses '--until' simulate vdp --from 3 --until 2
refuses '--samples' simulate vdp --samples 1
refuses '"many" is not a number' simulate vdp --samples many
refuses '--noise' simulate vdp --noise -3
refuses 'cannot be written' simulate vdp -o /nowhere/x.csv
refuses 'nowhere.json' simulate nowhere.json
"$kbass" simulate -e 'x_t = x^2' --start 1 --until 2 > out 2> err && complain "a pole passes for a solution"
[ ! -s out ] && [ "$(wc -l < err)" -eq 1 ] && grep -q 'leaves every bound' err || complain "a pole: SUNDIALS speaks: $(cat out err)"
refuses '' simulate --equation 'x_t = y +' --start 1 --until 1
refuses 'found both' simulate vdp --equation 'x_t = x'
refuses 'hare-lynx' data hare-linx
refuses 'one file or name' data

accepts simulate --list
grep -q '^vdp ' out && grep -q '^lorenz96 ' out || complain "simulate --list: $(cat out)"
accepts simulate vdp --show
[ "$(wc -l < out)" -eq 2 ] || complain "simulate vdp --show: $(cat out)"
accepts data --list
grep -q '^hare-lynx ' out || complain "data --list: $(cat out)"
accepts data hare-lynx
[ "$(wc -l < out)" -eq 22 ] || complain "hare-lynx has $(wc -l < out) lines"
accepts data hare-lynx -o hares.csv
cmp -s out hares.csv && complain "-o wrote to standard output as well"
accepts simulate --equation 'x_t = y' -e 'y_t = -x' --start 'x=1, y=0' --until 3.141592653589793 -n 3
awk -F, 'NR == 4 && ($2 + 1) ^ 2 + $3 ^ 2 < 1e-8 { ok = 1 } END { exit !ok }' out || complain "half a turn: $(cat out)"
accepts simulate vdp --times '0, 0.5, 2' --noise 5 --seed 3
cp out first
accepts simulate vdp --times first --noise 5 --seed 3
cmp -s out first || complain "the same seed gave other noise"

# ---------------------------------------------------------------- the way through, and back
accepts simulate --equation 'x_t = y' -e 'y_t = -x' --start 1,0 --until 6 -n 20 -o turn.csv
accepts discover turn.csv --degree 1 --quiet --json turn.json --solution turn_solution.csv
grep -q '^  x_t = ' out && grep -q '^  y_t = ' out || complain "no equations: $(cat out)"
grep -q '"format": "kbass-result"' turn.json || complain "turn.json: $(head -3 turn.json)"
[ "$(head -1 turn_solution.csv)" = t,x,x_sd,y,y_sd ] || complain "turn_solution.csv: $(head -1 turn_solution.csv)"
accepts simulate turn.json --until 3 -n 4
[ "$(wc -l < out)" -eq 5 ] || complain "simulate turn.json: $(cat out)"
"$kbass" discover turn.csv --degree 1 > out 2> err || complain "discover: $(cat err)"
grep -q '^kbass: .* s$' err || complain "no progress on stderr"
grep -q $'\033' out err && complain "colours without a terminal"

# ---------------------------------------------------------------- what happens next, and where to look
accepts forecast turn.json --until 12 --draws 20 -n 5 -o next.csv --save-draws draws.npz
grep -q '^20 draws of the equations and the last state from t = 6 to 12, seed 1' out || complain "forecast: $(cat out)"
[ "$(head -1 next.csv)" = t,x,x_q5,x_q25,x_q50,x_q75,x_q95,y,y_q5,y_q25,y_q50,y_q75,y_q95,draws ] || complain "$(head -1 next.csv)"
awk -F, 'NR > 1 && (($2 - cos($1)) ^ 2 > 1e-6 || $14 != 20) { bad = 1 } END { exit bad || NR != 6 }' next.csv || complain "$(cat next.csv)"
accepts forecast turn.json --times '7, 8' --draws 3 --quantiles 2.5,50 --from 'y=0, x=2' --data turn.csv
[ "$(head -1 out)" = t,x,x_q2_5,x_q50,y,y_q2_5,y_q50,draws ] || complain "$(head -1 out)"
accepts forecast turn.json --until 8 --draws 3 --save-draws draws.csv -o forecast.json
[ "$(head -1 draws.csv)" = t,x_1,x_2,x_3,y_1,y_2,y_3 ] || complain "$(head -1 draws.csv)"
refuses 'one result file' forecast --until 8
refuses '--until is needed' forecast turn.json
refuses 'needed more than 6, where the record ends' forecast turn.json --until 6
refuses 'needed more than 6' forecast turn.json --until -3
refuses '--until' forecast turn.json --until nan
refuses '--until' forecast turn.json --until inf
refuses '--draws: found 0' forecast turn.json --until 8 --draws 0
refuses '--draws: found 2.5' forecast turn.json --until 8 --draws 2.5
refuses 'needed ascending times from 6 on' forecast turn.json --times '5, 7'
refuses 'no state "z"' forecast turn.json --until 8 --from 'z=1'
refuses 'no value for y' forecast turn.json --until 8 --from 'x=1'
refuses 'is not a number' forecast turn.json --until 8 --from 'nan, 1'
refuses 'percents' forecast turn.json --until 8 --quantiles 5,101
refuses '5 twice' forecast turn.json --until 8 --quantiles 5,5
refuses 'boundary is for fields' forecast turn.json --until 8 --boundary neumann
refuses '--places is for fields' forecast turn.json --until 8 --places 5
refuses 'data.sha256' forecast turn.json --until 8 --data good.csv
refuses 'NPY has room for one' forecast turn.json --until 8 -o forecast.npy
refuses 'cannot write over' forecast turn.json --until 8 -o turn.json
sed 's/"format_version": 1/"format_version": 2/' turn.json > edited.json
refuses '"format_version" is 2, this program reads 1' forecast edited.json --until 8
head -c 3000 turn.json > edited.json
refuses 'not a whole result file' next edited.json
sed 's/"first_time": 0.0/"first_time": 1.0/' turn.json > edited.json
refuses '"data.first_time"' next edited.json
accepts next turn.json --best 4 -o gains.csv
grep -q 'about weights' out && [ "$(head -1 gains.csv)" = t,x_models,x_weights,y_models,y_weights ] || complain "next: $(cat out)"
accepts discover turn.csv --degree 3 --quiet --json turn3.json
accepts next turn3.json --best 1
grep -q 'another measurement does' out && grep -q 'x_t: .* A run from another start would tell them apart' out || complain "next, alike: $(cat out)"
awk 'BEGIN { print "t,x"; for (i = 0; i < 20; i++) print i "," (i * i * 7 % 13) }' > flat.csv
"$kbass" discover flat.csv --quiet --degree 1 --json flat.json > out 2> err
[ $? -eq 3 ] && grep -q '^Nothing to explain: P(law) 0.0' out || complain "flat: $(cat out err)"
for command in "simulate flat.json --until 3 -n 2" "next flat.json --best 1" "forecast flat.json --until 21 --draws 5 -n 2"; do
    "$kbass" $command > out 2> err || complain "$command: $(cat err)"
    grep -q 'nothing to explain; the law without any term is the best' err || complain "$command does not repeat the verdict: $(cat err)"
done
refuses '--until' next turn.json --until 1
refuses '--best' next turn.json --best 0

# ---------------------------------------------------------------- the same for a field
accepts discover field.csv --axes t,x --terms 'u, u_xx' --quiet --json field.json --solution field_solution.csv \
    --residuals field_residuals.csv --mesh 20,30
grep -q '^  u_t = ' out || complain "no equation: $(cat out)"
grep -q '"u": ".*cos(' field.json && grep -q '"period": 6.28' field.json || complain "field.json: $(grep -A2 initial field.json)"
accepts simulate field.json --grid 5x5
cp out by_x
accepts simulate field.json --grid 5,5
cmp -s out by_x || complain "--grid 5,5 is not 5x5"
awk -F, 'NR > 1 && ($3 - exp(-$1) * cos($2)) ^ 2 > 1e-6 { bad = 1 } END { exit bad || NR != 26 }' out || complain "$(head -3 out)"
accepts forecast field.json --until 1.5 -n 3 --places 7 --draws 20 --chosen
awk -F, 'NR > 1 && ($3 - exp(-$1) * cos($2)) ^ 2 > 1e-4 { bad = 1 } END { exit bad || NR != 22 }' out || complain "$(head -3 out)"
refuses 'the fit has x periodic' forecast field.json --until 1.5 --boundary dirichlet
refuses 'a field cannot start' forecast field.json --until 1.5 --from 1
accepts next field.json -n 5 --places 5

# ---------------------------------------------------------------- of several runs, one goes on
awk -F, 'NR == 1 || $1 <= 0.6' field.csv > half.csv
accepts discover field.csv half.csv --axes t,x --terms 'u, u_xx' --quiet --json runs.json
refuses '--of-run says which of them goes on (field.csv, half.csv)' forecast runs.json --until 2
refuses 'found no run "late"' next runs.json --of-run late
refuses 'one run alone' forecast field.json --until 2 --of-run field.csv
refuses 'data of one run alone' forecast runs.json --until 2 --of-run half.csv --data half.csv
accepts forecast runs.json --of-run half.csv --until 1 -n 3 --places 7 --draws 20 --chosen
awk -F, 'NR > 1 && ($3 - exp(-$1) * cos($2)) ^ 2 > 1e-4 || NR == 2 && $1 > 0.6 { bad = 1 } END { exit bad || NR != 22 }' out ||
    complain "$(head -3 out)"
accepts next runs.json --of-run half.csv -n 5 --places 5
accepts discover field.csv half.csv --axes t,x --terms 'u, u_xx' --quiet --vary u_xx
grep -q 'u_t: u_xx by run, spread' out || complain "vary: $(cat out)"

sed 's/^  "period": .*,/  "period": null,/' field.json > open.json
accepts simulate open.json
refuses '--until is not for PDEs' simulate field.json --until 3
[ "$(head -1 field_solution.csv)" = t,x,u,u_sd ] || complain "field_solution.csv: $(head -1 field_solution.csv)"
[ "$(wc -l < field_solution.csv)" -eq 601 ] || complain "field_solution.csv has $(wc -l < field_solution.csv) lines"
[ "$(head -1 field_residuals.csv)" = t,x,u,u_fitted,u_residual ] || complain "$(head -1 field_residuals.csv)"
awk -F, 'NR > 1 && ($3 - $4 - $5) ^ 2 + $5 ^ 2 > 0.01 { bad = 1 } END { exit bad || NR != 65 }' field_residuals.csv ||
    complain "field_residuals.csv: $(head -3 field_residuals.csv)"

accepts discover field.csv --axes t,x --terms 'u, u_xx' --quiet --method paper --threads 1 --mesh 30,40 --json paper_field.json \
    --solution paper_field.csv --residuals paper_residuals.csv
grep -q '"iterations": [1-9]' paper_field.json || complain "paper_field.json: $(grep iterations paper_field.json)"
[ "$(head -1 paper_field.csv)" = t,x,u,u_sd ] || complain "paper_field.csv: $(head -1 paper_field.csv)"
[ "$(wc -l < paper_field.csv)" -eq 1201 ] || complain "paper_field.csv has $(wc -l < paper_field.csv) lines"
# points_along column file: how many different coordinates
points_along() { awk -F, -v c="$1" 'NR > 1 && !seen[$c]++ { n++ } END { print n }' "$2"; }
accepts discover field.csv --axes t,x --terms 'u, u_xx' --quiet --method paper --threads 1 --mesh auto --solution refined.csv
[ "$(points_along 1 refined.csv) $(points_along 2 refined.csv)" = '160 160' ] || complain "--mesh auto: $(head -3 refined.csv)"
accepts discover field.csv --axes t,x --terms 'u, u_xx' --quiet --solution open.csv
[ "$(points_along 1 open.csv) $(points_along 2 open.csv)" = '60 100' ] || complain "open.csv: $(head -3 open.csv)"
echo 't 0 0.1 0.2 0.4 0.5 0.6 0.7 0.8 0.9' > mesh.txt
accepts discover field.csv --axes t,x --terms 'u, u_xx' --quiet --mesh-file mesh.txt --mesh 30 --solution uneven.csv
[ "$(tail -n +2 uneven.csv | cut -d, -f1 | sort -un | tr '\n' ' ')" = '0 0.1 0.2 0.4 0.5 0.6 0.7 0.8 0.9 ' ] ||
    complain "uneven.csv: $(cut -d, -f1 uneven.csv | sort -u | head)"

# the other formats hold the same numbers: NPY as bytes behind its header, NPZ as a stored archive of such, JSON as lists
same_field() { accepts discover field.csv --axes t,x --terms 'u, u_xx' --quiet --mesh 20,30 "$@"; }
same_field --solution field.npy --residuals field_residuals.json
same_field --solution field.npz
same_field --solution same.csv # with --json the integrator stops at other times, too
same_field --solution field_solution.json
head -c 128 field.npy | grep -aq "NUMPY.*'<f8', 'fortran_order': False, 'shape': (4,20,30,), }" || complain "field.npy: its header"
od -A n -v -t f8 -w8 -j 128 field.npy > npy_values
awk -F, 'NR > 1 { for (i = 1; i <= 4; i++) print i, $i }' same.csv | sort -s -n -k1,1 | cut -d ' ' -f 2 |
    paste npy_values - | awk '($1 - $2) ^ 2 > 1e-24 { bad = 1 } END { exit bad || NR != 2400 }' || complain "field.npy: its values"
[ "$(head -c 4 field.npz | od -A n -t x1)" = ' 50 4b 03 04' ] || complain "field.npz is no archive"
[ "$(grep -ac 'u_sd.npy' field.npz)" -ge 1 ] || complain "field.npz has no u_sd"
tail -c +$((30 + 5 + 1)) field.npz | head -c 128 | grep -aq "'shape': (20,)" || complain "field.npz: t"
if command -v unzip > /dev/null; then unzip -tqq field.npz || complain "field.npz: unzip finds it damaged"; else skip "no unzip"; fi
[ "$(tr -cd '[' < field_solution.json | wc -c)" -eq 44 ] || complain "field_solution.json: two lists, two of 20 each"
grep -q '"u_residual": \[' field_residuals.json || complain "field_residuals.json: $(head -c 200 field_residuals.json)"
if /usr/bin/python3 -c 'import numpy' 2> /dev/null; then
    /usr/bin/python3 - <<'EOF' || complain "numpy does not read what was written"
import json, numpy
z, a, j = numpy.load("field.npz"), numpy.load("field.npy"), json.load(open("field_solution.json"))
assert sorted(z.files) == sorted(j) == ["t", "u", "u_sd", "x"] and a.shape == (4, 20, 30)
assert z["t"].shape == (20,) and z["x"].shape == (30,) and (z["u"] == a[2]).all() and (z["u_sd"] == a[3]).all()
assert numpy.allclose(z["u"], numpy.array(j["u"]), rtol=1e-14)
EOF
else
    skip "reading by NumPy: no python3-numpy"
fi
# the law holds along its own solution
same_field --law-residuals field_law.csv
[ "$(head -1 field_law.csv)" = t,x,u_t,u_t_law,u_t_residual ] || complain "field_law.csv: $(head -1 field_law.csv)"
awk -F, 'NR > 1 && $5 ^ 2 > 1e-10 { bad = 1 } END { exit bad || NR != 601 }' field_law.csv || complain "field_law.csv"
accepts discover turn.csv --degree 1 --quiet --law-residuals turn_law.csv
[ "$(head -1 turn_law.csv)" = t,x_t,x_t_law,x_t_residual,y_t,y_t_law,y_t_residual ] || complain "$(head -1 turn_law.csv)"
awk -F, 'NR > 1 && $4 ^ 2 + $7 ^ 2 > 1e-10 { bad = 1 } END { exit bad }' turn_law.csv || complain "turn_law.csv"
accepts discover turn.csv --degree 1 --quiet --residuals turn_residuals.csv
[ "$(head -1 turn_residuals.csv)" = t,x,x_fitted,x_residual,y,y_fitted,y_residual ] || complain "turn_residuals.csv"
[ "$(wc -l < turn_residuals.csv)" -eq 21 ] || complain "turn_residuals.csv has $(wc -l < turn_residuals.csv) lines"

# ---------------------------------------------------------------- in other languages; tests/test_export.c runs them
accepts discover turn.csv --degree 1 --quiet --json turn.json
for format in $("$kbass" export --list | cut -d' ' -f1); do accepts export turn.json --to "$format" -o "turn.$format"; done
grep -q 'frac{.mathrm{d} x}' turn.latex && grep -q '^void turn(double t' <("$kbass" export turn.json --to c --name turn) ||
    complain "exports: $(head -20 turn.latex turn.c)"
refuses 'export needs --to FORMAT' export turn.json
refuses 'one result file' export --to c
refuses 'did you mean "latex"?' export turn.json --to latx
refuses 'cannot be written' export turn.json --to c -o nowhere/turn.c
refuses 'is a word of the language' export turn.json --to c --name int
refuses 'is a word of the language' export turn.json --to matlab --name while
refuses 'not a result file' export good.csv --to c
accepts completion bash
refuses 'unknown shell "fish"' completion fish
refuses 'did you mean --list?' data --lst
refuses 'did you mean "x"?' discover good.csv --axes t,xx
refuses 'did you mean export?' help exprt
refuses 'did you mean paper?' bench papr
refuses 'did you mean vdp-10' bench paper --case vpd-10-0

# ---------------------------------------------------------------- the published algorithm
accepts discover turn.csv --degree 1 --quiet --method paper --paper-limit 3000 --threads 1 --json paper.json --solution paper.csv
grep -q '^  x_t = *[0-9.]* y$' out && grep -q '^  y_t = *-[0-9.]* x$' out || complain "paper: $(cat out)"
grep -q '"method": "paper"' paper.json || complain "paper.json: $(head -5 paper.json)"
[ "$(head -1 paper.csv)" = t,x,x_sd,y,y_sd ] || complain "paper.csv: $(head -1 paper.csv)"

# ---------------------------------------------------------------- doctor, units
"$kbass" simulate vdp -n 100 --noise 5 -o fit.csv
accepts doctor fit.csv --json fit.json
grep -q 'Fit to go\.' out && grep -q '"verdict": "fine"' fit.json || complain "doctor of good data: $(tail -3 out)"
awk -F, 'NR == 40 { $2 += 5 } { print $1 "," $2 "," $3 }' fit.csv > spike.csv
"$kbass" doctor spike.csv > out 2> err
code=$?
[ $code -eq 1 ] && grep -q '! outliers *1 value of x' out || complain "doctor of an outlier: exit code $code: $(head -5 out)"
awk -F, '{ print $1 "," $2 "," (NR == 1 ? "y" : 3) }' fit.csv > still.csv
"$kbass" doctor still.csv > out 2> err
code=$?
[ $code -eq 2 ] && grep -q 'X constant *y is 3 throughout' out || complain "doctor of a constant: exit code $code: $(head -5 out)"
refuses 'doctor needs data' doctor
"$kbass" doctor fit.csv spike.csv --json runs.json > out 2> err
code=$?
[ $code -eq 1 ] && grep -q '^fit.csv:' out && grep -q '! outliers *1 value of x' out && grep -q '"spike.csv": {' runs.json ||
    complain "doctor of two runs: exit code $code: $(head -5 out)"
refuses 'shows one run, found 2' doctor fit.csv spike.csv --figure runs.svg
refuses 'is neither an axis nor a state' doctor fit.csv --units 'q:m'
if command -v gnuplot > /dev/null; then
    "$kbass" doctor spike.csv --figure spike.svg > out 2> err
    grep -q '</svg>' spike.svg || complain "doctor --figure: $(cat err)"
else
    skip "doctor --figure: no gnuplot"
fi
accepts discover fit.csv --quiet --degree 3 --units 't:s, x:m, y:m/s' --json units.json
grep -q ' unit ' out && grep -q 'm^-2 s^-1\|s^-1 m^-2' out || complain "discover --units: $(head -12 out)"
grep -q '"unit": "1/s^2"' units.json || complain "units.json"

# ---------------------------------------------------------------- stopped: by the clock, by Ctrl-C
"$kbass" simulate lorenz96 -n 60 --noise 10 -o long.csv
"$kbass" simulate lorenz63 -n 100 --noise 5 -o chaos.csv # few states begin with the kernel engine, which takes its time
"$kbass" discover chaos.csv --quiet --time-limit 0.001 --json early.json --solution early.csv > out 2> err
code=$?
[ $code -eq 1 ] || complain "time limit before a model: exit code $code, expected 1: $(cat err)"
grep -q 'before there was a model' out || complain "time limit before a model: $(tail -3 out)"
grep -q '"outcome": "time limit"' early.json && grep -q '"equations": \[\]' early.json || complain "early.json"
[ -e early.csv ] && complain "a solution without a model"

# SIGINT, sent when the search has begun, ends the run with a result; the machine may be busy with other tests
interrupts() {
    local pid stopped code
    "$kbass" discover "$1" --json stopped.json > out 2> err &
    pid=$!
    until grep -qE '^kbass: (search|arbitrate)' err || ! kill -0 $pid; do sleep 0.05; done
    kill -INT $pid
    stopped=$SECONDS
    wait $pid
    code=$?
    [ $code -eq 130 ] || complain "Ctrl-C: exit code $code, expected 130: $(cat err)"
    [ $((SECONDS - stopped)) -le 20 ] || complain "Ctrl-C took $((SECONDS - stopped)) s"
    grep -q '"outcome": "cancelled"' stopped.json || complain "Ctrl-C wrote no result"
}
interrupts long.csv

finish

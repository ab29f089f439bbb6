#!/bin/bash
# kbass report and kbass plot from outside: what the page holds, what is refused, what is made without gnuplot.
. "$(dirname "$0")/outside.sh"

# refuses CODE "part of the message" arguments...
refuses() {
    local expected=$1 message=$2 code
    shift 2
    timeout 60 "$kbass" "$@" > out 2> err
    code=$?
    [ $code -eq "$expected" ] || complain "kbass $*: exit code $code, expected $expected: $(cat err)"
    [ "$(wc -l < err)" -eq 1 ] || complain "kbass $*: $(cat err)"
    grep -qF -- "$message" err || complain "kbass $*: expected \"$message\", found: $(cat err)"
}

accepts() {
    "$kbass" "$@" > out 2> err || complain "kbass $*: exit code $?: $(cat err)"
    [ -s err ] && complain "kbass $*: on stderr: $(cat err)"
}

holds() { grep -qF -- "$2" "$1" || complain "$1 lacks $2"; }
lacks() { ! grep -qE -- "$2" "$1" || complain "$1 holds $2"; }

# edit FILE.json "sed script": vdp.json with a change
edit() {
    sed "$2" vdp.json > "$1"
    ! cmp -s "$1" vdp.json || complain "$1: the edit changes nothing"
}

"$kbass" simulate vdp -n 12 --noise 5 -o vdp.csv
"$kbass" discover vdp.csv -q --terms "x, y, x^2*y" --json vdp.json --report early.html > vdp.txt 2> err
"$kbass" simulate -e "u_t = 0.1*u_xx" --domain "x=0:1, t=0:1" --initial "sin(2*pi*x)" --grid 8x10 --noise 2 -o heat.csv
"$kbass" discover heat.csv --axes t,x -q --terms "u, u_x, u_xx" --json heat.json > /dev/null
"$kbass" simulate -e "u_tt = u_xx" --domain "x=0:6, t=0:2" --initial "sin(pi*x/3)" --grid 12x12 --noise 2 -o wave.csv
"$kbass" discover wave.csv --axes t,x --lhs u_tt -q --terms "u, u_x, u_xx" --json wave.json > /dev/null || complain "wave.json: exit code $?"

# ---------------------------------------------------------------- the page, with or without figures
"$kbass" report vdp.json -o page.html > out 2> err || complain "report: $(cat err)"
for part in '<!DOCTYPE html>' '<div class="equation" role="math"' '<h2>Terms</h2>' '<h2>Residuals</h2>' '<h2>Other models</h2>' \
    'SHA-256 of the data' "$(sha256sum < vdp.csv | cut -c1-64)" 'prefers-color-scheme:dark' 'kbass discover vdp.csv --terms' \
    '<msup><mi>x</mi><mrow><mn>2</mn></mrow></msup>'; do
    holds page.html "$part"
done
lacks page.html 'https?://'
lacks page.html '<script'
cmp -s page.html early.html || complain "discover --report and report differ"
accepts help report
(cd / && "$kbass" report "$folder/vdp.json" > /dev/null 2>&1) && [ -s vdp.html ] || complain "no page beside the result"

# ---------------------------------------------------------------- one interval: terminal, page, descriptions, JSON
grep -oE -- '-?[0-9.]+ to -?[0-9.]+ ' vdp.txt | sed 's/ $//' > intervals
[ "$(wc -l < intervals)" -ge 3 ] || complain "vdp.txt lacks intervals"
while read -r interval; do
    holds page.html "${interval//-/−}"
    [ -z "$(command -v gnuplot)" ] || holds page.html "95 % interval $interval."
    printf '%s\n' "$interval" >> told
done < intervals
[ -z "$(command -v python3)" ] || python3 - vdp.json told << 'EOF' || complain "intervals of the terminal and of vdp.json differ"
import json, sys
known = [t['interval'] for e in json.load(open(sys.argv[1]))['equations'] for t in e['terms']]
for line in open(sys.argv[2]):
    ends = line.split(' to ')
    digits = len(ends[0].strip().partition('.')[2])
    wanted = [float(end) for end in ends]
    assert any(all(abs(a - b) <= 0.51 * 10**-digits for a, b in zip(k, wanted)) for k in known), line
EOF

# ---------------------------------------------------------------- constants inside terms, by name and with their intervals
"$kbass" simulate -e "s_t = -1.5*s/(0.8+s)" --start 5 --until 6 -n 30 --noise 2 -o enzyme.csv
"$kbass" discover enzyme.csv -q --unknown K=0.05:20 --terms "s, s/(K+s)" --report enzyme.html > out 2> err ||
    complain "enzyme.html: exit code $?: $(cat err)"
holds enzyme.html '<p class="constant"><math><mrow><mi>K</mi><mo>=</mo>'
holds enzyme.html 'sought from 0.05 to 20</p>'
lacks page.html 'class="constant"'

# ---------------------------------------------------------------- several runs, error bars, units, missing values
cat > bars.csv << EOF
run,t,x,s
1,0,2.1,0.1
1,1,1.22,0.1
1,2,0.75,0.05
1,3,,
1,4,0.28,0.05
2,0,1.03,0.1
2,1.5,0.45,0.05
2,2.5,0.31,0.05
2,3.5,0.16,0.02
EOF
"$kbass" discover bars.csv --run run --sigma s --terms x --units "t:s, x:m" -q --json bars.json --report bars.html > out 2> err ||
    complain "bars.html: $(cat err)"
for part in '2 runs of one law' 'kbass discover bars.csv --run run --sigma s --terms x --units' '1/s</span>'; do
    holds bars.html "$part"
done
cp bars.csv other.csv
"$kbass" discover bars.csv other.csv --run run --sigma s --terms x -q --report files.html > out 2> err || complain "files.html: $(cat err)"
holds files.html 'kbass discover bars.csv other.csv --run run'
holds page.html 'How the weights move together'

# ---------------------------------------------------------------- without gnuplot
mkdir bare
for tool in sh bash; do ln -s "$(command -v $tool)" bare/; done
PATH=$folder/bare "$kbass" report vdp.json -o bare.html > out 2> err || complain "report without gnuplot: exit code $?"
holds err "gnuplot"
holds bare.html "The figures are missing"
holds bare.html "<h2>Terms</h2>"
lacks bare.html "<svg"
PATH=$folder/bare "$kbass" plot vdp.json solution -o x.svg > out 2> err && complain "plot without gnuplot says all is well"
holds err "apt-get install gnuplot-nox"
PATH=$folder/bare "$kbass" plot heat.json field --terminal > out 2> err || complain "maps in characters need no gnuplot"
holds out "u, fitted"

# ---------------------------------------------------------------- bad input
refuses 2 "needs one result file" report
refuses 2 "cannot write over the file it is made from" report vdp.json -o vdp.json
refuses 2 "cannot be written" report vdp.json -o nowhere/page.html
refuses 2 "unable to open" report missing.json -o x.html
refuses 2 "not a whole result file" report vdp.csv -o x.html
head -c 3000 vdp.json > short.json
refuses 2 "not a whole result file" report short.json -o x.html
refuses 2 "was not made from these data" report vdp.json --data heat.csv --axes t,x -o x.html
accepts plot heat.json field --terminal
refuses 2 "did you mean residuals" plot vdp.json residual -o x.svg
refuses 2 "needed one of solution, phase" plot vdp.json everything -o x.svg
refuses 2 "needed .svg, .pdf or .png" plot vdp.json solution -o x.jpeg
refuses 2 "neither -o FILE nor --terminal" plot vdp.json solution
refuses 2 "both -o and --terminal" plot vdp.json solution -o x.svg --terminal
refuses 2 "needs --until" plot vdp.json forecast -o x.svg
refuses 2 "where the record ends" plot vdp.json forecast --until 1 -o x.svg
refuses 1 "is for fields over space" plot vdp.json field -o x.svg
refuses 1 "is for states over time" plot heat.json solution -o x.svg
edit other.json 's/"format_version": 1/"format_version": 99/'
refuses 2 "\"format_version\" is not" report other.json -o x.html
edit quote.json '/^ *"states": \[/{n;s/"x"/"x'"'"'; system(\\"touch harm\\") #"/}'
refuses 2 "\"data.states\" holds something that is not a name" plot quote.json solution -o x.svg
[ -e harm ] && complain "a name in a result file was run as a command"
edit few.json '/^ *"solution":/s/"mean":{"x":\[[^,]*,/"mean":{"x":[/'
refuses 2 "\"solution.mean.x\" has 399 numbers, needed 400" report few.json -o x.html
edit word.json '/^ *"samples":/s/\("measured":{[^}]*"y":\[[^,]*,[^,]*,[^,]*\),[^,]*/\1,"n\/a"/'
refuses 2 "\"samples.measured.y\" holds something that is not a number, at 3" report word.json -o x.html
edit bare.json 's/^\( *"\(solution\|samples\)": \){.*}/\1null/'
refuses 1 "holds no solution" plot bare.json solution -o x.svg
edit tag.json '0,/"term": "y"/s//"term": "<b>\&"/'
"$kbass" report tag.json -o tag.html > out 2> err || complain "report of strange names: $(cat err)"
lacks tag.html '<b>'

# ---------------------------------------------------------------- times with many digits
awk 'BEGIN { print "t,x,y"; for (i = 0; i < 25; i++) printf "%.1f,%.9f,%.9f\n", 1700000000 + i / 5, cos(i / 5), -sin(i / 5) }' > epoch.csv
"$kbass" discover epoch.csv --degree 1 --quiet --json epoch.json > /dev/null || complain "epoch.csv: no result"
"$kbass" report epoch.json -o epoch.html > out 2> err || complain "report epoch.json: exit code $?: $(cat err)"
holds epoch.json '1700000000.2'

# ---------------------------------------------------------------- figures
if command -v gnuplot > /dev/null; then
    for figure in solution phase weights residuals; do accepts plot vdp.json $figure -o $figure.svg; done
    for figure in field slices weights residuals; do accepts plot heat.json $figure -o heat-$figure.svg; done
    accepts plot vdp.json forecast --until 12 -o forecast.svg
    # dates in two lines, and numbers with many letters
    awk 'BEGIN { print "Timestamp,x,y"; for (i = 0; i < 40; i++)
        printf "2023-01-01T%02d:%02d:00,%g,%g\n", i / 5, i % 5 * 12, 12345 + 1000 * cos(i / 5), -0.00012 * sin(i / 5) }' > dates.csv
    "$kbass" discover dates.csv --terms "1, x, y" -q --json dates.json > out 2>&1
    accepts plot dates.json solution -o dates.svg
    accepts forecast dates.json --until 40000 --draws 5 -o /dev/null --figure dates-ahead.svg
    # no label begins outside of its picture, or within half a letter of its rim
    outside='match($0, /viewBox="0 0 [0-9]+ [0-9]+/) { split(substr($0, RSTART, RLENGTH), box, " ") }
        match($0, /translate\([-0-9.]+,[-0-9.]+\)/) { split(substr($0, RSTART + 10, RLENGTH - 11), at, ",")
            if (at[1] < 8 || at[2] < 4 || at[1] > box[3] || at[2] > box[4] - 4) print at[1], at[2] }'
    for file in *.svg; do
        tail -2 "$file" | grep -q "</svg>" || complain "$file is not a whole SVG"
        [[ $file != dates* ]] || [ -z "$(awk "$outside" "$file")" ] || complain "$file: labels outside at $(awk "$outside" "$file")"
    done
    accepts plot vdp.json solution -o solution.png
    head -c 4 solution.png | grep -q PNG || complain "solution.png is no PNG"
    width() { od -An -j16 -N4 -tu1 "$1" | awk '{ print $3 * 256 + $4 }'; }
    [ "$(width solution.png)" -eq 1200 ] || complain "solution.png: $(width solution.png) pixels wide"
    accepts plot vdp.json phase -o phase.png --size 640x480
    [ "$(width phase.png)" -eq 640 ] || complain "--size 640x480: $(width phase.png) pixels wide"
    accepts plot vdp.json phase -o phase.png --dpi 200
    [ "$(width phase.png)" -eq 1400 ] || complain "--dpi 200: $(width phase.png) pixels wide"
    refuses 2 "--dpi is for PNG" plot vdp.json phase -o phase.svg --dpi 200
    refuses 2 "needed WIDTHxHEIGHT" plot vdp.json phase -o phase.png --size 640
    accepts plot vdp.json solution -o solution.pdf
    head -c 4 solution.pdf | grep -q PDF || complain "solution.pdf is no PDF"
    accepts plot vdp.json solution --terminal
    holds out "measured"
    accepts report vdp.json --until 12 --data vdp.csv -o page.html
    # states, phase portrait, weights, residuals twice each, forecast
    [ "$(grep -c '<svg role="img" aria-label="' page.html)" -ge 10 ] || complain "page.html has too few figures"
    holds page.html "What happens next"
    holds bars.html "x over t in each run: samples (dots with error bars)"
    accepts report heat.json -o heat.html
    holds heat.html "u as measured"
    holds heat.html "data:image/png;base64"
    lacks heat.html 'https?://'
    [ "$(grep -o ' id=["'"'"'][^"'"'"']*' page.html | sort | uniq -d | wc -l)" -eq 0 ] || complain "ids stand twice in page.html"
else
    skip "figures: no gnuplot"
fi

finish

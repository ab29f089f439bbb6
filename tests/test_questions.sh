#!/bin/bash
# test_questions.sh KBASS: constants, constraints and new data that cannot be: each refused in one line, exit code 2.
kbass=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

refused() { # words of the message, then the arguments
    words=$1
    shift
    "$kbass" "$@" > out 2> err
    code=$?
    [ $code = 2 ] && [ "$(wc -l < err)" = 1 ] && grep -qF -- "$words" err && return
    echo "kbass $*: exit code $code, needed 2 and one line with: $words"
    cat err
    failures=$((failures + 1))
}

"$kbass" simulate -e "s_t = -x*s/(2+s)" -e "x_t = x*s/(2+s)" --start 4,0.5 --until 4 -n 20 --noise 1 -o culture.csv
terms="s, x, s*x/(K+s)"
refused "the range of K is reversed" discover culture.csv --unknown K=20:1 --terms "$terms"
refused "the range of K is empty" discover culture.csv --unknown K=1:1 --terms "$terms"
refused "is not two numbers" discover culture.csv --unknown K=a:2 --terms "$terms"
refused "no term names the constant L" discover culture.csv --unknown "K=1:2, L=1:2" --terms "$terms"
refused "singular" discover culture.csv --unknown K=1:4 --terms "s, x, s*x/(s-K)" --quiet

refused "unknown family \"saturation\"; did you mean \"saturating\"?" discover culture.csv --family saturation
"$kbass" simulate -e "x_t = -x" --start -4 --until 1 -n 20 -o below.csv
"$kbass" discover below.csv --family saturating --quiet --threads 1 | grep -q "has K1" && { echo "a pole within the data"; failures=1; }

refused "\"s^7\" is not in the dictionary" discover culture.csv --degree 2 --constraint "s_t: s^7 < 0"
refused "is no candidate in" discover culture.csv --degree 2 --forbid "s_t: s" --constraint "s_t: s < 0"
refused "contradicts those before it" discover culture.csv --degree 2 --constraint "s_t: s < 0; s_t: s > 1"
refused "follows from those before it" discover culture.csv --degree 2 --constraint "s_t: s < 0; s_t: s < 1"
refused "says what those before it say" discover culture.csv --degree 2 --constraint "s_t + x_t = 0; s_t: s = -1*x_t: s"
refused "needed a number or a weight" discover culture.csv --degree 2 --constraint "s_t: s < much"
refused "weights are not constrained for --method em" discover culture.csv --degree 2 --method em --constraint "s_t: s < 0"

"$kbass" discover culture.csv --terms "s*x/(2+s)" --quiet --json law.json > /dev/null || { echo "no law"; failures=1; }
"$kbass" simulate -e "u_t = -u" -e "v_t = -v" --start 1,1 --until 1 -n 9 -o other.csv
refused "the data have no column \"s\"" score law.json other.csv
"$kbass" simulate -e "u_t = 0.1*u_xx" --domain t=0:1,x=0:1 --initial "sin(6.2831853*x)" --boundary periodic --grid 5x8 -o field.csv
refused "the data have 2 axes, the law 1" score law.json field.csv --axes t,x
sed '1s/.*/t [h],s [g\/l],x [g\/l]/' culture.csv > grams.csv
sed '1s/.*/t [h],s [mg\/l],x [g\/l]/' culture.csv > milligrams.csv
sed '1s/.*/t [min],s [g\/l],x [g\/l]/' culture.csv > minutes.csv
"$kbass" discover grams.csv --terms "s*x/(2+s)" --quiet --json grams.json > /dev/null || { echo "no law"; failures=1; }
refused "the data have s in mg/l, the law has it in g/l" score grams.json milligrams.csv
refused "the data have t in min, the law has it in h" score grams.json minutes.csv
"$kbass" score grams.json culture.csv > /dev/null 2>&1 || { echo "no score without units"; failures=1; }
has() { grep -qF -- "$1" out || { echo "not in the output: $1"; failures=$((failures + 1)); }; }
"$kbass" discover culture.csv --unknown K=0.1:20 --terms "s*x/(K+s)" --quiet --threads 1 --json K.json > /dev/null
"$kbass" export K.json --to latex > out && has "K inside its terms is" && has "  K &= "
"$kbass" export K.json --to c > out && has "// " && has "K inside its terms is"
awk 'BEGIN { print "t,f"; for (i = 0; i <= 40; i++) print i / 4 "," sin(i / 3) }' > drive.csv
"$kbass" simulate -e "x_t = -0.7*x + 1.2*f" --input-data drive.csv --start 1 --until 10 -n 41 --noise 1 -o driven.csv
paste -d, driven.csv <(cut -d, -f2 drive.csv) > both.csv
"$kbass" discover both.csv --input f --input-delay f=0.1 --terms "x, f" --quiet --threads 1 --json both.json > /dev/null
"$kbass" export both.json --to julia > out && has "@register_symbolic f_at(time)" && has "*f_at(t - 0.1)" && has "initial = [x => "
"$kbass" simulate -e "u_tt = u_xx" --domain t=0:1,x=0:1 --initial "sin(6.2831853*x)" --boundary periodic --grid 9x9 -o wave.csv
refused "weights are not constrained for fields over several space axes, or of second order in time" discover wave.csv --axes t,x --lhs u_tt --terms "u, u_xx" --constraint "u_tt: u_xx > 0"
"$kbass" simulate -e "x_tt = -9.81 - 0.02*x_t*abs(x_t)" --start 90,0 --until 4.5 -n 40 --noise 2 --seed 100 -o fall.csv
cut -d, -f1,2 fall.csv > fallen.csv
"$kbass" discover fallen.csv --lhs x_tt --terms "1, x, x_t, x_t^2, x_t^3, x_t*abs(x_t)" --quiet --threads 1 > out
has "alike: x_tt: x_t^2 and x_t*abs(x_t) are one on this record"
[ $failures = 0 ]

#!/bin/bash
# What reading tells and remembers: misreadings, results that are read again as they were, standard input and output.
. "$(dirname "$0")/outside.sh"

# says "words" arguments...: they stand in what the command prints
says() {
    local words=$1
    shift
    timeout 60 "$kbass" "$@" > out 2>&1
    grep -qF -- "$words" out || complain "kbass $*: expected \"$words\", found: $(cat out)"
}

# ---------------------------------------------------------------- misreadings
awk 'BEGIN { print "t,x,u"; for (i = 0; i < 5; i++) for (j = 0; j < 6; j++) print i "," j "," i + j * j }' > grid.csv
says 'kbass discover grid.csv --axes t,x' discover grid.csv
awk 'BEGIN { print "t_1,x_1,t_2,x_2"; for (i = 0; i < 9; i++) print i "," exp(-i) "," i + .5 "," 2 * exp(-i) }' > side.csv
says '"t_2" beside "t_1" is the time of another experiment' discover side.csv
says 't from 0.5 to 8.5' data side.csv --time t_2 --use x_2 --rename 't_2=t, x_2=x'
awk 'BEGIN { print "t,x1,x2"; for (i = 0; i < 9; i++) print i "," exp(-i / 3) "," 2 * exp(-i / 3) }' > alike.csv
says 'warning: x1 to x2 run alike' data alike.csv
awk 'BEGIN { print "t,k,x"; for (i = 0; i < 9; i++) print i / 2 "," i "," exp(-i / 3) }' > count.csv
says 'warning: k counts the rows; if it is no measurement: --ignore k' data count.csv
awk 'BEGIN { print "t,x"; for (i = 0; i < 25; i++) print i / 5 "," cos(i / 5) }' > turn.csv
says 'warning: x rises and falls through the same values' data turn.csv
awk 'BEGIN { print "t,x"; for (i = 0; i < 40; i++) print i / 5 "," 1 - exp(-i / 10) + .02 * sin(37 * i * i) }' > rise.csv
"$kbass" data rise.csv | grep warning && complain "a state that rises in noise is said to turn"
says 'found that of x twice' discover turn.csv --noise 'x=1, x=2'
: > empty.txt
says 'empty.txt: found nothing' discover grid.csv --axes t,x --mesh-file empty.txt
printf 't,x\n0,\033[31mred\n1,2\n2,3\n' > red.csv
says '"?[31mred" is not a number' data red.csv
printf 't,x,+/-\n0,1,0.1\n1,2,0.2\n2,4,0.1\n3,7,0.3\n' > bars.csv
says '--sigma "x=column3"' discover bars.csv
printf 'date,time,x\n2023-05-01,0800,1\n2023-05-01,2000,2\n2023-05-02,0800,3\n2023-05-02,2000,5\n' > hours.csv
says 'if its numbers are times of day, write them as 08:00' data hours.csv
printf 'YYMMDD,HHMM,x\n230501,0800,1\n230501,2000,2\n230502,0800,3\n230502,2000,5\n' > sixes.csv
says '"HHMM" has times of day by its name' data sixes.csv
printf 'date,x\n010101,1\n020202,2\n030303,4\n' > unclear.csv
says 'dates such as "010101" do not tell their order' data unclear.csv
says 'date is days since 2001-01-01' data unclear.csv --dates dmy
awk 'BEGIN { print "t,x"; for (k = 0; k < 3; k++) for (i = 0; i < 6; i++) print i + k / 4 "," k + exp(-i) }' > below.csv
says 'time begins anew after 6 rows' discover below.csv
(head -1 below.csv; tail -n +2 below.csv | sort -n) > sorted.csv
says '18 rows' data sorted.csv
printf 't,x\n5,1\n6,2\n7,3\n8,5\n1,7\n2,8\n3,9\n4,9\n' > appended.csv # in another order, nothing twice
says 't from 1 to 8' data appended.csv
awk 'BEGIN { print "Year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec"
    for (i = 1980; i < 1990; i++) { printf "%d", i; for (k = 0; k < 12; k++) printf ",%g", sin(i * k); print "" } }' > months.csv
says 'the columns Jan to Dec are months' discover months.csv
printf 't,lat,x\n0,54.1,1\n1,54.1,2\n2,54.1,4\n3,54.1,7\n' > still.csv
says '--ignore lat' discover still.csv
printf 't,x\n0,1\n1,2\n2,4\n\nt,y\n0,3\n1,5\n' > tables.csv
says 'another table begins here' data tables.csv
printf 't,x\n0,1.5×10³\n1,2.5×10³\n2,3.5×10³\n' > powers.csv
says 'is not a number' data powers.csv
printf 'Year,DOY,HHMM,x\n2021,100,0,1\n2021,100,1200,2\n2021,101,0,4\n' > parts.csv
says '"HHMM" has times of day by its name' data parts.csv
printf 'min,sec,x\n0,0,1\n0,30,2\n1,0,4\n1,30,3\n' > clock.csv
says '"min" and "sec" are one time together' discover clock.csv
printf 'depth (m),T,S\n0,5,1\n1,7,2\n2,6,4\n3,4,3\n' > profile.csv
says '"T" does not rise: --time T' data profile.csv
says 'T from 4 to 7' data profile.csv --time T
awk 'BEGIN { print "time,sensor,reading"; for (i = 0; i < 9; i++) print i ",1," exp(-i) "\n" i ",2," exp(-2 * i) }' > sensors.csv
says '--run sensor' discover sensors.csv
printf 't,mass_mean,mass_SE\n0,1,0.1\n1,2,0.2\n2,4,0.1\n3,7,0.3\n' > means.csv
says '--sigma "mass_mean=mass_SE"' discover means.csv
printf 't,x\n0,1\n1,2 b\n2,4\n3,7\n' > flagged.csv
says '"2 b" is not a number' data flagged.csv
printf 't,x,y\n0,1/12,1\n1,2/12,2\n2,3/12,4\n' > fractions.csv
says 'left out: "x", which has text such as "1/12"' data fractions.csv

# ---------------------------------------------------------------- a result is read again as it was
awk 'BEGIN { print "No.;Tag;Beute [1/km2];Jäger;Notiz"; x = 20; y = 5
    for (i = 0; i < 16; i++) {
        printf "%d;%02d.03.2021;%.5g;%.5g;ok\n", i, i + 1, x, y
        for (k = 0; k < 1000; k++) { d = .001 * (.5 * x - .05 * x * y); y += .001 * (-.5 * y + .05 * x * y); x += d }
    } }' > hunt.csv
"$kbass" discover hunt.csv --rename 'Jäger=y' --terms 'Beute, y, Beute*y' --json hunt.json --quiet > out 2>&1 ||
    complain "discover hunt.csv: $(cat out)"
grep -qF 'Beute is "Beute [1/km2]"' out && grep -qF 'Tag is days since 2021-03-01' out || complain "hunt.csv: $(cat out)"
grep -qF '"Beute": "Beute [1/km2]"' hunt.json && grep -qF '"time_origin": "2021-03-01"' hunt.json ||
    complain "hunt.json lacks faces or the origin of time"
says 'draws of the equations' forecast hunt.json --data hunt.csv --until 20 --draws 5 -o ahead.csv

# ---------------------------------------------------------------- standard input and output
"$kbass" discover - --terms 'x1, x2' --quiet --json - < alike.csv > result.json 2> err
head -c 1 result.json | grep -q '{' || complain "--json - does not begin with the result: $(head -2 result.json)"
grep -q 'candidate terms' err || complain "--json -: the report is not on standard error"

finish

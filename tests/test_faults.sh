#!/bin/bash
# Nothing is lost: every option that writes a file, against a full disk, a folder that cannot be written, a directory,
# its own inputs and the other outputs of its call; signals at random moments (KILLS of them, 30 unless told).
. "$(dirname "$0")/outside.sh"
chmod 755 .

# kbass may be where another user cannot read it, and finds nobody's PATH without gnuplot there.
has_gnuplot=$(command -v gnuplot)

# ---------------------------------------------------------------- the calls: @ is the file, the first word its ending
"$kbass" simulate -e "x_t = y" -e "y_t = -x" --start 1,0 --until 5 -n 25 -o d.csv || exit 1
"$kbass" discover d.csv --degree 1 -q --json r.json > /dev/null || exit 1
"$kbass" bench calibration --seeds 1 --time-limit 0.01 -q --json b.json > /dev/null 2>&1
"$kbass" simulate -e "x_t = y" -e "y_t = -x" --start 1,0 --until 9 -n 45 -o later.csv || exit 1
printf '5.5\n6\n7\n' > times.txt
printf 't,f\n0,0\n1,1\n2,0\n' > inputs.csv
echo x > terms.txt
calls=(
    "json discover d.csv --degree 1 -q --json @"
    "csv discover d.csv --degree 1 -q --solution @"
    "npz discover d.csv --degree 1 -q --residuals @"
    "json discover d.csv --degree 1 -q --law-residuals @"
    "html discover d.csv --terms-file terms.txt -q --report @"
    "kept discover d.csv --degree 1 -q --checkpoint @"
    "csv discover d.csv --degree 1 -q --method paper --paper-steps 20 --paper-trace @"
    "csv simulate vdp -n 5 -o @"
    "csv simulate r.json --times times.txt -o @"
    "csv simulate -e x_t=f-x --input-data inputs.csv --start 1 --until 2 -n 5 -o @"
    "csv simulate heat --grid 4x4 -o @"
    "npy simulate heat --grid 4x4 -o @"
    "npz simulate heat --grid 4x4 -o @"
    "h5 simulate heat --grid 4x4 -o @"
    "csv forecast r.json --until 6 --draws 3 --data d.csv -o @"
    "npz forecast r.json --times times.txt --draws 3 -o @"
    "json forecast r.json --until 6 --draws 3 -o /dev/null --save-draws @"
    "h5 forecast r.json --until 6 --draws 3 -o @"
    "csv score r.json later.csv -o @"
    "json score r.json later.csv --json @"
    "csv next r.json -n 5 -o @"
    "c export r.json --to c -o @"
    "csv export r.json --to csv -o @"
    "html report r.json --data d.csv -o @"
    "csv data d.csv -o @"
    "csv data hare-lynx -o @"
    "json doctor d.csv --json @"
    "json bench calibration --seeds 1 --time-limit 0.01 -q --json @"
    "csv bench calibration --seeds 1 --time-limit 0.01 -q --csv @"
    "kept bench calibration --seeds 1 --time-limit 0.01 -q --checkpoint @"
)
[ "$has_gnuplot" ] && calls+=(
    "svg forecast r.json --until 6 --draws 3 -o /dev/null --figure @"
    "svg score r.json later.csv --figure @"
    "png next r.json -n 5 --figure @"
    "pdf plot r.json solution -o @"
    "svg doctor d.csv --figure @"
    "svg bench calibration --seeds 1 --time-limit 0.01 -q --figure @"
    "md bench results b.json -o @"
)
[ "$has_gnuplot" ] || skip "figures: gnuplot is not here"

# Every option of every command that takes a file, by the command's own tables: it is read, or tried here.
reads="terms-file mesh-file input-data data"
writes() { # of a command, its options that name a file to write
    "$kbass" "$1" --help-all | grep -oE -- '^ +(-[a-z], )?--[a-z-]+ (FILE|PATH)' | grep -oE -- '--[a-z-]+' | while read -r option; do
        [[ " $reads " == *" ${option#--} "* ]] && continue
        [ "$1" = doctor ] && [[ $option =~ checkpoint|paper ]] && continue # takes discover's options, fits nothing
        echo "$option"
    done
}
commands=$("$kbass" help | sed -n 's/^  kbass \([a-z]*\)  .*/\1/p' | grep -vx help)
[ "$(wc -w <<< "$commands")" -ge 12 ] || complain "commands: $commands"
for command in $commands; do
    for option in $(writes "$command"); do
        [ "$option" = --output ] && option='(--output|-o)'
        printf '%s\n' "${calls[@]}" | grep -qE -- " $command .*$option @" || [ ! "$has_gnuplot" ] ||
            complain "kbass $command $option is not tried here"
    done
done

# run call file [prefix...]: what kbass says goes to $said, its exit code to $code
run() {
    local call=$1 file=$2 words
    shift 2
    read -ra words <<< "${call#* }"
    said=$("$@" timeout 100 "$kbass" "${words[@]//@/$file}" 2>&1)
    code=$?
}

# fails call file "part of the message" [prefix...]: as refuses, with any exit code but 0
fails() {
    local call=$1 file=$2 message=$3
    shift 3
    run "$call" "$file" "$@"
    [ $code -ne 0 ] && [ $code -lt 124 ] || [ "${call#* doctor}" != "$call" ] || complain "$call, $file: exit code $code: $said"
    grep -qF -- "$message" <<< "$said" || complain "$call, $file: expected \"$message\", found: $said"
}
refuses() {
    fails "$@"
    [ $code -eq 2 ] || complain "$1, $2: exit code $code, expected 2: $said"
}

# ---------------------------------------------------------------- a disk that is full
mkdir full
for call in "${calls[@]}"; do
    file=full/f.${call%% *}
    ln -sf /dev/full "$file"
    case $call in
    *"bench calibration"*--json* | kept*) continue ;; # keeps rows or work: /dev/full exists, and it says so
    "npy simulate"* | "npz simulate"* | h5*) fails "$call" "$file" "$file: arrays need a file that can be sought in" ;;
    *) fails "$call" "$file" "$file: cannot be written: No space left on device" ;;
    esac
    [ -L "$file" ] || complain "$call: the link is gone"
done

# Files may grow no further (SIGXFSZ ignored: writing fails): what is there stays, and nothing beside it.
mkdir tight
for call in "${calls[@]}"; do
    file=tight/f.${call%% *}
    case $call in *"bench calibration"*--json* | kept*) continue ;; esac # they do not write over a file
    echo old > "$file"
    fails "$call" "$file" "kbass: " bash -c 'trap "" XFSZ; ulimit -f 0; exec "$@"' bash
    [ "$(cat "$file")" = old ] || complain "$call: the old file was lost"
    rm -f "$file"
    [ "$(ls -A tight)" ] && complain "$call: left $(ls -A tight)" && rm -rf tight/* tight/.k*
done

# ---------------------------------------------------------------- places that cannot be written
mkdir locked nowhere
other=()
if [ "$(id -u)" -eq 0 ]; then
    cp "$kbass" ./kbass.copy
    other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${other[@]}" ./kbass.copy version > /dev/null || complain "kbass as another user: $("${other[@]}" ./kbass.copy version 2>&1)"
fi
chmod 555 locked
for call in "${calls[@]}"; do
    ending=${call%% *}
    refuses "$call" "locked/new.$ending" "locked/new.$ending: cannot be written: Permission denied" "${other[@]}"
    refuses "$call" "nowhere/at/all.$ending" "cannot be written: No such file or directory"
    mkdir -p "folder.$ending"
    refuses "$call" "folder.$ending" "folder.$ending: cannot be written: Is a directory"
done
chmod 755 locked
echo old > locked/old.csv
chmod 666 locked/old.csv
chmod 555 locked
refuses "csv simulate vdp -n 5 -o @" locked/old.csv "locked/old.csv: cannot be replaced: its folder does not let it" "${other[@]}"
[ "$(cat locked/old.csv)" = old ] || complain "locked/old.csv was lost"
echo old > protected.csv
chmod 444 protected.csv
refuses "csv simulate vdp -n 5 -o @" protected.csv "protected.csv: cannot be written: Permission denied" "${other[@]}"
if [ "$(id -u)" -eq 0 ]; then
    chmod 1777 . # /tmp
    echo old > sticky.csv
    chmod 666 sticky.csv
    refuses "csv simulate vdp -n 5 -o @" sticky.csv "sticky.csv: cannot be replaced" "${other[@]}"
    chmod 755 .
fi

# ---------------------------------------------------------------- its own inputs, and the other outputs
sha256sum d.csv later.csv r.json b.json times.txt terms.txt inputs.csv > before
for call in "${calls[@]}"; do
    for input in d.csv later.csv r.json b.json times.txt terms.txt inputs.csv; do
        [[ " $call " == *" $input "* ]] || continue
        ln -sf "$input" "same.${call%% *}"
        refuses "$call" "same.${call%% *}" "cannot write over"
        ln -f "$input" "twin.${call%% *}"
        refuses "$call" "./twin.${call%% *}" "cannot write over"
        rm "twin.${call%% *}" "same.${call%% *}"
    done
done
refuses "csv discover - --degree 1 -q --json @" same.json "cannot write over" bash -c 'ln -sf d.csv same.json; exec "$@" < d.csv' bash
sha256sum --quiet -c before || complain "an input was changed"

# Every two of a command's outputs, under two names of one file.
starts=("discover d.csv -q" "forecast r.json --until 6" "score r.json later.csv" "next r.json" "doctor d.csv" "bench paper")
for start in "${starts[@]}"; do
    read -ra options <<< "$(writes "${start%% *}" | tr '\n' ' ')"
    for ((i = 0; i < ${#options[@]}; i++)); do
        for ((k = i + 1; k < ${#options[@]}; k++)); do
            pair="$start ${options[i]} a.svg ${options[k]} ../$(basename "$PWD")/a.svg"
            [[ $pair == "bench "*--output* ]] && continue # of results alone, which has no other
            refuses "x $pair" "" "are one file"
            compgen -G 'a.*' > /dev/null && complain "$pair: wrote something" && rm -f a.*
        done
    done
done
"$kbass" discover d.csv --degree 1 -q --json out.txt > out.txt 2> err
[ $? -eq 2 ] && grep -q 'standard output goes there too' err || complain "standard output and --json in one file: $(cat err)"

# ---------------------------------------------------------------- links, modes, owners, devices
echo old > target.csv
ln -s target.csv link.csv
ln -s fresh.csv dangling.csv
chmod 640 target.csv
[ "$(id -u)" -eq 0 ] && chown 65534:65534 target.csv
owner=$(stat -c %u:%g target.csv)
(umask 027; "$kbass" simulate vdp -n 5 -o link.csv; "$kbass" simulate vdp -n 5 -o dangling.csv)
[ -L link.csv ] && [ "$(wc -l < target.csv)" -eq 6 ] || complain "a link was replaced, or not followed"
[ "$(stat -c %a:%u:%g target.csv)" = "640:$owner" ] || complain "mode or owner changed: $(stat -c %a:%u:%g target.csv)"
[ -L dangling.csv ] && [ "$(wc -l < fresh.csv)" -eq 6 ] || complain "a link to a new file was not followed"
[ "$(stat -c %a fresh.csv)" = 640 ] || complain "a new file ignores the umask: $(stat -c %a fresh.csv)"
echo first > appended.txt
"$kbass" simulate vdp -n 5 -o /dev/stdout >> appended.txt
[ "$(head -1 appended.txt)" = first ] && [ "$(wc -l < appended.txt)" -eq 7 ] || complain "/dev/stdout is not appended to"
[ "$("$kbass" simulate vdp -n 5 -o - | wc -l)" -eq 6 ] || complain "-o - is not standard output"
mkfifo pipe
cat pipe > piped.txt &
"$kbass" simulate vdp -n 5 -o pipe
wait $!
[ -p pipe ] && [ "$(wc -l < piped.txt)" -eq 6 ] || complain "a pipe was replaced, or not written"
"$kbass" discover d.csv --degree 1 -q --json /dev/null --solution /dev/null > /dev/null || complain "/dev/null twice"
[ -c /dev/null ] || complain "/dev/null was replaced"
"$kbass" discover d.csv --degree 1 -q --json seen.json | head -1 > /dev/null
[ -s seen.json ] || complain "a reader who left took the result with him"
[ "$("$kbass" doctor d.csv 2>&1 > /dev/full | wc -l)" -eq 1 ] || complain "doctor > /dev/full: more than one message"

# ---------------------------------------------------------------- answers stay; signals end with one
"$kbass" discover d.csv --degree 1 -q --json kept.json --report kept.html > /dev/null
sha256sum kept.* > before
"$kbass" simulate -e x_t=-x -e y_t=z -e z_t=-y --start 1,1,0 -n 150 --until 60 --noise 5 -o long.csv # set up within the second that is granted
"$kbass" discover long.csv -q --degree 4 --time-limit 0.0001 --json kept.json --report kept.html > out 2> err
[ $? -eq 1 ] && [ "$(grep -c 'holds an answer' err)" -eq 2 ] || complain "no answer over an answer: $(cat err)"
sha256sum --quiet -c before || complain "an answer was replaced by none"

"$kbass" simulate lorenz63 -n 300 --until 15 --noise 5 -o chaos.csv # fitted for seconds after the first model
stops() {
    local pid code
    rm -f stopped.json
    : > err
    "$kbass" discover chaos.csv --degree 5 --json stopped.json > out 2> err &
    pid=$!
    until grep -q '^kbass: .* evidence' err || ! kill -0 $pid; do sleep 0.05; done
    kill "-$1" $pid
    [ "$1" = INT ] || kill "-$1" $pid # a second one does not end it
    wait $pid
    code=$?
    [ $code -eq "$2" ] || complain "SIG$1: exit code $code, expected $2: $(tail -3 err)"
    grep -q '"outcome": "cancelled"' stopped.json && ! grep -q '"equations": \[\]' stopped.json || complain "SIG$1: no answer"
}
stops TERM 143
stops HUP 129

# ---------------------------------------------------------------- two benchmarks on one file
"$kbass" bench paper --case vdp-10 -q --json shared.json > /dev/null 2>&1 &
pid=$!
until [ -e shared.json.lock ]; do sleep 0.05; done
"$kbass" bench paper --case vdp-10 -q --resume --json shared.json > out 2> err
[ $? -eq 2 ] && grep -q "process $pid" err || complain "two benchmarks on one file: $(cat err)"
kill -TERM $pid
wait $pid
[ $? -eq 143 ] || complain "bench and SIGTERM: exit code $?"
[ -e shared.json.lock ] && complain "the lock stayed"

# ---------------------------------------------------------------- kills at random moments
RANDOM=${SEED:-1}
"$kbass" discover d.csv --degree 1 -q --json k.json --solution k.csv --report k.html > /dev/null
"$kbass" forecast r.json --until 6 --draws 20 -o f.csv --save-draws f.json > /dev/null
"$kbass" report r.json -o p.html > /dev/null
"$kbass" bench calibration --seeds 6 --time-limit 0.05 -q --json kb.json > /dev/null 2>&1
whole() {
    case $1 in
    *.json) [ "$(head -c 1 "$1")" = '{' ] && [ "$(tail -c 3 "$1" | tr -d ' \n')" = '}' ] ||
        [ "$(tail -c 2 "$1" | tr -d '\n')" = '}' ] ;;
    *.html) tail -1 "$1" | grep -q '</html>' ;;
    *.csv) [ "$(wc -l < "$1")" -eq "$(cat "$1.lines")" ] ;;
    esac
}
for file in k.csv f.csv; do wc -l < $file > $file.lines; done
killed=(
    "discover d.csv --degree 1 -q --json k.json --solution k.csv --report k.html"
    "forecast r.json --until 6 --draws 20 -o f.csv --save-draws f.json"
    "report r.json -o p.html"
    "bench calibration --seeds 9 --time-limit 0.05 -q --resume --json kb.json"
)
n_killed=0
lasts=() # ms of each, whole
for call in "${killed[@]}"; do
    read -ra words <<< "$call"
    began=$(date +%s%N)
    cp kb.json kb.before
    "$kbass" "${words[@]}" > /dev/null 2>&1
    mv kb.before kb.json
    lasts+=($((($(date +%s%N) - began) / 1000000 + 1)))
done
for ((i = 0; i < ${KILLS:-30}; i++)); do
    read -ra words <<< "${killed[i % 4]}"
    cp kb.json kb.before
    signal=$((RANDOM % 2)) && [ $signal -eq 0 ] && signal=TERM || signal=KILL
    "$kbass" "${words[@]}" > /dev/null 2>&1 &
    pid=$!
    ms=$((RANDOM % lasts[i % 4]))
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    kill -$signal $pid 2> /dev/null && n_killed=$((n_killed + 1))
    wait $pid 2> /dev/null
    for file in k.json k.csv k.html f.csv f.json p.html kb.json; do
        whole $file || complain "SIG$signal, ${killed[i % 4]}: $file is broken"
    done
    mv kb.before kb.json
done
echo "$n_killed of ${KILLS:-30} kills came before the end; $(find . -name '.kbass-*' | wc -l) nameless files got a name and stayed"

finish

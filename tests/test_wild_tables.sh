#!/bin/sh
# Tables as people have them: each file of tests/data/wild is read as its list says, and docs/data.md has them all.
kbass=$1
folder=$(cd "$(dirname "$0")/data/wild" && pwd)
document=$folder/../../../docs/data.md
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
tab=$(printf '\t')

complain() {
    echo "FAILED: $*"
    bad=1
}

while IFS= read -r line; do
    name=${line%%"$tab"*}
    rest=${line#*"$tab"}
    options=${rest%%"$tab"*}
    oddity=${rest#*"$tab"}
    inside=
    case $options in :*) inside=$options options= ;; esac
    # shellcheck disable=SC2086
    "$kbass" data "$folder/$name$inside" $options -o "$work/read.csv" > "$work/out" 2>&1 ||
        complain "$name: $(cat "$work/out")"
    cmp -s "$work/read.csv" "$folder/read/$name.csv" ||
        complain "$name: $(diff "$work/read.csv" "$folder/read/$name.csv")"
    rm -f "$work/read.csv"
    # What has to be said is named by the message, or by a warning.
    if [ -n "$options$inside" ]; then
        "$kbass" discover "$folder/$name" --time-limit 1 --quiet > "$work/out" 2>&1
        case $inside in :*) inside="as in file" ;; esac
        grep -q -e "${inside:-${options%% *}}" "$work/out" || complain "$name: nothing names $options: $(cat "$work/out")"
    fi
    grep -q -F "| \`$name\` | $oddity |" "$document" || complain "docs/data.md does not have $name: $oddity"
done < "$folder/cases.txt"

for file in "$folder"/*.csv "$folder"/*.txt; do
    [ "${file##*/}" = cases.txt ] && continue
    grep -q "^${file##*/}$tab" "$folder/cases.txt" || complain "${file##*/} is not in cases.txt"
done
exit $bad

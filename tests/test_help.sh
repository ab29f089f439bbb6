#!/bin/bash
# Help begins with an example and fits a screen; the examples of all commands work, one after the other.
. "$(dirname "$0")/outside.sh"
mkdir .bin && ln -s "$kbass" .bin/kbass
PATH=$folder/.bin:$PATH

fits() { # most_lines command...
    local most=$1 shape
    shift
    shape=$("$@" | awk '{ if (length > wide) wide = length } END { print NR, wide }')
    [ "${shape% *}" -le "$most" ] && [ "${shape#* }" -le 80 ] || complain "$*: $shape lines and columns"
}

try() { # an example; the doctor's warnings are no failure
    local code
    if grep -qE -e '--figure|^kbass plot ' <<< "$1" && ! command -v gnuplot > /dev/null; then
        skip "no gnuplot: $1"
        return
    fi
    bash -c "$1" > out 2> err < /dev/null
    code=$?
    [ $code -eq 0 ] || [[ $1 == "kbass doctor"* && $code -eq 1 ]] || complain "$1: exit code $code: $(cat err)"
}

fits 24 kbass help
for command in $(kbass help --markdown | sed -n 's/^## kbass //p'); do
    fits 48 kbass help "$command"
    fits 260 kbass "$command" --help-all
    kbass help "$command" | head -1 | grep -q '^Example:$' || complain "kbass help $command: no example first"
done
kbass help discover --all | grep -q -e --paper-steps || complain "kbass help discover --all: not all"

while read -r example; do try "$example"; done < <(kbass help --markdown | sed -n '/^For example:/,/^#\|^|/s/^    //p')

finish

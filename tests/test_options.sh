#!/bin/bash
# docs/options.md says what the command's tables say; completions are scripts their shells can read and know the options;
# the manual page is roff without warnings.
kbass=$1
skipped=0
"$kbass" help --markdown | diff -u docs/options.md - || { echo "docs/options.md is out of date: make docs"; exit 1; }
"$kbass" help --man | grep -q '^\.TH KBASS 1' || exit 1
"$kbass" completion bash | bash -n || exit 1
completes() { # "words before the cursor" expected
    found=$(bash -c 'source <("$0" completion bash); COMP_WORDS=($1 "$2"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kbass
        echo "${COMPREPLY[*]}"' "$kbass" "$1" "$2")
    [ "$found" = "$3" ] || { echo "completion of kbass $1 $2: $found, expected $3"; exit 1; }
}
completes kbass disc discover
completes "kbass discover data.csv" --noise-m --noise-model
completes "kbass discover --noise-model" "" "additive multiplicative log"
completes "kbass export result.json --to" l latex
completes "kbass simulate" vd vdp
completes "kbass help" exp export
"$kbass" completion zsh | grep -q '^#compdef kbass' || exit 1
if command -v zsh > /dev/null; then
    "$kbass" completion zsh | zsh -n || exit 1
else
    echo "skipped: no zsh to read its completions"
    skipped=77
fi
command -v groff > /dev/null || { echo "skipped: no groff to read the manual page"; exit 77; }
warnings=$("$kbass" help --man | groff -man -Tascii -ww 2>&1 > /dev/null)
[ -z "$warnings" ] || { echo "$warnings"; exit 1; }
exit $skipped

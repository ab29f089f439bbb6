#!/bin/sh
# docs/options.md says what the command's tables say; the manual page is roff without warnings.
kbass=$1
"$kbass" help --markdown | diff -u docs/options.md - || { echo "docs/options.md is out of date: make docs"; exit 1; }
"$kbass" help --man | grep -q '^\.TH KBASS 1' || exit 1
command -v groff > /dev/null || exit 0
warnings=$("$kbass" help --man | groff -man -Tascii -ww 2>&1 > /dev/null)
[ -z "$warnings" ] || { echo "$warnings"; exit 1; }

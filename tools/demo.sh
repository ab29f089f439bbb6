#!/bin/sh
# Discovers the van der Pol equations from ten samples with 20 % noise.
set -e
kbass=${1:-build/kbass}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$kbass" simulate vdp --start "x=1, y=0" --until 7.425 --samples 10 --noise 20 -o "$folder/vdp.csv"
"$kbass" simulate vdp --show > "$folder/truth.txt"

echo "Ten samples of the van der Pol oscillator, with 20 % noise (vdp.csv):"
echo
awk -F, '{ printf NR == 1 ? "  %8s %9s %9s\n" : "  %8.3f %9.4f %9.4f\n", $1, $2, $3 }' "$folder/vdp.csv"
echo
echo "$ kbass discover vdp.csv --box-degree 4"
"$kbass" discover "$folder/vdp.csv" --box-degree 4 > "$folder/report.txt"
cat "$folder/report.txt"
echo
awk 'BEGIN { printf "  %-48s %s\n", "found", "true" }
     FNR == NR { truth[++n] = $0; next }
     shown < n && /^ *[a-z]+_t = / { sub(/^ */, ""); sub(/=  /, "= "); printf "  %-48s %s\n", $0, truth[++shown] }
    ' "$folder/truth.txt" "$folder/report.txt"
echo
echo "Your own measurements: $kbass discover FILE.csv (options: $kbass help discover)"

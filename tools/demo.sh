#!/bin/sh
# Discovers the van der Pol equations from ten samples with 20 % noise.
set -e
kbass=${1:-build/kbass}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

echo "Ten samples of the van der Pol oscillator, with 20 % noise:"
echo
"$kbass" simulate vdp --start "x=1, y=0" --until 7.425 --samples 10 --noise 20 -o "$folder/vdp.csv"
awk -F, 'NR == 1 { printf "  %8s %9s %9s\n", $1, $2, $3 } NR > 1 { printf "  %8.3f %9.4f %9.4f\n", $1, $2, $3 }' "$folder/vdp.csv"
echo
"$kbass" simulate vdp --show > "$folder/truth.txt"
echo "kbass discover vdp.csv --box-degree 4"
echo
"$kbass" discover "$folder/vdp.csv" --box-degree 4 > "$folder/report.txt"
cat "$folder/report.txt"
echo
awk 'BEGIN { printf "  %-56s %s\n", "found", "true" }
     FNR == NR { truth[++n] = $0; next }
     shown < n && /^ *[a-z]+_t = / { sub(/^ */, ""); printf "  %-56s %s\n", $0, truth[++shown] }
    ' "$folder/truth.txt" "$folder/report.txt"

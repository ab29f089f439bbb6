# For tests of the command from outside: $kbass, an empty folder to be in, complaints that are counted.
kbass=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

complain() { echo "FAILED: $*"; failures=$((failures + 1)); }

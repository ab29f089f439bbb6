# For tests of the command from outside: $kbass, an empty folder to be in, complaints that are counted.
kbass=$(realpath "$1")
root=$(realpath "$(dirname "$0")/..")
folder=$(mktemp -d)
trap '[ $BASHPID != $$ ] || rm -rf "$folder"' EXIT # a child that is killed before it is another program has this trap, too
cd "$folder" || exit 1
failures=0
skipped=0

complain() { echo "FAILED: $*"; failures=$((failures + 1)); }

# skip WHY: a part is not tested here; the test counts as skipped unless something else fails
skip() { echo "skipped: $*"; skipped=1; }

finish() {
    [ $failures -eq 0 ] || exit 1
    [ "$skipped" -eq 0 ] || exit 77
    echo "all is well"
    exit 0
}

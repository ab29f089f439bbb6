#!/bin/sh
# test_helper.sh kbass kbass-hdf5: the program that reads HDF5 files is found wherever kbass may lie, and where it is
# missing, broken or of another version, that is what is said.
helper=$(realpath "$2")
. "$(dirname "$0")/outside.sh"
file=$root/tests/data/grid_chunks.h5
unset KBASS_LIBEXEC

mkdir -p bin beside lib/here libexec/kbass elsewhere
cp "$kbass" bin/kbass
reads() { "$@" data "$file" 2>&1 | grep -q "2 fields (u, v)"; }
says() { "$1" data "$file" 2>&1 | grep -q "$2" || complain "$3: $("$1" data "$file" 2>&1)"; }
make_helper() { # FOLDER COMMANDS
    mkdir -p "$1"
    printf '#!/bin/sh\n%s\n' "$2" > "$1/kbass-hdf5"
    chmod +x "$1/kbass-hdf5"
}

if ! reads bin/kbass; then # else one is installed here
    says bin/kbass "read and written by the program kbass-hdf5, which is neither beside the library" "no helper"
    make_helper elsewhere "exit 1"
    export KBASS_LIBEXEC="$folder/elsewhere"
    says bin/kbass "does not start: is the HDF5 library there" "a helper that ends"
    make_helper elsewhere 'printf "12345678" >&0; sleep 1'
    says bin/kbass "is of another version of kbass" "another version"
    make_helper elsewhere "printf '\\005\\000\\000\\146\\144\\150\\142\\153' >&0; kill -9 \$\$"
    says bin/kbass "the HDF5 library cannot read it" "a helper that dies"
    export KBASS_LIBEXEC="$(dirname "$helper")"
    reads bin/kbass || complain "\$KBASS_LIBEXEC"
    unset KBASS_LIBEXEC
    cp "$helper" libexec/kbass/
    reads bin/kbass || complain "../libexec/kbass"
    mv bin/kbass lib/here/
    reads lib/here/kbass || complain "../../libexec/kbass"
    mv lib/here/kbass beside/
fi
[ -f beside/kbass ] || cp "$kbass" beside/
cp "$helper" beside/
reads beside/kbass || complain "beside it"
(PATH="$folder/beside:$PATH" && reads kbass) || complain "beside it, by way of PATH"
(cd beside && reads ./kbass) || complain "beside it, by a relative path"
cat "$file" | beside/kbass data /dev/stdin 2>&1 | grep -q "2 fields (u, v)" || complain "a file that is a pipe"
beside/kbass data /dev/stdin < "$file" 2>&1 | grep -q "2 fields (u, v)" || complain "a file that is standard input"
beside/kbass data "$file" <&- > closed.txt 2>&1
grep -q "2 fields (u, v)" closed.txt || complain "without standard input: $(cat closed.txt)"

[ "$failures" -eq 0 ]

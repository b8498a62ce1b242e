#!/usr/bin/env bash
# Compares the ABI of the headers with the released ABI: check.sh [--update]
#
# The real library has no debug information about C types, so abidiff compares a witness library that is made from the
# headers (witness.py). The names of its functions are compared with those of the real library. A change that breaks
# programs needs a new SONAME. A change that only adds functions or members needs --update, which makes the present ABI
# the released one, and a line in CHANGELOG.md.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
released=$here/libmpin.abi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 "$here/witness.py" "$root/include/mpin.h" "$root/include/mpin_crypto.h" |
    gcc -E -P -DMPIN_NO_ATTRIBUTES -x c - >"$work/witness.c"

# describe SOURCE ABI: builds a witness library from the C file SOURCE and writes a description of it to the file ABI.
describe() {
    gcc -std=c99 -g -ffile-prefix-map="$work"/= -fPIC -shared -Wl,-soname,libmpin.so -o "$work/witness.so" "$1"
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs "$work/witness.so" >"$2"
}

functions() { nm -D --defined-only "$1" | awk '$2 == "T" { print $3 }' | sed 's/@.*//' | sort; }

describe "$work/witness.c" "$work/now.abi"
if [ "${1:-}" = --update ]; then
    cp "$work/now.abi" "$released"
    exit
fi
diff <(functions "$work/witness.so") <(functions "$root/build/libmpin.so")
abidiff "$released" "$work/now.abi"

# Changes the witness library in three ways, each of which breaks programs, and checks that the comparison reports it.
for change in 's/uint32_t timeout_ms/uint64_t timeout_ms/' 's/^mpin_status mpin_sdk_destroy(.*{.*//' \
    's/char \*out, size_t \*out_len/char *out, int *out_len/'; do
    sed "$change" "$work/witness.c" >"$work/changed.c"
    describe "$work/changed.c" "$work/changed.abi"
    ! abidiff "$released" "$work/changed.abi" >"$work/report"
    grep -q 'function' "$work/report"
done
echo "abi: 5 passed"

#!/bin/sh
# Checks that the library exports exactly the names that the headers declare, all of them under the version node MPIN_1.
# usage: check_exports.sh LIBRARY HEADER...
set -eu
export LC_ALL=C
[ $# -ge 2 ] || { echo "usage: $0 LIBRARY HEADER..." >&2; exit 2; }
library=$1
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The declarations as the compiler sees them: without comments and macros, one on each line.
for header in "$@"; do
    ${CC:-cc} -E -P -DMPIN_NO_ATTRIBUTES "$header"
done | tr '\n' ' ' | tr ';' '\n' | grep -v -e typedef -e '(\*' | sed -n 's/.*[ *]\(mpin_[a-z0-9_]*\) *(.*/\1/p' |
    sort -u >"$work/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort -u >"$work/versioned"
sed 's/@.*//' "$work/versioned" | sort -u >"$work/exported"

[ -s "$work/declared" ] || { echo "no declarations found in: $*" >&2; exit 1; }
status=0
comm -23 "$work/declared" "$work/exported" | sed 's/^/declared but not exported: /' >"$work/report"
comm -13 "$work/declared" "$work/exported" | sed 's/^/exported but not declared: /' >>"$work/report"
grep -v '@@MPIN_1$' "$work/versioned" | sed 's/^/not under MPIN_1: /' >>"$work/report" || true
if [ -s "$work/report" ]; then
    head -n 50 "$work/report" >&2
    status=1
fi
echo "exports: $(wc -l <"$work/declared") declared, $(wc -l <"$work/exported") exported"
exit $status

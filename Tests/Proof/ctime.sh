#!/usr/bin/env bash
# Runs the constant-time test. Every function that takes a secret must have 0 errors, and the control must fail.
#
# usage: ctime.sh PROGRAM HEADER
#
# A failure prints the stacks. With `--track-origins=yes` in VALGRIND_OPTS it also prints where each secret came from.
set -uo pipefail
cd "$(dirname "$0")"
program=$1
header=$2
passed=0
failed=0

check() { # name, 0 if good
    if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: $1"; fi
}

memcheck() { valgrind -q --vgdb=no --num-callers=20 --error-limit=no --error-exitcode=42 "$program" "$@"; }

# Functions that take no secret. ctime.c must call all others of the header.
public=" g1_size g2_size gt_size scalar_size hash_size hash_id map_to_g1 server_1 server_context_free kangaroo \
    key_size get_y encoding decoding "
declared=$(sed -n 's/.*\bmpin_crypto_\([a-z0-9_]*\)([^)].*/\1/p; s/.*\bmpin_crypto_\([a-z0-9_]*\)($/\1/p' "$header")
for name in $declared; do
    case "$public" in *" $name "*) continue ;; esac
    grep -q "\bmpin_crypto_$name(" ctime.c
    check "ctime.c does not call mpin_crypto_$name, which is not listed as public" $?
done

output=$(memcheck)
status=$?
sed 's/ cases: .*/ cases/' <<<"$output"
check "memcheck found errors (exit code $status)" "$status"
grep -q '^ctime: .* cases: 1 passed, 0 failed$' <<<"$output"
check "a result was wrong" $?

output=$(memcheck control 2>&1)
status=$?
[ "$status" -eq 42 ] && grep -q 'by 0x.*control' <<<"$output" && grep -q 'the branch of the library' <<<"$output"
check "the control, which leaks on purpose, was not caught (exit code $status)" $?

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

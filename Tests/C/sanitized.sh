#!/usr/bin/env bash
# Runs the programs with a sanitizer that also checks the library. The first one, control_test, makes an error inside
# the library. If the sanitizer does not stop it, the sanitizer does not watch the library.
# usage: sanitized.sh address|thread FOLDER PROGRAM... -- PROGRAM-THAT-NEEDS-A-SERVER...
set -uo pipefail
cd "$(dirname "$0")"
sanitizer=$1
folder=$2
shift 2
passed=0
failed=0
export ASAN_OPTIONS=halt_on_error=1 TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/tsan.supp"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

ok() { passed=$((passed + 1)) && echo "  $1"; }
bad() { failed=$((failed + 1)) && echo "FAILED: $1" && tail -n 60 "$log"; }

"$folder/control_test.$sanitizer" "$sanitizer" >"$log" 2>&1
status=$?
if [ "$status" -ne 0 ] && grep -qE 'AddressSanitizer: heap-use-after-free|ThreadSanitizer: data race' "$log" &&
    grep -qE '#0 .*MPinABI/' "$log"; then
    ok "control: caught inside the library"
else
    bad "control: not caught (exit code $status)"
fi

server=
for program in "$@"; do
    if [ "$program" = -- ]; then server=./with_server.sh && continue; fi
    if $server "$folder/$program.$sanitizer" >"$log" 2>&1 && grep -q ' 0 failed' "$log"; then
        ok "$(grep ' passed, 0 failed' "$log" | tail -n 1)"
    else
        bad "$program"
    fi
done
echo "$sanitizer: $passed programs passed, $failed failed"
[ "$failed" -eq 0 ]

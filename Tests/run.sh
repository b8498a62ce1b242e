#!/usr/bin/env bash
# Runs the named make targets one after the other, each to its end, and adds up what they counted.
# The last line is "N passed, N failed". Each output is kept in build/test-logs.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=build/test-logs
mkdir -p "$logs"
passed=0
failed=0


for target in "$@"; do
    started=$SECONDS
    make --no-print-directory "$target" >"$logs/$target.log" 2>&1
    status=$?
    # Tests of our own scripts and pytest say "N passed", XCTest says "Executed N tests" for each bundle and for all.
    good=$(awk '/^Executed [0-9]+ test|^\t Executed [0-9]+ test/ { xctest = $2; bad = $5 }
        /[0-9]+ passed/ { match($0, /[0-9]+ passed/); sum += substr($0, RSTART) + 0 }
        END { print sum + xctest - bad + 0 }' "$logs/$target.log")
    if [ "$status" -eq 0 ]; then
        [ "$good" -gt 0 ] || good=1
        passed=$((passed + good))
        printf '%-12s ok      %5d checks  %4d s\n' "$target" "$good" "$((SECONDS - started))"
    else
        failed=$((failed + 1))
        printf '%-12s FAILED  see %s; its last lines:\n' "$target" "$logs/$target.log"
        tail -n 60 "$logs/$target.log"
    fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

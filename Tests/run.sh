#!/usr/bin/env bash
# Runs the named make targets one after the other, each to its end, and adds up what they counted.
# The last line is "N passed, N failed". Each output is kept in build/test-logs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
logs=build/test-logs
mkdir -p "$logs"
passed=0
failed=0
failures=()

# Why a target failed, in at most 20 lines: what its tests say of it.
reasons() {
    grep -E 'error:|FAIL|not ok|Error [0-9]|ERROR|[Aa]ssert' "$logs/$1.log" | cut -c 1-300 | tail -n 20
}

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
        failures+=("$target")
        printf '%-12s FAILED  see %s; its last lines:\n' "$target" "$logs/$target.log"
        tail -n 60 "$logs/$target.log"
    fi
done

# Said again at the end, where whoever sees only the end looks.
for target in ${failures[@]+"${failures[@]}"}; do
    printf '\n%s FAILED:\n' "$target"
    reasons "$target"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Runs the named make targets one after the other, each to its end, and adds up what they counted (Tests/count.awk): the
# last line is "N passed, N failed", of tests, and the one before tells how much these looked at.
# Each output is kept in build/test-logs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
logs=build/test-logs
mkdir -p "$logs"
passed=0
failed=0
cases=0
faults=0
inputs=0
failures=()

# Why a target failed, in at most 20 lines: what its tests say of it.
reasons() {
    grep -E 'error:|FAIL|not ok|Error [0-9]|ERROR|[Aa]ssert' "$logs/$1.log" | cut -c 1-300 | tail -n 20
}

for target in "$@"; do
    started=$SECONDS
    make --no-print-directory "$target" >"$logs/$target.log" 2>&1
    status=$?
    read -r good more_cases more_faults more_inputs < <(awk -f Tests/count.awk "$logs/$target.log")
    cases=$((cases + more_cases)) faults=$((faults + more_faults)) inputs=$((inputs + more_inputs))
    if [ "$status" -eq 0 ]; then
        [ "$good" -gt 0 ] || good=1
        passed=$((passed + good))
        printf '%-12s ok      %5d tests  %4d s\n' "$target" "$good" "$((SECONDS - started))"
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
Tests/amounts.sh "$((passed + failed)) tests" "$cases cases" "$faults faults" "$inputs inputs"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

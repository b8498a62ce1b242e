#!/usr/bin/env bash
# Runs make targets, each to its end, and adds up their counts (Tests/count.awk). The last line is "N passed, N failed".
# The line before it says how many cases the tests checked, and how long installing, building and running took.
# usage: run.sh [LANES] TARGET... [-- [LANES] TARGET...]...: runs up to LANES targets at a time, or one by one. The targets
# after "--" begin when those before it have ended.
# The output of each target is in build/test-logs.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
logs=build/test-logs
mkdir -p "$logs"

# The option `-o FILE` for each file that the target `built` makes. `run` passes these options to make, which then builds
# none of these files again. Otherwise something could be compiled while another test runs.
made=()
while read -r file; do made+=(-o "$file"); done < <(make --no-print-directory made 2>/dev/null)

# step NAME TARGET: runs a target without which no test can run, and ends the script if it fails. Two commands run at a
# time, because the compiler of one module after the other does not keep two processors busy.
step() {
    local began=$SECONDS
    if ! make --no-print-directory --jobs=2 "$2" >"$logs/$2.log" 2>&1; then
        tail -n 60 "$logs/$2.log"
        printf '%s FAILED, see %s\n0 passed, 1 failed\n' "$2" "$logs/$2.log"
        exit 1
    fi
    eval "$1=$((SECONDS - began))"
}

# run TARGET: runs a target and writes its counts next to its log.
run() {
    local began=$SECONDS status good cases faults inputs word=ok
    make --no-print-directory "${made[@]}" "$1" >"$logs/$1.log" 2>&1
    status=$?
    read -r good cases faults inputs < <(awk -f Tests/count.awk "$logs/$1.log")
    [ "$good" -gt 0 ] || good=1
    [ "$status" -eq 0 ] || { word=FAILED && good=0; }
    echo "$status $good $cases $faults $inputs" >"$logs/$1.count"
    printf '%-12s %-6s %5d tests  %4d s\n' "$1" "$word" "$good" "$((SECONDS - began))"
}

# reasons TARGET: prints why a target failed, at most 20 lines of its output.
reasons() {
    grep -E 'error:|FAIL|not ok|Error [0-9]|ERROR|[Aa]ssert' "$logs/$1.log" | cut -c 1-300 | tail -n 20
}

step installing packages
step building built
began=$SECONDS
targets=() lanes=1
for word; do
    case $word in
        --) wait && lanes=1 ;;
        [1-9]) lanes=$word ;;
        *)
            while [ "$(jobs -rp | wc -l)" -ge "$lanes" ]; do wait -n; done
            run "$word" &
            targets+=("$word")
            ;;
    esac
done
wait

passed=0 failed=0 cases=0 faults=0 inputs=0
for target in ${targets[@]+"${targets[@]}"}; do
    read -r status good more_cases more_faults more_inputs <"$logs/$target.count"
    passed=$((passed + good))
    cases=$((cases + more_cases)) faults=$((faults + more_faults)) inputs=$((inputs + more_inputs))
    [ "$status" -eq 0 ] && continue
    failed=$((failed + 1))
    printf '\n%s FAILED, see %s:\n' "$target" "$logs/$target.log"
    tail -n 60 "$logs/$target.log"
    echo "In short:"
    reasons "$target"
done
echo "installing $installing s, building $building s, running $((SECONDS - began)) s"
Tests/amounts.sh "$((passed + failed)) tests" "$cases cases" "$faults faults" "$inputs inputs"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

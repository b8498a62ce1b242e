#!/usr/bin/env bash
# Tests that tests, and the cases in them, are counted correctly by Tests/count.awk and by Tests/run.sh, whose last line
# is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=Tests/ok.sh
. ./ok.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# same WHAT EXPECTED ACTUAL: checks that two texts are equal.
same() {
    if [ "$2" != "$3" ]; then
        echo "$1: expected $2, was $3" >&2
        exit 1
    fi
    ok "$1"
}

# count: reads a log and prints its counts. program STATEMENTS: writes a C program with these statements. compiled:
# compiles and runs that program.
count() { awk -f count.awk; }
program() { printf '#include "check.h"\nint main(void) { %s return report("t"); }\n' "$1" >"$work/t.c"; }
compiled() { gcc -I C -o "$work/t" "$work/t.c" && { "$work/t" 2>"$work/errors" || true; }; }

xctest=$'Test Suite A passed at now\n\t Executed 7 tests, with 1 failure (0 unexpected) in 0.1 (0.1) seconds
\t Executed 20 tests, with 1 failure (0 unexpected) in 0.2 (0.2) seconds'
same "XCTest: the tests of all bundles that passed, once" "19 0 0 0" "$(count <<<"$xctest")"
same "pytest" "68 0 0 0" "$(count <<<"====== 68 passed in 3.12s ======")"
same "a script" "3 0 0 0" "$(count <<<$'ok: one\nok: two\nok: three\n3 passed, 0 failed')"
same "a fuzzer" "2 0 0 345" "$(count <<<$'  a: 300 inputs, cov: 7\n  b: 45 inputs, cov: 8\nfuzz: 2 passed, 0 failed')"

program 'for (int i = 0; i < 5000; i++) CHECK(1, "never");'
same "a program of C is one test of many cases" "1 5000 0 0" "$(compiled | count)"
program 'faults = 12; CHECK(1, "never");'
same "faults are not cases" "1 1 12 0" "$(compiled | count)"
program 'CHECK(0, "here"); CHECK(1, "never");'
same "a program that found something has not passed" "0 0 0 0" "$(compiled | count)"

same "large amounts are short" "1,412 tests, 27.4 million cases" \
    "$(./amounts.sh "1412 tests" "27412345 cases" "0 faults" "0 inputs")"
same "small ones are whole" "999 tests, 1,000 cases, 12,345 faults, 1.0 million inputs" \
    "$(./amounts.sh "999 tests" "1000 cases" "12345 faults" "1000000 inputs")"

mkdir "$work/Tests"
cp run.sh count.awk amounts.sh "$work/Tests"
printf 'packages built made:\n\t@true\ngood:\n\t@echo "5000 cases: 1 passed, 0 failed"\nquiet:\n\t@true\nbad:\n\t@echo "2 passed, 1 failed"; false\n' \
    >"$work/Makefile"
same "run.sh ends in what passed and failed" $'2 tests, 5,000 cases\n2 passed, 0 failed' \
    "$("$work/Tests/run.sh" 2 good -- 2 quiet | tail -n 2)"
same "and a target that fails is a failure" "1 passed, 1 failed" "$({ "$work/Tests/run.sh" good bad || true; } | tail -n 1)"
same "what could not be built fails all" "0 passed, 1 failed" \
    "$({ printf 'packages:\nbuilt:\n\tfalse\n' >"$work/Makefile"; "$work/Tests/run.sh" good || true; } | tail -n 1)"
echo "count_test: $passed passed, 0 failed"

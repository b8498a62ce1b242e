# shellcheck shell=bash
# Test scripts source this file. It counts the checks that have passed; scripts print the count in their last line.
passed=0
ok() {
    passed=$((passed + 1))
    echo "ok: $1"
}

# shellcheck shell=bash
# To be sourced: what a test script has found right, counted for its last line.
passed=0
ok() {
    passed=$((passed + 1))
    echo "ok: $1"
}

# shellcheck shell=bash
# Test scripts source this file. It counts their successful checks for their last line.
passed=0
ok() {
    passed=$((passed + 1))
    echo "ok: $1"
}

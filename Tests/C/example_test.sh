#!/usr/bin/env bash
# Tests every command of the C example with a real server.
# usage: example_test.sh URL
set -euo pipefail
cd "$(dirname "$0")"
url=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0

# expect TEXT COMMAND...: runs a command of the example, which reads PINs from standard input, and checks that the last
# line that it prints is TEXT.
expect() {
    local says=$1 said
    shift
    said=$(../../build/mpin-example --backend "$url" --store "$work/store" "$@" 2>"$work/errors" || true)
    if [[ "$said" != $says ]]; then
        echo "example: $*: printed $said, not $says"
        cat "$work/errors"
        exit 1
    fi
    passed=$((passed + 1))
    echo "ok: $*"
}

# browser KIND COMMAND: starts a browser that shows what browser.sh shows for KIND, and checks that the example logs it
# in with COMMAND.
browser() {
    ./browser.sh "$url" "$1" >"$work/code" &
    local browser=$!
    until [ -s "$work/code" ]; do sleep 0.1; done
    expect OK "$2" alice "$(head -n 1 "$work/code")" <<<1234
    wait "$browser"
    rm "$work/code"
}

expect OK register alice <<<1234
expect OK login alice <<<1234
expect INCORRECT_PIN login alice <<<4321
browser getAccessNumber login-number
browser getQrUrl login-qr
grep -q "^login at .*, $url as alice$" "$work/errors"
expect NETWORK_ERROR login-qr alice 'http://127.0.0.1:1/#0123' <<<$'n\n1234'
grep -q 'the QR code is of another host' "$work/errors"
expect INCORRECT_ACCESS_NUMBER login-number alice 1234567 <<<1234
expect $'[0-9]*, for [0-9]* seconds\nOK' otp alice <<<1234
expect OK change-pin alice <<<$'1234\n98765'
expect INCORRECT_PIN login alice <<<1234
expect OK login alice <<<98765
expect $'alice REGISTERED\nOK' list
expect OK delete alice
expect OK list
expect FLOW_ERROR login alice <<<98765
echo "example: $passed passed, 0 failed"

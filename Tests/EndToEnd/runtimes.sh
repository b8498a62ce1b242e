#!/usr/bin/env bash
# Tests the examples in Java and in Ruby with a real server: the link in the mail, a wrong PIN, a terminal that does not
# show the PIN, and the last attempt before the block.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

# shellcheck source=Tests/ok.sh
. "$root/Tests/ok.sh"

# expect CODE TEXT PIN COMMAND...: runs the example with this PIN, and compares its exit code and its last line.
expect() {
    local code=$1 said=$2 pin=$3 status=0
    shift 3
    printf '%s' "$pin" | "${example[@]}" "$@" >"$work/said" 2>"$work/heard" || status=$?
    [ "$status $(tail -n 1 "$work/said")" = "$code $said" ] ||
        { echo "${example[*]} $*: $status, expected $code $said" && cat "$work/said" "$work/heard"; exit 1; }
}

# heard PATTERN: the example must have printed this to standard error.
heard() {
    grep -q "$1" "$work/heard" || { echo "not said: $1" && cat "$work/heard"; exit 1; }
}

# drive USER EXAMPLE...: tests everything that the example program can do, with this user.
drive() {
    local user=$1 options=(--backend "$backend" --store "$work/$1.store")
    shift
    example=("$@")
    expect 2 '' '' "${options[@]}" login
    expect 2 '' '' --store "$work/store" login "$user"
    heard '^usage: '
    ok "$user: wrong usage"
    expect 1 IDENTITY_NOT_VERIFIED '' "${options[@]}" --timeout 0 register "$user"
    heard '^confirm_registration: IDENTITY_NOT_VERIFIED (..*)'
    ok "$user: a mail that nobody opens"
    "${example[@]}" "${options[@]}" register "$user" <<<1234 >"$work/registered" 2>"$work/heard" &
    local registration=$!
    open_mailed_link
    wait "$registration"
    [ "$(cat "$work/registered")" = OK ]
    ok "$user: register"
    expect 0 OK $'1234\n' "${options[@]}" login "$user"
    expect 0 OK 1234 "${options[@]}" login "$user"
    ok "$user: login"
    expect 3 INCORRECT_PIN $'4321\n' "${options[@]}" login "$user"
    heard '^finish_authentication: INCORRECT_PIN (..*)'
    ok "$user: a wrong PIN"
    expect 1 PIN_INVALID $'123456789012345678901\n' "${options[@]}" login "$user"
    expect 1 PIN_INPUT_CANCELED '' "${options[@]}" login "$user"
    ok "$user: what is no PIN"
    python3 "$root/Tests/EndToEnd/terminal.py" 1234 "${example[@]}" "${options[@]}" login "$user"
    ok "$user: a PIN that is typed is not shown"
    expect 3 INCORRECT_PIN $'1111\n' "${options[@]}" login "$user"
    expect 3 INCORRECT_PIN $'2222\n' "${options[@]}" login "$user"
    expect 4 BLOCKED $'3333\n' "${options[@]}" login "$user"
    expect 4 BLOCKED $'1234\n' "${options[@]}" login "$user"
    ok "$user: blocked"
    stop_server
    expect 1 NETWORK_ERROR $'1234\n' "${options[@]}" login "$user"
    ok "$user: no server"
    start_server
}

export MPIN_LIBRARY=$root/build/libmpin.so
javac -Xlint:all,-serial -Werror -cp /usr/share/java/jna.jar -d "$work/java" "$root/bindings/java/Login.java"
start_server
drive jürgen@example.com java -cp "/usr/share/java/jna.jar:$work/java" Login
drive ruby@example.com ruby -w "$root/bindings/ruby/login.rb"
stop_server
echo "$passed passed, 0 failed"

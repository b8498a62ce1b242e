#!/usr/bin/env bash
# Registers and logs in two people at a real server: alice by the C example, bob by the Python example.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

step=0
say() {
    step=$((step + 1))
    printf '%2d. %s\n' "$step" "$1"
}

# login EXPECTED PIN: logs in and compares what the example prints last.
login() {
    local said
    said=$(printf '%s\n' "$2" | "${example[@]}" --backend "$backend" --store "$store" login "$user" || true)
    say "$user, PIN $2: $(tail -n 1 <<<"$said")"
    [ "$(tail -n 1 <<<"$said")" = "$1" ] || { echo "expected $1" >&2; exit 1; }
}

register() {
    printf '1234\n' | "${example[@]}" --backend "$backend" --store "$store" register "$user" >"$work/register.log" 2>/dev/null &
    local registration=$!
    open_mailed_link
    say "$user opened the link in the mail"
    wait "$registration"
    say "$user registered, PIN 1234: $(tail -n 1 "$work/register.log")"
}

tour() {
    user=$1 store=$work/$1.store
    shift
    example=("$@")
    register
    login INCORRECT_PIN 4321
    login OK 1234
    stop_server
    start_server
    say "server restarted"
    login OK 1234
    login INCORRECT_PIN 1111
    login INCORRECT_PIN 2222
    login BLOCKED 3333
}

start_server
say "mpind runs at $backend, D-TA 2 on port $dta2_port, state and mails in a temporary folder"
tour alice@example.com "$root/build/mpin-example"
MPIN_LIBRARY=$root/build/libmpin.so tour bob@example.com \
    "$root/build/venv/bin/python" "$root/bindings/python/examples/login.py"
stop_server
say "server stopped, nothing left behind"

# The end-to-end scripts source this file. It starts and stops a real mpind on free loopback ports, with its state in
# $work.

export SWIFT_BACKTRACE=enable=no
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
server_pid=

# free_ports N: N free ports can be read from the file $ports. They belong to this script while it runs, because the file
# stays open.
free_ports() { exec {ports}< <(python3 -B "$root/Tests/EndToEnd/ports.py" "$1"); }
free_ports 4
read -r port private_port dta1_port dta2_port <&"$ports"
backend=http://127.0.0.1:$port

start_server() {
    "$root/build/mpind" --all-in-one --state-dir "$work/state" --mail-dir "$work/mail" --public-url "${public_url:-$backend}" \
        --port "$port" --private-port "$private_port" --dta1-port "$dta1_port" --dta2-port "$dta2_port" \
        --rate-limits off --log-level "${log_level:-debug}" "$@" \
        2>>"$work/mpind.log" &
    server_pid=$!
    for _ in $(seq 600); do
        curl -fs -o "$work/settings.json" "$backend/rps/clientSettings" && return
        kill -0 "$server_pid" || break
        sleep 0.1
    done
    echo "mpind did not start:" >&2
    tail -n 20 "$work/mpind.log" >&2
    return 1
}

stop_server() {
    [ -n "$server_pid" ] || return 0
    kill "$server_pid" 2>/dev/null || true
    wait "$server_pid" || return 1
    server_pid=
    python3 -B "$root/Tests/EndToEnd/redaction.py" "$work"
}

leave_nothing() {
    [ -z "$server_pid" ] || kill -9 "$server_pid" 2>/dev/null || true
    # shellcheck disable=SC2046 # the output is a list of process numbers, so it is not quoted
    kill $(jobs -p) 2>/dev/null || true
    rm -rf "$work"
}
trap leave_nothing EXIT

# Opens the activation link of the newest mail as a user would: loads the page, then presses the button.
open_mailed_link() {
    local mail link
    for _ in $(seq 600); do
        mail=$(find "$work/mail" -name '*.eml' 2>/dev/null | sort | tail -n 1)
        [ -z "$mail" ] || break
        sleep 0.1
    done
    [ -n "$mail" ] || { echo "no mail came" >&2; return 1; }
    link=$(tr -d '\r' <"$mail" | grep -o "^$backend/mpinActivate?.*")
    rm "$mail"
    curl -fsS "$link" | grep '<form' >/dev/null
    curl -fsS -X POST "$link" >/dev/null
}

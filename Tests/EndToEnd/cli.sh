#!/usr/bin/env bash
# Tests mpin-cli with a real server: every command, every documented exit code, the input of a PIN at a terminal.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

# shellcheck source=Tests/ok.sh
. "$root/Tests/ok.sh"

export MPIN_BACKEND=$backend MPIN_STORE=$work/store
cli=$root/build/mpin-cli
user=carol@example.com

# expect CODE PINS ARGUMENT...: runs the client with these PINs, one on each line, and checks its exit code. Standard
# output goes to $work/said, standard error to $work/heard.
expect() {
    local code=$1 pins=$2 status=0
    shift 2
    printf '%b' "$pins" | "$cli" "$@" --pin-fd 0 >"$work/said" 2>"$work/heard" || status=$?
    [ "$status" -eq "$code" ] || { echo "$*: exit code $status, expected $code" && cat "$work/said" "$work/heard"; exit 1; }
}

# browser KIND OPTION: starts Tests/C/browser.sh, which stands for a browser that shows an access number or a QR code
# (KIND: getAccessNumber or getQrUrl). Logs it in with `mpin-cli login USER OPTION`, where OPTION is --number or --qr. A
# login with a wrong PIN comes first, and must not log the browser in.
browser() {
    local shown=$work/shown browser
    rm -f "$shown"
    "$root/Tests/C/browser.sh" "$backend" "$1" >"$shown" &
    browser=$!
    for _ in $(seq 600); do
        [ ! -s "$shown" ] || break
        sleep 0.1
    done
    expect 3 '4321\n' login "$user" "$2" "$(head -n 1 "$shown")" --any-screen
    kill -0 "$browser"
    if [ "$2" = --qr ]; then
        # Without a terminal nobody can be asked whether an unknown screen is meant.
        setsid --wait "$cli" login "$user" --qr "$(head -n 1 "$shown")" --pin-fd 0 <<<1234 >"$work/said" 2>"$work/heard" && exit 1
        grep -q "nothing is known about the screen" "$work/said"
        kill -0 "$browser"
    fi
    expect 0 '1234\n' login "$user" "$2" "$(head -n 1 "$shown")" --any-screen
    wait "$browser"
}

# device_name USER: prints the user's device name, read from the client's store.
device_name() {
    MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python python3 -B - "$1" <<'PY'
import os, sys, mpin
with mpin.SDK(os.environ["MPIN_STORE"], backend=os.environ["MPIN_BACKEND"]) as sdk:
    print(sdk.get_user(sys.argv[1]).device_name)
PY
}

start_server --tell-attempts-left
expect 5 '' register "$user" --wait 0 --device-name "carol's"
grep -q 'keeps no device names: --device-name is not sent' "$work/heard"
[ "$(device_name "$user")" = "" ]
ok "register without waiting: not confirmed yet"
open_mailed_link
expect 0 '1234\n' confirm "$user"
ok "confirm"
expect 0 '1234\n' login "$user"
ok "login"
expect 3 '4321\n' login "$user"
ok "a wrong PIN"
expect 0 '1234\n' login "$user" --json
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["result"] == "OK"' "$work/said"
ok "login --json"
browser getAccessNumber --number
ok "login --number"
browser getQrUrl --qr
grep -q "^Login at .*, $backend, as $user\$" "$work/heard"
grep -q "^The code is that of a screen that we know nothing about, opened by 127.0.0.1\$" "$work/heard"
ok "login --qr, and who asks is shown first"

# Starts two servers on other ports: one with a page whose service description names the real server, and another
# backend, which the client uses. So the client must ask whether it may go to the real server. There is no terminal on
# which a user could say yes, so it refuses.
mkdir -p "$work/page" "$work/other/rps"
printf '{"name":"Shop","url":"%s","rps_prefix":"rps","logo_url":"","type":"online"}' "$backend" >"$work/page/service"
cp "$work/settings.json" "$work/other/rps/clientSettings"
for folder in page other; do
    python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/$folder" >"$work/$folder.port" 2>/dev/null &
    for _ in $(seq 600); do
        grep -q port "$work/$folder.port" && break
        sleep 0.1
    done
done
origin() { sed -n 's/.* port \([0-9]*\).*/http:\/\/127.0.0.1:\1/p' "$work/$1.port"; }
status=0
setsid --wait "$cli" login "$user" --qr "$(origin page)/#0123" --backend "$(origin other)" --pin-fd 0 \
    <<<1234 >"$work/said" 2>"$work/heard" || status=$?
[ "$status" -eq 1 ]
grep -q "service Shop, at $backend, not $(origin other)" "$work/heard"
grep -q "$backend is not your server: refused (--trust-domain 127.0.0.1" "$work/said"
expect 1 '1234\n' login "$user" --qr "http://127.0.0.1:1/#0123"
grep -q "tells of no service: refused" "$work/said"
# Here the page names the client's own backend, so the client does not ask. The login fails because no browser shows
# this code.
expect 1 '1234\n' login "$user" --any-screen --qr "$(origin page)/#0123456789abcdef"
grep -q INCORRECT_ACCESS_NUMBER "$work/said"
ok "a QR code of another host is refused without a yes"
MPIN_BACKEND='' expect 1 '' login "$user"
grep -q 'no backend: --backend or MPIN_BACKEND' "$work/said"
ok "no backend"
expect 1 '1234\n' login "$user" --number 1234567
grep -q INCORRECT_ACCESS_NUMBER "$work/said"
expect 1 '1234\n' login "$user" --any-screen --qr "$backend/#0123456789abcdef"
ok "an access number and a code that no browser shows"
expect 0 '1234\n5678\n' change-pin "$user"
expect 3 '1234\n' login "$user"
expect 0 '5678\n' login "$user"
ok "change-pin"
expect 0 '' list
grep -q "$user.registered" "$work/said"
ok "list"
expect 0 '' doctor
grep -q "^server: $backend answers" "$work/heard"
ok "doctor connects, and says to what"
env -u MPIN_BACKEND "$cli" doctor >"$work/said" 2>"$work/heard"
grep -q "^server: $backend answers" "$work/heard"
status=0
env -u MPIN_BACKEND MPIN_STORE="$work/empty" "$cli" doctor >"$work/said" 2>"$work/heard" || status=$?
[ "$status" -eq 1 ]
grep -q -e '--backend or MPIN_BACKEND' "$work/said"
ok "doctor without a backend: those of the users, or none"
stop_server
status=0
env -u MPIN_BACKEND "$cli" doctor >"$work/said" 2>"$work/heard" || status=$?
[ "$status" -eq 1 ]
grep -q NETWORK_ERROR "$work/said"
if grep -q "$backend answers" "$work/heard"; then exit 1; fi
start_server --tell-attempts-left --set-device-name
ok "doctor notices that the server of its users is gone"
expect 5 '' register dora@example.com --wait 0
[ "$(device_name dora@example.com)" = "$(hostname)" ]
expect 0 '' delete dora@example.com
ok "a server that wants the device's name gets this machine's"
chmod 644 "$MPIN_STORE"
expect 1 '' doctor
chmod 600 "$MPIN_STORE"
ok "doctor: a store that others can read"
expect 0 '5678\n' otp "$user"
grep -qE '(^|[^0-9])[0-9]{6}([^0-9]|$)' "$work/said"
ok "otp"
expect 64 '' login "$user" --qr "$backend/"
expect 64 '' login "$user" --qr "a#b"
ok "wrong usage"
expect 1 '' login nobody@example.com
ok "an unknown user"

# Checks that a PIN typed at a terminal is not shown, and that the terminal shows typed characters again afterwards.
CLI="$cli" USER_ID="$user" timeout 300 python3 - <<'PY'
import os, pty, select, termios, time

def talk(pin: bytes) -> tuple[int, bytes]:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(os.environ["CLI"], ["mpin-cli", "login", os.environ["USER_ID"]])
    seen, sent, deadline = b"", False, time.monotonic() + 100
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            seen += part
        if not sent and b"PIN: " in seen and not termios.tcgetattr(terminal)[3] & termios.ECHO:
            os.write(terminal, pin)
            sent = True
    if time.monotonic() >= deadline:
        os.kill(child, 9)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), seen

status, seen = talk(b"5678\n")
assert status == 0 and b"5678" not in seen, (status, seen)
status, seen = talk(b"56\x03")
assert status == 1 and b"interrupted" in seen, (status, seen)
PY
ok "a terminal without echo, and an interrupt"

expect 3 '1111\n' login "$user"
grep -q ': 2 tries are left$' "$work/said"
expect 3 '2222\n' login "$user" --json
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["attemptsLeft"] == 1' "$work/said"
expect 4 '3333\n' login "$user"
expect 4 '5678\n' login "$user"
ok "blocked, and how many tries were left before"
expect 0 '' delete "$user"
expect 0 '' list
grep -q 'nobody' "$work/said"
ok "delete"
stop_server
expect 1 '' doctor
if grep -q answers "$work/said" "$work/heard"; then exit 1; fi
ok "no server"
echo "$passed passed, 0 failed"

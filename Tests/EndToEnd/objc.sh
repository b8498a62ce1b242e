#!/usr/bin/env bash
# Tests the Objective-C classes on GNUstep: the lines of the old apps and everything else that the classes have
# (Tests/ObjC), and the example, with a real server and the back end of bindings/samples/mobile.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"
# shellcheck source=Tests/EndToEnd/websites.sh
. "$(dirname "$0")/websites.sh"
# shellcheck source=Tests/ok.sh
. "$root/Tests/ok.sh"

free_ports 1
read -r nobody <&"$ports"
# With the wire of MIRACL Trust, the client ids of the seeds would have to be those of projects.
start_server --issuer "$backend" --behind-proxy --trust=false
start_mobile
# GNUstep finds the home folder of the person who runs this by number, so HOME alone does not move the stores.
export HOME=$work GNUSTEP_CONFIG_FILE=$work/GNUstep.conf
echo "GNUSTEP_USER_DIR_LIBRARY=$work/Library" >"$GNUSTEP_CONFIG_FILE"

# The test program opens mails by this command, as its user would: waits for a number of mails, and opens the newest.
{
    declare -p work backend && declare -f open_mailed_link
    cat <<'END'
for _ in $(seq 600); do
    [ "$(find "$work/mail" -name '*.eml' | wc -l)" -lt "$1" ] || break
    sleep 0.1
done
open_mailed_link
rm -f "$work"/mail/*.eml
END
} >"$work/open-mail"
export OPEN_MAIL="bash -euo pipefail $work/open-mail"
MPIN_BACKEND=$backend APP_BACK_END=$mobile_url NOBODY=http://127.0.0.1:$nobody "$root/build/objc/objc-test"
[ "$(stat -c %a "$work/Library/ApplicationSupport/objc-test/mpin")" = 700 ]
[ "$(stat -c %a "$work/Library/ApplicationSupport/objc-test/mpin/users")" = 600 ]
ok "the store is the user's own"

# expect CODE TEXT PIN ARGUMENT...: runs the example with this PIN, and compares its exit code and what it says.
expect() {
    local code=$1 said=$2 pin=$3 status=0
    shift 3
    printf '%s\n' "$pin" | "$root/build/objc/login" "$@" >"$work/said" 2>"$work/heard" || status=$?
    [ "$status $(cat "$work/said")" = "$code $said" ] ||
        { echo "login $*: $status, expected $code $said" && cat "$work/said" "$work/heard"; exit 1; }
}

# show_page: a page of the client `app` shows a QR code, whose URL becomes $qr, and asks how far its login is.
show_page() {
    mkfifo "$work/qr"
    "$python" -B - "$mobile_url" >"$work/qr" 2>>"$work/pages.log" <<'END' &
import sys, time, requests
start = requests.get(sys.argv[1] + "/authzurl").json()
session = requests.post(start["authorizeURL"], json={}).json()
print(session["qrURL"], flush=True)
status = ""
while status not in ("authenticated", "expired"):
    time.sleep(0.05)
    status = requests.post(session["accessURL"], json={"webOTT": session["webOTT"]}).json()["status"]
sys.exit(status == "expired")
END
    page=$!
    read -r qr <"$work/qr"
    rm "$work/qr"
}

user=erin@example.com
expect 2 '' '' register "$user"
expect 2 '' '' --backend "$backend" app "$user"
ok "wrong usage"
echo 1234 | "$root/build/objc/login" --backend "$backend" register "$user" >"$work/registered" &
registration=$!
open_mailed_link
wait "$registration"
[ "$(cat "$work/registered")" = OK ]
ok "register"
expect 0 OK 1234 --backend "$backend" app "$user" "$mobile_url"
expect 1 FLOW_ERROR 1234 --backend "$backend" app nobody@example.com "$mobile_url"
expect 1 INVALID_ARGUMENT 1234 --backend "$backend" app "$user" "$backend"
ok "a login in the app"
show_page
expect 0 OK 1234 website "$user" "$qr"
wait "$page"
grep -q "^The app asks for the login at $backend$" "$work/heard"
expect 1 INCORRECT_ACCESS_NUMBER 1234 website "$user" "$backend#no-such-session"
expect 1 INVALID_ARGUMENT 1234 website "$user" "$backend"
ok "a login in a browser"
expect 3 INCORRECT_PIN 4321 --backend "$backend" app "$user" "$mobile_url"
show_page
expect 3 INCORRECT_PIN 4321 website "$user" "$qr"
expect 4 INCORRECT_PIN 4321 website "$user" "$qr"
kill "$page"
ok "wrong PINs"

# shellcheck disable=SC2046 # a list of process numbers
kill $(jobs -p | grep -vx "$server_pid") 2>/dev/null || true
stop_server
expect 1 NETWORK_ERROR 1234 --backend "$backend" app "$user" "$mobile_url"
ok "no server"
echo "$passed passed, 0 failed"

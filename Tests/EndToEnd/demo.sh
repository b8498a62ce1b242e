#!/usr/bin/env bash
# Registers and logs in two users at a real server: alice with the C example, bob with the Python example.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

step=0
say() {
    step=$((step + 1))
    printf '%2d. %s\n' "$step" "$1"
}

# login EXPECTED PIN: logs in with the example and checks that the last line that it prints is EXPECTED.
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

# field NAME FILE: prints the value that the hidden form field NAME, or the HTML attribute NAME, has in the page FILE.
field() {
    sed -n "/\(name=\"$1\" value\|$1\)=/{s/.*\(name=\"$1\" value\|$1\)=\"\([^\"]*\)\".*/\2/p;q}" "$2"
}

browser() {
    curl -fsSL -b "$work/cookies" -c "$work/cookies" -H "Origin: $backend" -o "$work/page.html" "$@"
}

# Logs in at the website as a user with a browser and a phone does. curl stands for the browser, zbar for the phone's
# camera, and the C example for the phone. Because curl runs no scripts, the test presses the page's button to find out
# whether the phone has logged in.
website_tour() {
    local url phone
    browser "$backend/login"
    python3 "$root/Tests/EndToEnd/svg_to_pbm.py" <"$work/page.html" >"$work/code.pbm"
    url=$(zbarimg --nodbus --quiet --raw "$work/code.pbm")
    say "the website shows a QR code; the camera reads ${url%%#*}#..."
    printf '1234\n' | "${example[@]}" --backend "$backend" --store "$store" login-qr "$user" "$url" >"$work/phone.log" 2>/dev/null &
    phone=$!
    for _ in $(seq 600); do
        browser "$backend/login" --data-urlencode "csrf=$(field csrf "$work/page.html")" \
            --data-urlencode "webOTT=$(field webOTT "$work/page.html")"
        ! grep -q 'id="user"' "$work/page.html" || break
        sleep 0.1
    done
    wait "$phone"
    say "phone, PIN 1234: $(tail -n 1 "$work/phone.log"); the website: $(sed -n 's/<p class="lead">\(You are.*\)<\/p>/\1/p' "$work/page.html" | sed 's/<[^>]*>//g')"
    browser "$backend/logout" --data-urlencode "csrf=$(field csrf "$work/page.html")"
    browser "$backend/account"
    grep -q 'You are logged in' "$work/page.html" && { echo "still logged in" >&2; exit 1; }
    say "logged out of the website"
}

tour() {
    user=$1 store=$work/$1.store
    shift
    example=("$@")
    register
    login INCORRECT_PIN 4321
    login OK 1234
    [ "$user" != alice@example.com ] || website_tour
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

#!/usr/bin/env bash
# Registers and logs in two users at a real server: alice with the C example, bob with the Python example. Alice also
# logs in at the server's website and at one of somebody else, by QR code. Erin registers and logs in at a project of
# MIRACL Trust, which is also at that server, with mpin-cli. At the end two browsers log each other in without any app.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"
# shellcheck source=Tests/EndToEnd/websites.sh
. "$(dirname "$0")/websites.sh"

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

# field NAME: prints the value that the hidden form field NAME of the page has.
field() { sed -n "s/.*name=\"$1\" value=\"\([^\"]*\)\".*/\1/p" "$work/page.html" | head -n 1; }

browser() {
    curl -fsSL -b "$work/cookies" -c "$work/cookies" -H "Origin: $backend" -o "$work/page.html" "$@"
}

# scan END FIELD...: logs in with the phone, as the QR code of the page says, and in the browser goes on until the page
# contains END. curl stands for the browser, zbar for the phone's camera, and the C example for the phone. Because curl
# runs no scripts, the test presses the page's button to find out whether the phone has logged in; it sends each FIELD.
scan() {
    local url phone name end=$1
    shift
    python3 "$root/Tests/EndToEnd/svg_to_pbm.py" <"$work/page.html" >"$work/code.pbm"
    url=$(zbarimg --nodbus --quiet --raw "$work/code.pbm")
    say "the page shows a QR code; the camera reads ${url%%#*}#..."
    printf '1234\n' | "${example[@]}" --backend "$backend" --store "$store" login-qr "$user" "$url" >"$work/phone.log" 2>/dev/null &
    phone=$!
    for _ in $(seq 600); do
        local fields=()
        for name in "$@"; do fields+=(--data-urlencode "$name=$(field "$name")"); done
        browser "$backend/${login_path:-login}" "${fields[@]}"
        ! grep -q "$end" "$work/page.html" || break
        sleep 0.1
    done
    wait "$phone"
    grep -q "$end" "$work/page.html" || { echo "nobody is logged in at the website" >&2; exit 1; }
}

# shown PATTERN: prints the text in the page that PATTERN describes.
shown() { sed -n "s/.*\($1\).*/\1/p" "$work/page.html" | sed 's/<[^>]*>//g' | head -n 1; }

website_tour() {
    browser "$backend/login"
    scan 'id="user"' csrf webOTT
    say "phone, PIN 1234: $(tail -n 1 "$work/phone.log"); the website: $(shown 'You are.*<\/p>')"
    browser "$backend/logout" --data-urlencode "csrf=$(field csrf)"
    browser "$backend/account"
    grep -q 'You are logged in' "$work/page.html" && { echo "still logged in" >&2; exit 1; }
    say "logged out of the website"
}

# The same at a shop that knows nothing of M-Pin. It sends its users to mpind by OpenID Connect, with Authlib.
shop_tour() {
    start_flask
    browser "$flask_url/login"
    say "a shop with Authlib, at $flask_url, sends the browser to mpind: $(shown '<p class="lead" id="client">.*<\/p>')"
    login_path=authorize/login scan Welcome id
    say "phone, PIN 1234: $(tail -n 1 "$work/phone.log"); the shop: $(shown 'Welcome[^<]*')"
}

# Two browsers that are clients. Chromium writes into its home; nobody needs the pictures here.
browsers_tour() {
    local line
    stop_server
    start_server --browser-client "$root/build/browser-client"
    say "server restarted, with the client for browsers"
    while IFS= read -r line; do say "$line"; done < <(
        HOME=$work MPIN_BACKEND=$backend MPIN_MAILS=$work/mail MPIN_PICTURES=$work MPIN_LIBRARY=$root/build/libmpin.so \
            PYTHONPATH=$root/bindings/python "$root/build/browser-venv/bin/python" -B "$root/Tests/EndToEnd/two_browsers.py"
    )
    wait $! || { echo "the browsers did not log each other in" >&2; exit 1; }
}

tour() {
    user=$1 store=$work/$1.store
    shift
    example=("$@")
    register
    login INCORRECT_PIN 4321
    login OK 1234
    [ "$user" != alice@example.com ] || { website_tour; shop_tour; }
    stop_server
    start_server
    say "server restarted"
    login OK 1234
    login INCORRECT_PIN 1111
    login INCORRECT_PIN 2222
    login BLOCKED 3333
}

# A project whose app knows nothing of M-Pin but MIRACL's wire: a mail with a code, a PIN, a JWT for the app's server.
trust_tour() {
    local cli=("$root/build/mpin-cli" trust) erin=erin@example.com code registration
    export MPIN_PROJECT=my-app MPIN_PROJECT_URL=$backend MPIN_STORE=$work/$erin.store
    "$root/build/mpind" project add my-app --verification code --state-dir "$work/state" >"$work/project.log"
    say "a project of MIRACL Trust at the same server: my-app"
    mkfifo "$work/typed"
    "${cli[@]}" register "$erin" --pin-fd 0 <"$work/typed" >"$work/register.log" 2>/dev/null &
    registration=$!
    exec {typed}>"$work/typed"
    code=$(mailed_code)
    say "$erin got a mail with the code $code"
    printf '%s\n1234\n' "$code" >&"$typed"
    exec {typed}>&-
    wait "$registration"
    say "$erin registered with a key pair, PIN 1234: $(tail -n 1 "$work/register.log")"
    "${cli[@]}" login "$erin" --pin-fd 0 <<<1234 >"$work/jwt" 2>/dev/null
    say "$erin, PIN 1234: a JWT of $(wc -c <"$work/jwt") bytes, good for a minute"
}

# Prints the line of six digits in the newest mail.
mailed_code() {
    local mail
    for _ in $(seq 600); do
        mail=$(find "$work/mail" -name '*.eml' 2>/dev/null | sort | tail -n 1)
        [ -z "$mail" ] || break
        sleep 0.1
    done
    tr -d '\r ' <"$mail" | grep -xE '[0-9]{6}'
    rm "$mail"
}

start_server
say "mpind runs at $backend, D-TA 2 on port $dta2_port, state and mails in a temporary folder"
tour alice@example.com "$root/build/mpin-example"
MPIN_LIBRARY=$root/build/libmpin.so tour bob@example.com \
    "$root/build/venv/bin/python" "$root/bindings/python/examples/login.py"
trust_tour
browsers_tour
stop_server
say "server stopped, nothing left behind"

# shellcheck shell=bash
# Scripts that start a server by server.sh source this file, to start websites that send their users to it.
# shellcheck disable=SC2154 # server.sh sets root, work, ports and backend
python=$root/build/oidc-venv/bin/python
# What the websites write. Apache's and nginx's own users must be able to read it.
sites=$(mktemp -d)
chmod 755 "$sites"
trap 'leave_nothing; rm -rf "$sites"' EXIT

# add_client ID OPTION...: registers a client, and sets client_secret.
add_client() { client_secret=$("$root/build/mpind" client add "$@" --state-dir "$work/state" | tail -n 1); }

# await_port PORT NAME: waits until the website NAME answers there.
await_port() {
    for _ in $(seq 600); do
        curl -s -o /dev/null "http://127.0.0.1:$1/" && return
        sleep 0.05
    done
    echo "$2 did not start:" >&2
    cat "$sites/$2.log" >&2
    return 1
}

# Starts the website of bindings/samples/flask, and sets flask_url.
start_flask() {
    local port
    free_ports 1
    read -r port <&"$ports"
    flask_url=http://127.0.0.1:$port
    add_client shop --name "The shop" --first-party true --redirect-uri "$flask_url/callback"
    ISSUER=$backend CLIENT_ID=shop CLIENT_SECRET=$client_secret PYTHONPATH=$root/bindings/samples/flask \
        "$python" -B -m flask --app shop run --port "$port" >"$sites/flask.log" 2>&1 &
    await_port "$port" flask
}

# Starts the back end of bindings/samples/mobile, and sets mobile_url.
start_mobile() {
    local port redirect_uri=https://app.example.com/login
    free_ports 1
    read -r port <&"$ports"
    mobile_url=http://127.0.0.1:$port
    add_client app --name "The app" --first-party true --redirect-uri "$redirect_uri" --subject user-id
    ISSUER=$backend CLIENT_ID=app CLIENT_SECRET=$client_secret REDIRECT_URI=$redirect_uri \
        PYTHONPATH=$root/bindings/samples/mobile "$python" -B -m flask --app backend run --port "$port" >"$sites/mobile.log" 2>&1 &
    await_port "$port" mobile
}

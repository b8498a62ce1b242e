#!/usr/bin/env bash
# Tests `mpind client` beside a running server: every command, every documented exit code, and that no secret is written
# to a file.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"
# shellcheck source=Tests/ok.sh
. "$root/Tests/ok.sh"

# expect CODE COMMAND ARGUMENT...: runs `mpind client` and checks its exit code. The output goes to $work/said, the
# error messages to $work/heard.
expect() {
    local code=$1 status=0
    shift
    "$root/build/mpind" client "$@" --state-dir "$work/state" >"$work/said" 2>"$work/heard" || status=$?
    [ "$status" -eq "$code" ] ||
        { echo "client $*: exit code $status, expected $code" && cat "$work/said" "$work/heard"; exit 1; }
}

# said TEXT: checks that the last command printed the line TEXT.
said() { grep -qxF -e "$1" "$work/said" || { echo "not said: $1" && cat "$work/said"; exit 1; }; }

# heard TEXT: checks that an error message of the last command contains TEXT.
heard() { grep -qF -e "$1" "$work/heard" || { echo "not heard: $1" && cat "$work/heard"; exit 1; }; }

# nowhere TEXT: checks that no file of the server contains TEXT, neither the database nor the log.
nowhere() { if grep -rqF -e "$1" "$work/state" "$work/mpind.log"; then echo "a secret is in a file" && exit 1; fi; }

start_server
expect 0 list
said "no client is registered"
expect 0 add shop --name "The shop" --redirect-uri https://shop.example/cb
said "id: shop"
said "name: The shop"
said "auth-method: client_secret_basic"
said "redirect-uri: https://shop.example/cb"
secret=$(tail -n 1 "$work/said")
grep -qE '^[A-Za-z0-9_-]{43}$' <<<"$secret"
nowhere "$secret"
ok "add prints the secret, which is in no file"
expect 0 show shop
if grep -qF -e "$secret" "$work/said"; then exit 1; fi
grep -q '^secret: of 20' "$work/said"
expect 0 show shop --json
python3 - "$work/said" <<'PY'
import json, sys
shop = json.load(open(sys.argv[1]))
assert shop["redirect-uri"] == ["https://shop.example/cb"] and shop["first-party"] is False, shop
assert shop["access-token-seconds"] == 900 and len(shop["secrets"]) == 1 and "logo" not in shop, shop
PY
ok "show never has the secret"
expect 1 add shop --redirect-uri https://shop.example/cb
heard "there is a client shop already"
expect 1 add other --redirect-uri https://shop.example/cb#x
heard "redirect-uri https://shop.example/cb#x: must have no fragment (#)"
expect 1 add other --redirect-uri http://shop.example/cb
expect 1 add other
heard "redirect-uri: at least one is needed"
expect 1 add 'o ther' --redirect-uri https://shop.example/cb
expect 2 show other
heard "there is no client other"
ok "what no client may be (row 10), an id that is taken, and none"
expect 0 add app --auth-method none --redirect-uri http://127.0.0.1/cb
if grep -q '^secret' "$work/said"; then exit 1; fi
[[ $(tail -n 1 "$work/said") == refresh-max-seconds:* ]]
expect 1 rotate-secret app
heard "the client app is public and has no secret"
expect 1 add open --auth-method none --redirect-uri http://127.0.0.1/cb --secret-file - <<<"$(printf 'c%.0s' $(seq 40))"
heard "the client open is public and has no secret"
ok "a public client has no secret"
expect 0 set shop --first-party true --origin https://shop.example --scope openid --scope email
said "first-party: true"
said "scope: email"
expect 0 set shop --origin ''
if grep -q '^origin' "$work/said"; then exit 1; fi
expect 64 set shop
expect 64 set shop --nmae x
expect 1 set shop --first-party yes
heard "first-party: must be true or false"
expect 2 set other --name x
ok "set"
expect 0 rotate-secret shop
second=$(tail -n 1 "$work/said")
[ "$second" != "$secret" ]
nowhere "$second"
[ "$(grep -c '^secret: of' "$work/said")" -eq 2 ]
expect 0 rotate-secret shop --overlap-seconds 0
[ "$(grep -c '^secret: of' "$work/said")" -eq 1 ]
expect 64 rotate-secret shop --overlap-seconds 7776001
ok "two secrets while one is rotated"
own=$(printf 'a%.0s' $(seq 40))
printf '%s\n' "$own" >"$work/own"
chmod 644 "$work/own"
expect 1 rotate-secret shop --secret-file "$work/own"
chmod 600 "$work/own"
expect 0 rotate-secret shop --secret-file "$work/own"
if grep -qF -e "$own" "$work/said" "$work/heard"; then exit 1; fi
nowhere "$own"
expect 1 rotate-secret shop --secret-file - <<<"$own"
heard "the client shop has this secret already"
expect 1 add third --redirect-uri https://third.example/cb --secret-file - <<<"short"
heard "32 to 256 characters"
if grep -q short "$work/heard"; then exit 1; fi
expect 0 add third --redirect-uri https://third.example/cb --secret-file - <<<"b$own"
nowhere "b$own"
expect 64 add fourth --redirect-uri https://fourth.example/cb --secret "$own"
ok "a secret of the operator's own, from a file that nobody else reads, or from standard input"
expect 0 disable third
said "disabled: true"
expect 0 set third --disabled false
said "disabled: false"
expect 0 remove third
expect 2 remove third
expect 2 disable third
ok "disable and remove"
cat >"$work/clients.yaml" <<YAML
- id: blog
  redirect-uri: [https://blog.example/cb]
  secret-file: $work/own
YAML
expect 0 list --clients "$work/clients.yaml"
[ "$(cut -d ' ' -f 1 "$work/said" | tr '\n' ' ')" = "app blog shop " ]
expect 0 show blog --clients "$work/clients.yaml"
said "read-only: $work/clients.yaml:1"
for command in "set blog --name x" "rotate-secret blog" "disable blog" "remove blog" \
    "add blog --redirect-uri https://blog.example/cb"; do
    # shellcheck disable=SC2086 # $command consists of several words, so it is not quoted
    expect 1 $command --clients "$work/clients.yaml"
    heard "the client blog is that of $work/clients.yaml:1: change it there"
done
cat "$work/clients.yaml" >>"$work/clients.yaml.twice"
cat "$work/clients.yaml" >>"$work/clients.yaml.twice"
expect 1 list --clients "$work/clients.yaml.twice"
heard "$work/clients.yaml.twice:4: the client blog is in line 1 already"
ok "clients of a file: read-only, and each id once"
"$root/build/mpind" audit verify --state-dir "$work/state" >/dev/null
[ "$(grep -c '"command":"client add"' "$work/state/audit/audit.jsonl")" -ge 3 ]
for command in add list show set rotate-secret disable remove; do
    grep -q "\"command\":\"client $command\"" "$work/state/audit/audit.jsonl" ||
        { echo "not in the audit log: client $command"; exit 1; }
done
ok "all of it is in the audit log"
stop_server
sed 's/^- id: blog/- id: shop/' "$work/clients.yaml" >"$work/clients.yaml.taken"
if start_server --clients "$work/clients.yaml.taken" 2>"$work/heard"; then echo "started"; exit 1; fi
server_pid=
heard "$work/clients.yaml.taken:1: the client shop is in the database, too: remove one of the two"
ok "a server does not start if its file has the id of another client"
expect 0 list
grep -q '^shop  The shop, confidential, https://shop.example/cb$' "$work/said"
ok "at a stopped server"
echo "$passed passed, 0 failed"

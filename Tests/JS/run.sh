#!/usr/bin/env bash
# Runs the tests of bindings/js in node, with a real server.
# usage: run.sh TEST...
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/../EndToEnd/server.sh"
cd "$root"

tsc --noEmit --strict --target es2022 --module node16 --moduleResolution node16 --lib es2022,dom Tests/JS/types.mts
echo "types: 1 passed"

public_url=$backend
mkdir "$work/mail"
# An app whose users log in on the same phone, with the PKCE challenge of RFC 7636 appendix B.
cat >"$work/clients.yaml" <<END
- {id: app, auth-method: none, redirect-uri: [https://app.example/login], first-party: true}
END
start_server --clients "$work/clients.yaml"
add_project() { build/mpind project add "$@" --state-dir "$work/state" >/dev/null; }
add_project web --link-url https://app.example/login
add_project codes --verification code --pin-length 6

# D-TA 2 has an origin of its own, to which pages send requests, too.
export BACKEND=$backend DTA2=http://127.0.0.1:$dta2_port MAILS=$work/mail STATE=$work/state
node --test "$@" >"$work/tests.tap" || { grep -B 2 -A 40 '^ *not ok' "$work/tests.tap"; exit 1; }
stop_server
sed -n 's/^# \([0-9]* cases\)$/\1/p; s/^# pass \([0-9]*\)$/\1 passed/p' "$work/tests.tap"

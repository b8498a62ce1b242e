#!/usr/bin/env bash
# Runs programs one after another, each with the base URL of a real server as its argument. The server confirms every
# registration at once, except for walk_test, which opens the mailed links itself, and trust_test, which reads mailed codes
# of a MIRACL Trust project.
# usage: with_server.sh PROGRAM...
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/../EndToEnd/server.sh"

export MAILS=$work/mail
cat >"$work/service.json" <<EOF
{"name": "Walk", "url": "$backend", "rps_prefix": "rps", "logo_url": "/logo", "type": "online"}
EOF

# An app whose users log in on the same phone, with the PKCE challenge of RFC 7636 appendix B; and
# one that keeps them logged in.
cat >"$work/clients.yaml" <<EOF
- {id: app, auth-method: none, redirect-uri: [https://app.example/login], first-party: true}
- {id: apps, auth-method: none, redirect-uri: ["http://127.0.0.1/callback"], first-party: true, audience: ["$backend"],
   grant: [authorization_code, refresh_token, "urn:ietf:params:oauth:grant-type:token-exchange"],
   scope: [openid, profile, email, offline_access]}
EOF

# The options of the server that is running now; "none" if there is none.
running=none

serve() { # options
    [ "$running" != "$*" ] || return 0
    stop_server
    start_server --mobile-service "$work/service.json" --service-name Walk --wait-for-login-result \
        --clients "$work/clients.yaml" "$@"
    running=$*
}

for program in "$@"; do
    case $program in
        # With the wire of MIRACL Trust, the client id of this program would have to be that of a project.
        *walk_test*) serve --trust=false ;;
        *trust_test*)
            serve --trust
            "$root/build/mpind" project add codes --verification code --state-dir "$work/state" >"$work/project"
            ;;
        *session_test*) serve --force-activate --tell-attempts-left ;;
        *) serve --force-activate ;;
    esac
    $program "$backend"
done
stop_server

#!/usr/bin/env bash
# Tests the sessions of apps with a real provider, phones, processes that are killed, and a network that fails. With
# --kills, only the kills at every system call of a renewal, which takes minutes. LIBRARY is the library to test.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

free_ports 2
read -r proxy_port named_port <&"$ports"
folder=$(dirname "$0")
python=$root/build/oidc-venv/bin/python
export MPIN_LIBRARY=${LIBRARY:-$root/build/libmpin.so} PYTHONPATH=$root/bindings/python:$folder PYTHONDONTWRITEBYTECODE=1
# The tests see and change what goes between app and provider, so the provider's URL is that of their proxy.
public_url=http://127.0.0.1:$proxy_port
cat >"$work/clients.yaml" <<END
- {id: app, auth-method: none, first-party: true, redirect-uri: [
    "http://127.0.0.1/callback", "com.example.app:/callback", "http://[::1]/callback?from=home",
    "http://localhost:$named_port/callback"],
   grant: [authorization_code, refresh_token, "urn:ietf:params:oauth:grant-type:token-exchange"],
   scope: [openid, profile, email, offline_access], audience: ["$public_url", "https://mini.example"]}
- {id: short, auth-method: none, first-party: true, redirect-uri: ["http://127.0.0.1/callback"],
   access-token-seconds: 60, grant: [authorization_code, refresh_token], scope: [openid, profile, offline_access]}
- {id: once, auth-method: none, first-party: true, redirect-uri: ["http://127.0.0.1/callback"], scope: [openid]}
- {id: tv, auth-method: none, first-party: true, scope: [openid, email, offline_access],
   grant: ["urn:ietf:params:oauth:grant-type:device_code", refresh_token]}
END
start_server --force-activate --tell-attempts-left --clients "$work/clients.yaml"
export MPIN_BACKEND=$backend MPIN_PUBLIC=$public_url MPIN_PROXY_PORT=$proxy_port MPIN_WORK=$work MPIN_NAMED_PORT=$named_port
if [ "${1:-}" = --kills ]; then
    shift
    set -- "$folder/test_session_kills.py" "$@"
else
    set -- "$folder/test_session.py" "$folder/test_session_tokens.py" "$folder/test_session_auth.py" \
        "$folder/test_session_foreign.py" "$folder/test_session_cli.py" "$folder/test_session_stories.py" "$@"
fi
"$python" -m pytest -q -W error -p no:cacheprovider -p session_fixtures "$@"
stop_server

#!/usr/bin/env bash
# Tests the OpenID provider with a real server, phone and browser, and with Authlib as the relying party.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

free_ports 3
read -r MPIN_CALLBACK_PORT MPIN_TOLD_PORT MPIN_DEAD_PORT <&"$ports"
export MPIN_CALLBACK_PORT MPIN_TOLD_PORT MPIN_DEAD_PORT
folder=$(dirname "$0")
python=$root/build/oidc-venv/bin/python
export MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python PYTHONDONTWRITEBYTECODE=1
"$python" "$folder/relying_party.py" >"$work/clients.yaml"
start_server --force-activate --clients "$work/clients.yaml" --internal-target 127.0.0.1
mkdir -p "$root/build/browser"
export HOME=$work MPIN_BACKEND=$backend MPIN_MAILS=$work/mail MPIN_PICTURES=$root/build/browser
export MPIN_EXAMPLE=$root/build/mpin-example MPIN_SERVER=$root/build/mpind MPIN_STATE=$work/state
export MPIN_AUDIT_LOG=$work/state/audit/audit.jsonl
"$python" -m pytest -q -W error -p no:cacheprovider "$folder/test_oidc.py" "$folder/test_oidc_tokens.py" \
    "$folder/test_oidc_logout.py" "$folder/test_oidc_device.py" "$folder/test_oidc_account.py" \
    "$folder/test_oidc_access.py" "$folder/test_oidc_guide.py" "$folder/test_oidc_split.py" "$@"
stop_server

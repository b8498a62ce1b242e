#!/usr/bin/env bash
# Tests forward authentication with a real server, and with nginx and Caddy as they are configured in
# docs/forward-auth.md.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

export MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python PYTHONDONTWRITEBYTECODE=1
: >"$work/revoked"
start_server --force-activate --issuer "$backend" --behind-proxy --revoked-users "$work/revoked"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$work/site.key" -out "$work/site.pem" 2>/dev/null
# The machine may trust other certificates by such a variable, which would come before those of the tests.
export REQUESTS_CA_BUNDLE=$work/site.pem
export HOME=$work MPIN_BACKEND=$backend MPIN_WORK=$work MPIN_SERVER=$root/build/mpind
"$root/build/oidc-venv/bin/python" -m pytest -q -W error -p no:cacheprovider \
    "$root/Tests/EndToEnd/test_forward_auth.py" "$@"
stop_server

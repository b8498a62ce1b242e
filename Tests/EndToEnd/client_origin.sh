#!/usr/bin/env bash
# Tests the client for browsers at an origin of its own: a server gets one, and the identities of its users move there.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

mkdir -p "$root/build/browser" "$work/mail" "$work/profile"
export HOME=$work MPIN_BACKEND=$backend MPIN_MAILS=$work/mail MPIN_PICTURES=$root/build/browser
export MPIN_CLIENT_ORIGIN=http://localhost:$port MPIN_PROFILE=$work/profile
export MPIN_SERVER=$root/build/mpind MPIN_STATE=$work/state MPIN_EXAMPLE=$root/build/mpin-example
export MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python PYTHONDONTWRITEBYTECODE=1

tests() { "$root/build/browser-venv/bin/python" -m pytest -q -W error -p no:cacheprovider "$root/Tests/EndToEnd/test_client_origin.py" -k "$1"; }

start_server --browser-client "$root/build/browser-client"
tests before
stop_server
start_server --browser-client "$root/build/browser-client" --client-origin "$MPIN_CLIENT_ORIGIN"
tests after
stop_server

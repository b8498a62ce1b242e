#!/usr/bin/env bash
# Tests mpind's pages with browsers that are clients themselves, and the PIN pad: headless Chromium. Screenshots go to
# build/browser; with SCREENSHOTS=FOLDER in the environment, those for the documentation also go to FOLDER.
# usage: browser_client.sh [PYTEST-ARGUMENT...]
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

mkdir "$work/mail"
start_server --browser-client "$root/build/browser-client"
mkdir -p "$root/build/browser"
export HOME=$work MPIN_BACKEND=$backend MPIN_MAILS=$work/mail MPIN_PICTURES=$root/build/browser
export MPIN_SERVER=$root/build/mpind MPIN_STATE=$work/state MPIN_EXAMPLE=$root/build/mpin-example
export MPIN_CLIENT=$root/build/browser-client
[ -z "${SCREENSHOTS:-}" ] || SCREENSHOTS=$(realpath -m "$SCREENSHOTS")
export MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python PYTHONDONTWRITEBYTECODE=1
folder=$(dirname "$0")
[ $# -gt 0 ] || set -- "$folder/test_mpin_pad.py" "$folder/test_browser_client.py"
"$root/build/browser-venv/bin/python" -m pytest -q -W error -p no:cacheprovider "$@"
stop_server
if [ -n "${SCREENSHOTS:-}" ]; then
    cp "$root"/build/browser/browser-client-{pad,phone}.png "$SCREENSHOTS"
    cp "$root/build/browser/mpin-pad-en.png" "$SCREENSHOTS/mpin-pad.png"
fi

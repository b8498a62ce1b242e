#!/usr/bin/env bash
# Tests the website in headless Chromium with a real server. Screenshots go to build/browser. With SCREENSHOTS=FOLDER in
# the environment, the screenshots for the documentation also go to FOLDER.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

start_server
mkdir -p "$root/build/browser"
export HOME=$work MPIN_BACKEND=$backend MPIN_MAILS=$work/mail MPIN_PICTURES=$root/build/browser
export MPIN_EXAMPLE=$root/build/mpin-example MPIN_SERVER=$root/build/mpind
[ -z "${SCREENSHOTS:-}" ] || SCREENSHOTS=$(realpath -m "$SCREENSHOTS")
export MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python PYTHONDONTWRITEBYTECODE=1
folder=$(dirname "$0")
"$root/build/browser-venv/bin/python" -m pytest -q -W error -p no:cacheprovider \
    "$folder/test_browser.py" "$folder/test_pages.py" "$@"
stop_server

#!/usr/bin/env bash
# Tests the PIN pad of bindings/js in headless Chromium. Screenshots go to build/browser; with SCREENSHOTS=FOLDER in the
# environment, one for the documentation also goes to FOLDER.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$root/build/browser"
# The helpers of the other browser tests want to know a server. This test has a server of its own.
export HOME=$work MPIN_BACKEND=http://127.0.0.1 MPIN_MAILS=$work MPIN_PICTURES=$root/build/browser
export MPIN_CLIENT=$root/bindings/js MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python
export PYTHONDONTWRITEBYTECODE=1
"$root/build/browser-venv/bin/python" -m pytest -q -W error -p no:cacheprovider "$root/Tests/EndToEnd/test_mpin_pad.py" "$@"
[ -z "${SCREENSHOTS:-}" ] || cp "$root/build/browser/mpin-pad-en.png" "$SCREENSHOTS/mpin-pad.png"

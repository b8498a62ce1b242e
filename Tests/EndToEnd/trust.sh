#!/usr/bin/env bash
# Tests the server for clients of MIRACL Trust: every flow, with both D-TAs, the RPS and the RPA in processes of their own.
# The arguments are those of pytest.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
export MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python:$root/Tests/EndToEnd PYTHONDONTWRITEBYTECODE=1
export SWIFT_BACKTRACE=enable=no
exec "$root/build/oidc-venv/bin/python" -m pytest -q -W error -p no:cacheprovider -p trust_server \
    "$root"/Tests/EndToEnd/test_trust_*.py "$@"

#!/usr/bin/env bash
# Runs three tests, and one of the ports that all tests use: every flow of Milagro's client and of its browser with our real servers; the website of
# docs/log-your-users-in.md, exactly as it is written there; our servers together with stand-ins for Milagro's servers,
# which send recorded answers.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python:$root/Tests/EndToEnd
export PYTHONDONTWRITEBYTECODE=1 SWIFT_BACKTRACE=enable=no
/usr/bin/python3 -m pytest -q -W error -p no:cacheprovider "$root/Tests/EndToEnd/test_old_client.py" \
    "$root/Tests/EndToEnd/test_guide.py" "$root/Tests/EndToEnd/test_old_peers.py" "$root/Tests/EndToEnd/test_ports.py" "$@"

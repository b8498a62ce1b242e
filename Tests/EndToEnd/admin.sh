#!/usr/bin/env bash
# Tests the admin API of a running server: its tokens and their command, the examples of docs/admin-api.md, one-time
# passwords from a real client, and a restore.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

free_ports 1
read -r admin_port <&"$ports"
export MPIN_LIBRARY=$root/build/libmpin.so PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$root/bindings/python:$root/Tests/EndToEnd
start_server --force-activate --admin-listen "127.0.0.1:$admin_port"
export MPIN_BACKEND=$backend MPIN_ADMIN=http://127.0.0.1:$admin_port MPIN_WORK=$work MPIN_SERVER_PID=$server_pid
/usr/bin/python3 -m pytest -q -W error -p no:cacheprovider "$root/Tests/EndToEnd/test_admin.py" "$@"
stop_server

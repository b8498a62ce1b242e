#!/usr/bin/env bash
# Starts a real mpind and drives full logins against it from a process of its own. Arguments go to mpin-load.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

start_server --force-activate --log-level error
"$root/.build/release/mpin-load" --url "$backend" --pid "$server_pid" --max-units 110000 --max-megabytes 60 "$@"
stop_server

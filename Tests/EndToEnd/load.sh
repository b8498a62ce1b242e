#!/usr/bin/env bash
# Starts a real mpind and makes whole logins at it from a separate process, mpin-load, which gets the arguments.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

log_level=error start_server --force-activate
"$root/.build/release/mpin-load" --url "$backend" --pid "$server_pid" --max-units 110000 --max-megabytes 60 "$@"
stop_server

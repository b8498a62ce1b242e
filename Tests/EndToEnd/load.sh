#!/usr/bin/env bash
# Starts a real mpind, and runs mpin-load, a separate process that registers and logs in many users at it. The arguments
# of this script are passed on to mpin-load.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

# The limit of memory was 60 MB before mpind contained the OpenID provider. jwt-kit and the libraries that it needs make
# the program 7 MB larger, and 4 MB of this are in memory after the start.
log_level=error start_server --force-activate
"$root/.build/release/mpin-load" --url "$backend" --pid "$server_pid" --max-units 110000 --max-megabytes 65 "$@"
stop_server

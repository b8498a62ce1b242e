#!/usr/bin/env bash
# Starts a real mpind, and runs mpin-load, a separate process that registers and logs in many users at it. The arguments
# of this script are passed on to mpin-load.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

cat >"$work/clients.yaml" <<CLIENTS
- id: load
  auth-method: none
  redirect-uri: [http://127.0.0.1/callback]
  first-party: true
CLIENTS
# Most of the memory is the program itself and its libraries.
log_level=error start_server --force-activate --clients "$work/clients.yaml"
"$root/.build/release/mpin-load" --url "$backend" --pid "$server_pid" --client load --max-times 2.6 \
    --max-units 110000 --max-megabytes 75 "$@"
stop_server

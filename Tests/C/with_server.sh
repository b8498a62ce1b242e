#!/usr/bin/env bash
# Runs programs one after the other, each with the base URL of a real server as its argument. The server confirms every
# registration at once.
# usage: with_server.sh PROGRAM...
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/../EndToEnd/server.sh"

start_server --force-activate
for program in "$@"; do
    $program "$backend"
done
stop_server

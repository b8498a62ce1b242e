#!/usr/bin/env bash
# Builds the Swift example, which is a separate package that depends on this one, and registers and logs in with it.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

swift build -c release --package-path "$root/bindings/swift" --scratch-path "$root/.build-swift" >"$work/build.log" 2>&1 ||
    { tail -n 40 "$work/build.log"; exit 1; }
login=$root/.build-swift/release/login

start_server
printf '1234\n' | "$login" register "$backend" "$work/store" dora@example.com &
registration=$!
open_mailed_link
wait "$registration"
[ "$(printf '1234\n' | "$login" login "$backend" "$work/store" dora@example.com)" = OK ]
said=$(printf '4321\n' | "$login" login "$backend" "$work/store" dora@example.com || true)
[ "$said" = INCORRECT_PIN ]
stop_server
echo "3 passed, 0 failed"

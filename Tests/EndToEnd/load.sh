#!/usr/bin/env bash
# Starts a real mpind, and runs mpin-load, a separate process that registers and logs in many users at it. The arguments
# of this script are passed on to mpin-load. With STORE=postgres, mpind keeps its state in a PostgreSQL server, and
# with STORE=redis what is good for minutes in a Redis server beside it. With STORE=pooler it reaches PostgreSQL through
# pgbouncer, which gives each transaction another connection.
#
# A login by the OpenID provider and one of MIRACL Trust's clients may cost so many plain ones. With stores on sockets they
# may cost more, because they ask them more often.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

cat >"$work/clients.yaml" <<CLIENTS
- id: load
  auth-method: none
  redirect-uri: [http://127.0.0.1/callback]
  first-party: true
CLIENTS
store=() times=2.2 trust_times=1.35
if [ "${STORE:-sqlite}" != sqlite ]; then
    exec {database}< <(tail -f /dev/null --pid $$ | "$root/Tests/StoreEngines/postgres.sh" 2>"$work/postgres.log")
    read -r url <&"$database"
    [ "$STORE" != pooler ] || url="$url&port=6432&prepared=off"
    short_lived=$url
    if [ "$STORE" = redis ]; then
        exec {redis}< <(tail -f /dev/null --pid $$ | "$root/Tests/StoreEngines/redis.sh" 2>"$work/redis.log")
        read -r short_lived <&"$redis"
    fi
    times=3 trust_times=1.6
    store=(--database "$url" --short-lived-store "$short_lived" --signals "$short_lived")
fi
free_ports 1
read -r admin_port <&"$ports"
# Most of the memory is the program itself and its libraries.
log_level=error start_server --force-activate --trust --admin-listen "127.0.0.1:$admin_port" --clients "$work/clients.yaml" "${store[@]}"
place=(--database "${url:-$work/state/rps.sqlite}" --service-key-file "$work/state/rps.key")
"$root/build/mpind" project add load-app "${place[@]}" >/dev/null
"$root/build/mpind" project token add load-app load "${place[@]}" | tail -n 1 >"$work/project.token"
"$root/.build/release/mpin-load" --url "$backend" --pid "$server_pid" \
    --metrics-url "http://127.0.0.1:$admin_port" --client load --max-times "$times" \
    --project load-app --project-token-file "$work/project.token" --max-trust-times "$trust_times" \
    --max-units 110000 --max-megabytes 80 "$@"
stop_server

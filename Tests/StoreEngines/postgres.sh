#!/usr/bin/env bash
# Starts a PostgreSQL server with an empty database, in a folder of its own, and prints the database's URL. The server
# listens on a socket in this folder, on no port. With "&port=6432" the URL leads through pgbouncer, which gives each
# transaction one of two connections. Both end, and the folder is deleted, when the input of this script ends: also when
# the program that started the script was killed.
# usage: postgres.sh [-c NAME=VALUE]...   settings of the server
#        postgres.sh again FOLDER         starts the server of that folder again, after it was killed
#        postgres.sh standby FOLDER [HOST [-c NAME=VALUE]...]   starts a synchronous standby of that server in FOLDER/standby,
#                                         which reaches it at HOST
#        postgres.sh promote FOLDER       makes the standby a server that takes writes
set -euo pipefail
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
# PostgreSQL refuses to run as root.
as=()
[ "$(id -u)" -ne 0 ] || as=(runuser -u postgres --)

# start [SETTING]...: starts the server in this folder.
start() {
    "${as[@]}" "$bin/pg_ctl" -D data -w -l "$PWD/log" -o "-k $PWD -c listen_addresses='' $*" start >&2 </dev/null ||
        { cat log >&2 && exit 1; }
}

if [ "${1:-}" = again ]; then
    cd "$2" && start
    exit
fi
if [ "${1:-}" = standby ]; then
    cd "$2"
    "${as[@]}" mkdir standby
    # The standby connects with the same words. Without connect_timeout it may need two minutes after the network was cut.
    "${as[@]}" "$bin/pg_basebackup" -d "host=${3:-$2} user=mpin connect_timeout=2" -D standby/data --no-sync \
        --write-recovery-conf --checkpoint=fast >&2
    cd standby && start -c wal_receiver_status_interval=1s "${@:4}"
    "${as[@]}" "$bin/psql" -qXt -h "$2" -U mpin mpin -c "ALTER SYSTEM SET synchronous_standby_names = '*'" \
        -c "SELECT pg_reload_conf()" >&2
    until [ "$("${as[@]}" "$bin/psql" -qXtA -h "$2" -U mpin mpin -c 'SELECT sync_state FROM pg_stat_replication')" = sync ]; do
        sleep 0.05
    done
    exit
fi
if [ "${1:-}" = promote ]; then
    cd "$2/standby"
    "${as[@]}" "$bin/pg_ctl" -D data -w promote >&2
    exit
fi
folder=$(mktemp -d)
[ "$(id -u)" -ne 0 ] || chown postgres "$folder"
pooler=
stop() {
    kill "$pooler" 2>/dev/null || true
    for data in "$folder/data" "$folder/standby/data"; do
        [ ! -d "$data" ] || "${as[@]}" "$bin/pg_ctl" -D "$data" -m immediate stop >&2 || true
    done
    rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
"${as[@]}" "$bin/initdb" --no-sync --auth=trust --username=mpin --encoding=UTF8 --locale=C -D data >/dev/null
start "$@"
"${as[@]}" "$bin/createdb" -h "$folder" -U mpin mpin
cat >pgbouncer.ini <<SETTINGS
[databases]
* = host=$folder port=${PGPORT:-5432} user=mpin
[pgbouncer]
unix_socket_dir = $folder
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 2
server_idle_timeout = 1
SETTINGS
"${as[@]}" /usr/sbin/pgbouncer --quiet pgbouncer.ini >pgbouncer.log 2>&1 </dev/null &
pooler=$!
until [ -S .s.PGSQL.6432 ]; do kill -0 "$pooler" || exit 1; sleep 0.01; done
echo "postgres:///mpin?host=$folder&user=mpin"
cat >/dev/null

#!/usr/bin/env bash
# Starts etcd and two PostgreSQL servers, a and b, that Patroni runs, each the other's synchronous standby, in a folder of its
# own, and prints the database's URL, in whose order of hosts a comes first. They listen on loopback ports, with a password.
# All end, and the folder is deleted, when the input of this script ends: also when the program that started the script was
# killed.
# Lines of input, each of which is answered by a line when it is done:
#   kill NAME    kills a Patroni and its PostgreSQL (SIGKILL)
#   start NAME   starts that Patroni again, which makes its PostgreSQL the standby of the other, if that is the primary
#   switch NAME  makes NAME the primary; the old one lives and becomes its standby
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
# PostgreSQL refuses to run as root. setpriv becomes the program, so that its process can be killed.
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=postgres --regid=postgres --init-groups --)
folder=$(mktemp -d)
declare -A pids=()
stop() {
    # Patroni first: it would start its PostgreSQL again.
    kill -KILL "${pids[@]}" 2>/dev/null || true
    for name in a b; do
        [ ! -d "$folder/$name/data" ] || "${as[@]}" "$bin/pg_ctl" -D "$folder/$name/data" -m immediate stop >&2 || true
    done
    rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
mkdir a b etcd
password=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')

# The ports belong to this script while it runs, because the pipe stays open.
exec {free}< <(/usr/bin/python3 -B "$root/Tests/EndToEnd/ports.py" 6)
declare -A ports=() rest=()
read -r client peer ports[a] ports[b] rest[a] rest[b] <&"$free"

# configure NAME: writes the settings of a Patroni. A primary counts as lost after `ttl` seconds, of which 20 is the least.
configure() {
    cat >"$1/patroni.yml" <<SETTINGS
scope: mpin
name: $1
etcd3: {host: "127.0.0.1:$client"}
restapi: {listen: "127.0.0.1:${rest[$1]}", connect_address: "127.0.0.1:${rest[$1]}"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    synchronous_mode: true
    postgresql: {use_pg_rewind: true}
  initdb: [{encoding: UTF8}, {locale: C}, no-sync]
postgresql:
  listen: 127.0.0.1:${ports[$1]}
  connect_address: 127.0.0.1:${ports[$1]}
  bin_dir: $bin
  data_dir: $folder/$1/data
  pgpass: $folder/$1/pgpass
  basebackup: [{checkpoint: fast}]
  authentication:
    superuser: {username: mpin, password: $password}
    replication: {username: replica, password: $password}
  parameters: {unix_socket_directories: $folder/$1}
  pg_hba:
    - host all mpin 127.0.0.1/32 scram-sha-256
    - host replication replica 127.0.0.1/32 scram-sha-256
SETTINGS
}

# serve NAME
serve() {
    "${as[@]}" env -u PYTHONPATH patroni "$folder/$1/patroni.yml" >>"$1/log" 2>&1 </dev/null &
    pids[$1]=$!
}

# kill_all NAME: kills a Patroni, its PostgreSQL, and all processes of that.
kill_all() {
    local main
    main=$(head -n 1 "$1/data/postmaster.pid")
    kill -KILL "${pids[$1]}"
    # A process for a connection may have ended since.
    # shellcheck disable=SC2046 # a list of numbers
    kill -KILL "$main" $(cat "/proc/$main/task/$main/children") 2>/dev/null || true
    wait "${pids[$1]}" || true
    while [ -e "/proc/$main" ]; do sleep 0.01; done
}

# until_says TEXT QUERY: waits until the primary's answer is this text, at most two minutes.
until_says() {
    local end=$((SECONDS + 120))
    until [ "$(psql -qXtA --dbname="$place" -c "$2" 2>/dev/null)" = "$1" ]; do
        [ $SECONDS -lt $end ] || { tail -n 50 a/log b/log >&2 && exit 1; }
        sleep 0.1
    done
}

configure a
configure b
umask 077
echo "*:*:*:mpin:$password" >pgpass
umask 022
[ "$(id -u)" -ne 0 ] || chown -R postgres "$folder"/{a,b,etcd} "$folder"
chmod 600 a/patroni.yml b/patroni.yml
"${as[@]}" etcd --data-dir "$folder/etcd" --listen-client-urls "http://127.0.0.1:$client" \
    --advertise-client-urls "http://127.0.0.1:$client" --listen-peer-urls "http://127.0.0.1:$peer" \
    --initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "default=http://127.0.0.1:$peer" \
    >etcd.log 2>&1 </dev/null &
pids[etcd]=$!
until etcd_says=$(curl -fs "http://127.0.0.1:$client/health") && [[ "$etcd_says" == *'"true"'* ]]; do
    kill -0 "${pids[etcd]}" || { cat etcd.log >&2 && exit 1; }
    sleep 0.05
done
hosts=127.0.0.1:${ports[a]},127.0.0.1:${ports[b]}
place="postgresql://mpin@$hosts/postgres?passfile=$folder/pgpass&target_session_attrs=read-write"
serve a
until_says f 'SELECT pg_is_in_recovery()'
psql -qX --dbname="$place" -c 'CREATE DATABASE mpin'
serve b
until_says sync 'SELECT sync_state FROM pg_stat_replication'
echo "postgres://mpin@$hosts/mpin?passfile=$folder/pgpass"
while read -r what name; do
    case $what in
    kill) kill_all "$name" ;;
    start) serve "$name" ;;
    switch) env -u PYTHONPATH patronictl -c "$folder/$name/patroni.yml" switchover mpin --candidate "$name" --force >>patronictl.log 2>&1 ;;
    *) exit 1 ;;
    esac
    echo "$what $name"
done

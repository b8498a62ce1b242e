#!/usr/bin/env bash
# Starts two Redis servers, a primary and its replica, and three Sentinels, in a folder of its own, and prints their URL. All
# end, and the folder is deleted, when the input of this script ends.
# A line of input kills the primary. When the Sentinels have made the replica the primary, the URL is printed again.
# usage: sentinel.sh PASSFILE   the file with the password of all of them
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
declare -A pids=() ports=()
stop() {
    kill -KILL "${pids[@]}" 2>/dev/null || true
    rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
password=$(head -n 1 "$1")
export REDISCLI_AUTH=$password

# The ports belong to this script while it runs, because the pipe stays open.
exec {free}< <(/usr/bin/python3 -B "$root/Tests/EndToEnd/ports.py" 5)
read -r ports[a] ports[b] ports[one] ports[two] ports[three] <&"$free"

ask() { redis-cli -p "${ports[$1]}" "${@:2}" 2>/dev/null; }

# serve NAME [MODE]: starts a server with the settings in NAME/redis.conf.
serve() {
    redis-server "$folder/$1/redis.conf" ${2:+"$2"} --port "${ports[$1]}" >"$1/log" 2>&1 </dev/null &
    pids[$1]=$!
    until ask "$1" ping >/dev/null; do kill -0 $! || { cat "$1/log" >&2 && exit 1; }; sleep 0.01; done
}

# configure NAME LINE...: writes NAME/redis.conf.
configure() {
    mkdir "$1"
    printf '%s\n' 'bind 127.0.0.1' "dir $folder/$1" "requirepass \"$password\"" "${@:2}" >"$1/redis.conf"
}

# until_equal TEXT COMMAND...: waits until the command prints the text, at most a minute.
until_equal() {
    local end=$((SECONDS + 60))
    until [ "$("${@:2}" | tr -d '\r')" = "$1" ]; do
        [ $SECONDS -lt $end ] || { echo "not within a minute: $*" >&2 && exit 1; }
        sleep 0.05
    done
}
link() { ask "$1" info replication | grep -E '^(role|master_link_status):' | tr -d '\r' | tr '\n' ' '; }
known() { ask "$1" sentinel replicas mpin | grep -c '^slave-priority' || true; }
primary() { ask "$1" sentinel get-master-addr-by-name mpin | tail -n 1; }

print_url() {
    echo "redis://127.0.0.1:${ports[one]},127.0.0.1:${ports[two]},127.0.0.1:${ports[three]}/0?sentinel=mpin&passfile=$1&sentinel-passfile=$1"
}

configure a 'save ""' "masterauth \"$password\""
serve a
configure b 'save ""' "masterauth \"$password\"" "replicaof 127.0.0.1 ${ports[a]}"
serve b
until_equal 'role:slave master_link_status:up ' link b
for name in one two three; do
    configure $name "sentinel monitor mpin 127.0.0.1 ${ports[a]} 2" "sentinel auth-pass mpin \"$password\"" \
        "sentinel sentinel-pass \"$password\"" 'sentinel down-after-milliseconds mpin 500' 'sentinel failover-timeout mpin 3000'
    serve $name --sentinel
done
for name in one two three; do
    until_equal 1 known $name
    until_equal 2 bash -c "redis-cli -p ${ports[$name]} sentinel sentinels mpin | grep -c '^runid' || true"
done
print_url "$1"
read -r _
kill -KILL "${pids[a]}"
for name in one two three; do until_equal "${ports[b]}" primary $name; done
print_url "$1"
cat >/dev/null

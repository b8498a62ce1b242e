#!/usr/bin/env bash
# Starts an empty Redis server in a folder of its own, and prints its URL. It listens on a socket in this folder, on no port.
# It ends, and the folder is deleted, when the input of this script ends: also when the program that started the script
# was killed.
# A line of input starts the server again after it was killed, and the URL is printed again.
# usage: redis.sh [--NAME VALUE]...   settings of the server
set -euo pipefail

# start: starts the server in this folder, with the settings of the file. Its socket is there a little before it can be used.
start() {
    rm -f redis.sock
    redis-server "$PWD/redis.conf" >log 2>&1 </dev/null &
    echo $! >pid
    until redis-cli -s redis.sock ping >/dev/null 2>&1; do kill -0 $! || { cat log >&2 && exit 1; }; sleep 0.01; done
}

folder=$(mktemp -d)
stop() {
    kill -CONT "$(cat "$folder/pid")" 2>/dev/null || true
    kill -KILL "$(cat "$folder/pid")" 2>/dev/null || true
    rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
printf '%s\n' "port 0" "unixsocket $folder/redis.sock" "dir $folder" 'save ""' >redis.conf
while [ $# -gt 1 ]; do
    echo "${1#--} $2" >>redis.conf
    shift 2
done
start
echo "redis:///0?socket=$folder/redis.sock"
while read -r _; do
    wait "$(cat pid)" || true
    start
    echo "redis:///0?socket=$folder/redis.sock"
done

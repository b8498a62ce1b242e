#!/usr/bin/env bash
# Runs a program as the first one of a machine without a network, with processes, mounts and /run of its own. Needs root. All
# that it started ends with it.
# usage: cut.sh PROGRAM [ARGUMENT]...
set -euo pipefail
[ -n "${MPIN_APART-}" ] || MPIN_APART=1 exec unshare --mount --net --pid --fork --kill-child --mount-proc \
    --propagation private "$0" "$@"
mount -t tmpfs -o mode=755 tmpfs /run
# Not exec: this shell takes in the processes whose parents have ended.
status=0
"$@" || status=$?
exit "$status"

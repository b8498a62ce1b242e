#!/bin/sh
# Installs the missing packages of debian-packages.txt. Without root, it prints the command to run instead, and fails.
set -eu
list=$(dirname "$0")/debian-packages.txt
missing=
for package in $(grep -v '^#' "$list"); do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "Debian packages are missing. Run this line, then make again:" >&2
    echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi
echo "installing:$missing"
apt-get update -qq
# shellcheck disable=SC2086 # $missing is a list of words, so it is not quoted
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null

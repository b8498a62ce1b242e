#!/bin/sh
# Checks the systemd unit, and that it restricts the server as far as possible.
# usage: units.sh MPIND
set -eu
mpind=$(realpath "$1")
unit=$(dirname "$0")/../../Sources/Packaging/systemd/mpind@.service
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for part in dta rps rpa serve; do
    # Before it is installed, the program is in another folder.
    sed "s|/usr/bin/mpind|$mpind|; s|%i|$part|g; s|mpind-$part\$|daemon|" "$unit" > "$folder/mpind-$part.service"
    said=$(systemd-analyze verify --man=no "$folder/mpind-$part.service" 2>&1)
    [ -z "$said" ] || { echo "$said" >&2; exit 1; }
    # The exposure may be 1.5 of 10. The rest is mainly the access to the network, which the server needs.
    systemd-analyze security --offline=yes --threshold=15 --no-pager "$folder/mpind-$part.service" > "$folder/security" ||
        { cat "$folder/security" >&2; exit 1; }
    tail -n 1 "$folder/security"
done

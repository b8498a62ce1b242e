#!/bin/sh
# Checks the systemd unit, and that it restricts the server as far as possible.
# usage: units.sh MPIND
set -eu
mpind=$(realpath "$1")
unit=$(dirname "$0")/../../Sources/Packaging/systemd/mpind@.service
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for part in dta rps rpa serve; do
    # In the test, the program is not installed in /usr/bin, so its path is replaced.
    sed "s|/usr/bin/mpind|$mpind|; s|%i|$part|g; s|mpind-$part\$|daemon|" "$unit" > "$folder/mpind-$part.service"
    said=$(systemd-analyze verify --man=no "$folder/mpind-$part.service" 2>&1)
    [ -z "$said" ] || { echo "$said" >&2; exit 1; }
    # systemd rates the exposure of a service from 0 to 10. More than 1.5 is an error here. A rating of 0 is not
    # possible, mainly because the server needs the network.
    systemd-analyze security --offline=yes --threshold=15 --no-pager "$folder/mpind-$part.service" > "$folder/security" ||
        { cat "$folder/security" >&2; exit 1; }
    tail -n 1 "$folder/security"
done

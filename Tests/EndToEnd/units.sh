#!/bin/sh
# The systemd unit is good, and keeps the server in as small a cage as it can live in.
# usage: units.sh MPIND
set -eu
mpind=$(realpath "$1")
unit=$(dirname "$0")/../../Sources/Packaging/systemd/mpind@.service
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for part in dta rps rpa serve; do
    # The program lies elsewhere before it is installed.
    sed "s|/usr/bin/mpind|$mpind|; s|%i|$part|g; s|mpind-$part\$|daemon|" "$unit" > "$folder/mpind-$part.service"
    said=$(systemd-analyze verify --man=no "$folder/mpind-$part.service" 2>&1)
    [ -z "$said" ] || { echo "$said" >&2; exit 1; }
    # 1.5 of 10; what is left is that it may use the network.
    systemd-analyze security --offline=yes --threshold=15 --no-pager "$folder/mpind-$part.service" > "$folder/security" ||
        { cat "$folder/security" >&2; exit 1; }
    tail -n 1 "$folder/security"
done

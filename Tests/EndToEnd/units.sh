#!/bin/sh
# Checks the systemd units of all parts: what they run, that systemd reads them, and that they restrict the server as far
# as possible.
# usage: units.sh MPIND
set -eu
mpind=$(realpath "$1")
packaging=$(realpath "$(dirname "$0")/../../Sources/Packaging")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0

# runs NAME: what the unit of $part has as the last value of NAME, which is the one that counts.
runs() {
    find "$folder/mpind@.service" "$folder/mpind@$part.service.d" -type f 2>/dev/null | sort | xargs cat |
        sed -n "s/^$1=//p" | tail -n 1 | sed "s|%i|$part|g"
}

for part in dta dta1 dta2 rps rpa serve; do
    # The units with a number differ from the others by a file that systemd reads after the unit.
    for file in "mpind@.service" "mpind@$part.service.d/part.conf"; do
        [ -e "$packaging/systemd/$file" ] || continue
        mkdir -p "$(dirname "$folder/$file")"
        # In the test, the program is not installed in /usr/bin, so its path is replaced, and there are no such users.
        sed "s|/usr/bin/mpind|$mpind|; s|mpind-%i\$|daemon|" "$packaging/systemd/$file" >"$folder/$file"
    done
    unit=$folder/mpind@$part.service
    ln -s "mpind@.service" "$unit"
    said=$(systemd-analyze verify --man=no "$unit" 2>&1)
    [ -z "$said" ] || { echo "$said" >&2; exit 1; }
    # systemd rates the exposure of a service from 0 to 10. More than 1.5 is an error here. A rating of 0 is not
    # possible, mainly because the server needs the network.
    systemd-analyze security --offline=yes --threshold=15 --no-pager "$unit" > "$folder/security" ||
        { cat "$folder/security" >&2; exit 1; }
    tail -n 1 "$folder/security"

    command=${part%[12]}
    [ "$(runs ExecStart)" = "$mpind $command --config /etc/mpind/$part.yaml" ] || { runs ExecStart >&2; exit 1; }
    check=$(runs ExecStartPre | sed "s|/etc/mpind/$part.yaml|$packaging/config/$command.yaml|")
    # shellcheck disable=SC2086 # several words
    $check
    grep -q "^u mpind-$part " "$packaging/systemd/mpind-sysusers.conf"
    grep -q "^d /var/lib/mpind/$part *0700 mpind-$part *mpind-$part$" "$packaging/systemd/mpind-tmpfiles.conf"
    passed=$((passed + 1))
done
echo "$passed passed"

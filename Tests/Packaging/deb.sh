#!/usr/bin/env bash
# Installs the packages and the wheel in a new Debian 12 without Swift, logs in at the installed server with mpin-cli,
# the C example and the Python example, and removes everything again. Needs root. Its mounts, processes and network are
# separate from those of this machine.
# usage: deb.sh DEBIAN.TAR
set -euo pipefail
[ -n "${MPIN_APART-}" ] || MPIN_APART=1 exec unshare --mount --pid --fork --kill-child --mount-proc --propagation private "$0" "$@"

tree=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
debian=$work/debian
version=$(sed -n 's/^#define MPIN_VERSION "\(.*\)"/\1/p' "$tree/include/mpin.h")
backend=http://127.0.0.1:8005
server_pid=
trap 'echo "failed in line $LINENO"' ERR
trap 'umount -R "$debian/proc" "$debian/var/cache/apt/archives" "$work/network" 2>/dev/null; rm -rf --one-file-system "$work"' EXIT

# shellcheck source=Tests/ok.sh
. "$tree/Tests/ok.sh"

inside() { chroot "$debian" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
offline() { nsenter --net="$work/network" "$@"; }
# package NAME: prints the path of one of our packages inside the new Debian.
package() { echo "/packages/$1_$version-1_$(dpkg --print-architecture).deb"; }
install() { inside apt-get install -y -qq --no-install-recommends "$@" >"$work/apt.log" 2>&1 || { cat "$work/apt.log"; exit 1; }; }

# Unpacks the archive of a new Debian. The packages that apt-get downloads are kept in build/apt-archives for the next
# run.
unpack_debian() {
    mkdir -p "$debian" "$tree/build/apt-archives"
    tar -C "$debian" --numeric-owner -xf "$1"
    mount -t proc proc "$debian/proc"
    mount --bind "$tree/build/apt-archives" "$debian/var/cache/apt/archives"
    cp /etc/resolv.conf "$debian/etc/resolv.conf"
    mkdir "$debian/packages"
    cp "$tree"/build/dist/*.deb "$tree"/build/dist/*.whl "$debian/packages"
    inside apt-get update -qq
}

isolate_network() {
    touch "$work/network"
    unshare --net="$work/network" true
    offline ip link set lo up
}

# Starts the server with the command line of the installed unit and as its user, as systemd would do.
start_server() {
    local command
    command=$(sed -n 's/^ExecStart=//p' "$debian/lib/systemd/system/mpind@.service" | sed 's/%i/serve/g')
    # Does not use the function `offline` here: a function in the background runs in a shell of its own, and the signal
    # that ends the server would go to that shell. $command is not quoted, because it consists of several words.
    # shellcheck disable=SC2086
    nsenter --net="$work/network" chroot --userspec=mpind-serve:mpind-serve "$debian" $command 2>>"$work/mpind.log" &
    server_pid=$!
    for _ in $(seq 100); do
        offline curl -fs -o /dev/null "$backend/rps/clientSettings" && return
        kill -0 "$server_pid" || break
        sleep 0.1
    done
    cat "$work/mpind.log"
    return 1
}

stop_server() {
    kill "$server_pid"
    wait "$server_pid"
}

open_mailed_link() {
    local mail
    for _ in $(seq 100); do
        mail=$(find "$debian/var/lib/mpind/serve/mail" -name '*.eml' | head -n 1)
        [ -z "$mail" ] || break
        sleep 0.1
    done
    offline curl -fsS -o /dev/null -X POST "$(tr -d '\r' <"$mail" | grep -o "^$backend/mpinActivate?.*")"
    rm "$mail"
}

# by CODE PIN COMMAND...: runs a client in the new Debian with this PIN and checks its exit code.
by() {
    local expected=$1 pin=$2 status=0
    shift 2
    printf '%s\n' "$pin" | offline chroot "$debian" "$@" >"$work/said" 2>&1 || status=$?
    [ "$status" -eq "$expected" ] || { echo "$*: exit code $status, expected $expected"; cat "$work/said" "$work/mpind.log"; exit 1; }
}

# Uses an example to register a user, open the link, and log in with a wrong PIN and with the right one.
example() {
    local user=$1 registration
    shift
    by 0 1234 "$@" register "$user" &
    registration=$!
    open_mailed_link
    wait "$registration"
    by 3 4321 "$@" login "$user"
    by 0 1234 "$@" login "$user"
}

unpack_debian "$1"
isolate_network
there=$(find "$debian" -xdev -not -path "*/packages/*" \( -name "*swift*" -o -name "*mpin*" \))
[ -z "$there" ] || { echo "there already: $there"; exit 1; }
ok "a Debian $(cat "$debian/etc/debian_version") without Swift"

install "$(package libmpin1)" "$(package mpind)" "$(package mpin-cli)"
for program in mpind mpin-cli; do inside "$program" --version >/dev/null; done
for file in /usr/bin/mpind /usr/bin/mpin-cli "/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/libmpin.so.1"; do
    inside ldd "$file" >"$work/needed"
    if grep -E 'not found|swift' "$work/needed"; then exit 1; fi
done
ok "packages installed with what they depend on; the programs start"
for part in dta rps rpa serve; do
    [ "$(inside stat -c '%a %U %G' "/var/lib/mpind/$part")" = "700 mpind-$part mpind-$part" ]
    inside mpind config check "$part" --config "/etc/mpind/$part.yaml" >/dev/null
    sed "s/%i/$part/g" "$debian/lib/systemd/system/mpind@.service" >"$debian/run/mpind-$part.service"
    inside systemd-analyze verify --man=no "/run/mpind-$part.service"
done
ok "users, folders, configurations and systemd units of all parts"

start_server
by 5 '' mpin-cli register carol@example.com --wait 0 --backend $backend --pin-fd 0
open_mailed_link
by 0 1234 mpin-cli confirm carol@example.com --backend $backend --pin-fd 0
by 3 4321 mpin-cli login carol@example.com --backend $backend --pin-fd 0
by 0 1234 mpin-cli login carol@example.com --backend $backend --pin-fd 0
ok "mpin-cli: registered, wrong PIN refused, logged in"

install "$(package libmpin-dev)" gcc libc6-dev make pkg-config
inside cp -r /usr/share/doc/libmpin-dev/examples /root/examples
inside make -s -C /root/examples
cp "$tree/Tests/C/self_test.c" "$debian/root"
inside sh -c 'cc -std=c99 -o /root/self-test /root/self_test.c $(pkg-config --cflags --libs mpin) && /root/self-test' >/dev/null
ok "libmpin-dev: the example and the self test built in there; known answers"
example alice@example.com /root/examples/mpin-example --backend $backend --store /root/alice.store
ok "C example: registered, wrong PIN refused, logged in"

inside dpkg --purge libmpin-dev libmpin1 >/dev/null
install python3-venv
inside python3 -m venv /root/venv
inside sh -c '/root/venv/bin/pip install --quiet --no-index /packages/*.whl'
cp "$tree/bindings/python/examples/login.py" "$debian/root"
example bob@example.com /root/venv/bin/python /root/login.py --backend $backend --store /root/bob.store
ok "Python example, by the wheel alone: registered, wrong PIN refused, logged in"

stop_server
inside dpkg --install --force-confnew "$(package mpind)" >/dev/null
start_server
by 0 1234 mpin-cli login carol@example.com --backend $backend --pin-fd 0
stop_server
ok "an upgrade keeps what the server knows"

inside dpkg --remove mpind mpin-cli >/dev/null
[ ! -e "$debian/usr/bin/mpind" ]
[ -e "$debian/etc/mpind/serve.yaml" ]
[ -e "$debian/var/lib/mpind/serve" ]
ok "removed: configuration and state stay"
inside dpkg --purge mpind >/dev/null
# Removes what did not come from the packages, then checks that no file with "mpin" in its name is left.
rm -r "$debian/packages" "$debian/root" "$debian/run"/mpind-*
left=$(find "$debian" -xdev -name '*mpin*')
[ -z "$left" ] || { echo "left: $left"; exit 1; }
ok "purged: nothing is left"
echo "$passed passed, 0 failed"

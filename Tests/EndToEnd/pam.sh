#!/usr/bin/env bash
# Tests the PAM module with pamtester, and with Debian's sshd and sudo, at a real provider, with our client as the
# phone. Needs root. The mounts and processes are separate from those of this machine: users, services, sshd's folder
# and the socket of the system log exist only here.
# usage: pam.sh [OPTION OF PYTEST]...
set -euo pipefail
[ -n "${MPIN_APART-}" ] ||
    MPIN_APART=1 exec unshare --mount --pid --fork --kill-child --mount-proc --propagation private "$0" "$@"
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

folder=$(cd "$(dirname "$0")" && pwd)
apart=$(mktemp -d)
trap 'leave_nothing; umount -R "$apart/dev" 2>/dev/null || true; rm -rf --one-file-system "$apart"' EXIT

# A copy of /etc, in which the tests add users and services.
make_etc() {
    cp -a /etc "$apart/etc"
    mount --bind "$apart/etc" /etc
    local name number=64000
    for name in mpin-alice mpin-bob; do
        echo "$name:x:$number:$number::/:/bin/sh" >>/etc/passwd
        echo "$name:x:$number:" >>/etc/group
        echo "$name:*:19000:0:99999:7:::" >>/etc/shadow
        number=$((number + 1))
    done
    printf '%s\n' "Defaults passwd_tries=1" "mpin-alice ALL=(ALL) ALL" >>/etc/sudoers
}

# A folder of devices without the socket of the system log.
make_dev() {
    local name
    mkdir "$apart/dev"
    mount --rbind /dev "$apart/dev"
    mount -t tmpfs -o mode=755 tmpfs /dev
    for name in null zero full random urandom tty; do
        touch "/dev/$name"
        mount --bind "$apart/dev/$name" "/dev/$name"
    done
    mkdir /dev/pts /dev/shm
    mount --rbind "$apart/dev/pts" /dev/pts
    mount -t tmpfs tmpfs /dev/shm
    ln -s pts/ptmx /dev/ptmx
    chmod 666 /dev/pts/ptmx
    ln -s /proc/self/fd /dev/fd
}

make_etc
make_dev
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd
ssh-keygen -q -t ed25519 -N "" -f "$apart/host_key"

free_ports 2
read -r proxy_port ssh_port <&"$ports"
python=$root/build/oidc-venv/bin/python
export MPIN_LIBRARY=$root/build/libmpin.so PYTHONPATH=$root/bindings/python:$folder PYTHONDONTWRITEBYTECODE=1
# The tests see and change what goes between module and provider, so the provider's URL is that of their proxy.
public_url=http://127.0.0.1:$proxy_port
secret=$(openssl rand -hex 24)
cat >"$work/clients.yaml" <<END
- {id: host, name: "ssh at this machine", scope: [openid, email], first-party: true,
   secret-sha256: $(printf %s "$secret" | sha256sum | cut -d " " -f 1),
   grant: ["urn:ietf:params:oauth:grant-type:device_code"]}
- {id: public, auth-method: none, scope: [openid, email], first-party: true,
   grant: ["urn:ietf:params:oauth:grant-type:device_code"]}
END
start_server --clients "$work/clients.yaml"
(umask 077 && printf '%s\n' "$secret" >"$apart/secret")
export MPIN_PUBLIC=$public_url MPIN_PROXY_PORT=$proxy_port MPIN_BACKEND=$backend MPIN_MAILS=$work/mail
export MPIN_APART_FOLDER=$apart MPIN_MODULE=$root/build/pam_mpin.so MPIN_SSH_PORT=$ssh_port LC_ALL=C.UTF-8 HOME=$apart
"$python" -m pytest -q -W error -p no:cacheprovider -p pam_fixtures "$folder/test_pam.py" \
    "$folder/test_pam_programs.py" "$@"
stop_server

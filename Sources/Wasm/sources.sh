#!/usr/bin/env bash
# Fetches Debian's source packages of GMP and libsodium into FOLDER, as FOLDER/gmp and FOLDER/libsodium, with Debian's
# patches. Needs no root, and leaves the machine's own package lists alone. Every file must have the SHA-256 that
# sources.sha256 names.
#
#   sources.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
packages=(gmp=2:6.2.1+dfsg1-1.1 libsodium=1.0.18-1+deb12u1)

fetch() {
    mkdir -p apt/state/lists/partial apt/cache/archives/partial
    local signed="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
    cat >apt/sources.list <<LIST
deb-src $signed http://deb.debian.org/debian bookworm main
deb-src $signed http://deb.debian.org/debian-security bookworm-security main
LIST
    local own=(
        -o "Dir::Etc::sourcelist=$PWD/apt/sources.list" -o Dir::Etc::sourceparts=-
        -o "Dir::State=$PWD/apt/state" -o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$PWD/apt/cache"
    )
    apt-get "${own[@]}" -qq update
    apt-get "${own[@]}" -qq source --download-only "${packages[@]}"
    rm -rf apt
}

sha256sum --quiet --check "$here/sources.sha256" >/dev/null 2>&1 || fetch
sha256sum --quiet --check "$here/sources.sha256"
rm -rf gmp libsodium
dpkg-source --no-check --extract gmp_*.dsc gmp >/dev/null
dpkg-source --no-check --extract libsodium_*.dsc libsodium >/dev/null
# Debian leaves out GMP's manual, whose licence is not free for it. configure still wants its makefile. This file is
# the last that is made, so wasm.mk knows by it that the sources are whole.
mkdir -p gmp/doc
: >gmp/doc/Makefile.in

#!/usr/bin/env bash
# Checks the Debian packages in build/dist: Debian's own checks, the hardening of the programs, and that packages that
# are made again have the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=Tests/ok.sh
. Tests/ok.sh
packages=(build/dist/{libmpin1,libmpin-dev,mpind,mpin-cli}_*.deb)
[ "${#packages[@]}" -eq 4 ]

# The suppressed check wants the changelog to close a bug of Debian. These packages are not for Debian's archive.
lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "${packages[@]}"
ok "lintian"

# Checks the dependency on libcurl. The programs load it at the first use, so no tool would find that it is missing.
for package in libmpin1 mpind mpin-cli; do
    depends=$(dpkg-deb -f build/dist/${package}_*.deb Depends)
    [[ $depends == *libcurl4* ]] || { echo "$package: no libcurl4 in $depends"; exit 1; }
done
ok "libcurl is a dependency"

for program in mpind mpin-cli; do
    dpkg-deb --fsys-tarfile build/dist/${program}_*.deb | tar -C "$work" -xf - ./usr/bin
    readelf -hldW "$work/usr/bin/$program" >"$work/elf"
    grep -q 'Type: *DYN' "$work/elf"
    grep -q 'BIND_NOW' "$work/elf"
    grep -q 'GNU_RELRO' "$work/elf"
    grep -q 'GNU_STACK .* RW ' "$work/elf"
    # Uses `if`, because a command with `!` that fails does not end the script.
    if grep -E 'R(UN)?PATH|NEEDED.*swift' "$work/elf"; then exit 1; fi
    ok "$program: PIE, full RELRO, no executable stack, no RUNPATH, no Swift library"
done

sha256sum "${packages[@]}" >"$work/sums"
make --no-print-directory deb-pack >/dev/null
sha256sum --check --quiet "$work/sums"
ok "made again, the same bytes"
echo "$passed passed, 0 failed"

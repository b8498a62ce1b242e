#!/usr/bin/env bash
# Tests the wheel as a user installs it: in a new environment, without network and without our other files. Registers
# and logs in at a real server, first with libcurl and then without.
# usage: wheel.sh PYTHON
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/../EndToEnd/server.sh"
unset MPIN_LIBRARY PYTHONPATH

"$1" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$root"/build/dist/mpin-*.whl
start_server --force-activate
# Puts an empty file in place of libcurl, to test the package without it.
mkdir "$work/without"
: >"$work/without/libcurl.so.4"

cd "$work"
"$work/venv/bin/python" -I "$root/Tests/Packaging/wheel.py" "$backend" "$work/with.store" with
LD_LIBRARY_PATH=$work/without "$work/venv/bin/python" -I "$root/Tests/Packaging/wheel.py" "$backend" "$work/without.store" without
stop_server
for text in libmpin libgmp10 libsodium23 libjansson4 LGPL-3; do
    [ -s "$(echo "$work"/venv/lib/python3*/site-packages/mpin-*.dist-info/licenses/$text)" ] ||
        { echo "no licence $text in the wheel" >&2; exit 1; }
done
echo "wheel: 3 passed"

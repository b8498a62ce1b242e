#!/usr/bin/env bash
# Compiles and runs the C and the Python snippet of README.md, as they stand there but for the port.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

# snippet LANGUAGE: the text of the README's first block in that language.
snippet() {
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```$/ { if (on) exit } on' "$root/README.md" |
        sed "s|http://127.0.0.1:8005|$backend|"
}

start_server --force-activate
cd "$work"

snippet c >login.c
[ -s login.c ]
# shellcheck disable=SC2046 # flags are words
PKG_CONFIG_PATH=$root/build gcc -Wall -Wextra -Werror -o login login.c $(PKG_CONFIG_PATH=$root/build pkg-config --cflags --libs mpin)
[ "$(LD_LIBRARY_PATH=$root/build ./login)" = "logged in" ]
echo "ok: C snippet"

snippet python >login.py
[ -s login.py ]
[ "$(MPIN_LIBRARY=$root/build/libmpin.so "$root/build/venv/bin/python" login.py)" = "logged in" ]
echo "ok: Python snippet"

stop_server
echo "2 passed, 0 failed"

#!/usr/bin/env bash
# Does what README.md says, with its own lines: starts the server, compiles and runs the C snippet, installs the Python
# package and runs the Python snippet. Only the ports differ, and what `make` would build is built already.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"
cd "$work"
ln -s "$root/build" build
ln -s "$root/bindings" bindings
PATH=$root/build/venv/bin:$PATH
# The package's build tools are Debian's: nothing is downloaded.
export PIP_NO_BUILD_ISOLATION=0 PIP_NO_INDEX=1 PIP_QUIET=1

# blocks LANGUAGE: the text of the README's code blocks in that language.
blocks() {
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" |
        sed "s|http://127.0.0.1:8005|$backend|"
}

passed=0
ok() {
    passed=$((passed + 1))
    echo "ok: $1"
}

server=$(blocks sh | grep '^build/mpind ')
$server --port "$port" --private-port "$private_port" --dta1-port "$dta1_port" --dta2-port "$dta2_port" 2>mpind.log &
server_pid=$!
curl -fs --retry 50 --retry-delay 1 --retry-connrefused -o settings.json "$backend/rps/clientSettings"
stop_server
ok "$server"

# The snippets do not wait for a person to open a mail.
start_server --force-activate
blocks c >login.c
blocks python >login.py
while read -r line; do
    case $line in make* | build/mpind*) continue ;; esac
    eval "$line"
    ok "$line"
done < <(blocks sh)
[ "$(./login)" = "logged in" ]
ok "C snippet"
[ "$(python login.py)" = "logged in" ]
ok "Python snippet"
stop_server
echo "$passed passed, 0 failed"

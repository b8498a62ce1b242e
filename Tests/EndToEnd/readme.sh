#!/usr/bin/env bash
# Follows README.md with its own lines: starts the server, registers and logs in from the command line, compiles and
# runs the C snippet, runs the Python snippet, and opens the mails as a user would. The ports differ, and lines that
# begin with `make` are left out, because everything is already built. The script also checks that everything that the
# documents name exists, and that the map of the sources is complete.
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"
cd "$work"
ln -s "$root/build" build
ln -s "$root/bindings" bindings

# blocks LANGUAGE: prints the README's code blocks in that language, with the URL of this server.
blocks() {
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```$/ { on = 0 } on' "$root/README.md" |
        sed "s|http://127.0.0.1:8005|$backend|"
}

# shellcheck source=Tests/ok.sh
. "$root/Tests/ok.sh"

# with_mail OPENER COMMAND...: runs OPENER, which opens the link of the next mail as a user would, while COMMAND waits
# for it.
with_mail() { # opener, command
    local opener=$1 reader
    shift
    "$opener" &
    reader=$!
    "$@" || { echo "$* failed" >&2; return 1; }
    wait "$reader" || { echo "$* sent no mail" >&2; return 1; }
}
# Waits until the program has said that it waits for the mail, then opens the link.
open_when_asked_to() {
    for _ in $(seq 600); do
        grep -q '^waiting: open the link' waiting 2>/dev/null && break
        sleep 0.1
    done
    open_mailed_link
}
register_from_the_command_line() { eval "$line --pin-fd 0" <<<1234; }

server=$(blocks sh | grep '^build/mpind ')
start_readme_server() {
    $server --port "$port" --private-port "$private_port" --dta1-port "$dta1_port" --dta2-port "$dta2_port" 2>>mpind.log &
    server_pid=$!
    curl -fs --retry 50 --retry-delay 1 --retry-connrefused -o settings.json "$backend/rps/clientSettings"
}
start_readme_server
ok "$server"

blocks c >login.c
blocks python >login.py
while read -r line; do
    case $line in
        make* | build/mpind*) continue ;;
        *" register "*) with_mail open_mailed_link register_from_the_command_line ;;
        build/mpin-cli*) eval "$line --pin-fd 0" <<<1234 ;;
        # The first run registers and waits for the mail. The second run logs in at once.
        ./login | "python3 login.py")
            : >waiting
            [ "$(with_mail open_when_asked_to $line 2>waiting)" = "logged in" ]
            grep '^waiting: open the link' waiting >/dev/null
            [ "$($line)" = "logged in" ]
            ;;
        *) eval "$line" ;;
    esac
    ok "$line"
done < <(blocks sh)
[ -z "$(find mail -name '*.eml')" ]
ok "no second mail"

# fails PROGRAM STATUS: the program must fail and print this status.
fails() {
    local said
    if said=$($1 2>&1); then echo "$1: $said"; return 1; fi
    grep "$2: ." <<<"$said" >/dev/null || { echo "$1 said: $said"; return 1; }
}
sed 's/finish_authentication\(.*\)1234/finish_authentication\14321/' login.c >wrong.c
# shellcheck disable=SC2046 # the output is a list of words, so it is not quoted
cc wrong.c -o wrong $(pkg-config --cflags --libs mpin) -Wl,-rpath,"$root/build"
fails ./wrong INCORRECT_PIN
sed 's/finish_authentication\(.*\)1234/finish_authentication\14321/' login.py >wrong.py
fails "python3 wrong.py" INCORRECT_PIN
stop_server
fails ./login NETWORK_ERROR
fails "python3 login.py" NETWORK_ERROR
ok "what failed is printed"

cd "$root"
make --no-print-directory help >"$work/targets"
for document in README.md SECURITY.md CHANGELOG.md Sources/NUMBERS.md {Sources,bindings}/README.md docs/*.md; do
    # A block of code may contain `](`, too.
    for path in $(sed '/^```/,/^```/d' "$document" | grep -o '](\([^)]*\))' | tr -d '()]' | grep -v '^http'); do
        [ -e "$(dirname "$document")/${path%%#*}" ] || { echo "$document: no file $path"; exit 1; }
    done
    for target in $(grep -oE '(`|^ *)make [a-z][a-z0-9 -]*' "$document" | sed 's/.*make //' | tr ' ' '\n' | sort -u); do
        grep -q "^  make $target " "$work/targets" || { echo "$document: no make target $target"; exit 1; }
    done
    for tests in $(grep -o '`[A-Za-z]*Tests`' "$document" | tr -d '`'); do
        [ -n "$(find Tests -name "$tests.swift" -o -name "$tests")" ] || { echo "$document: no $tests"; exit 1; }
    done
    ok "the files, make targets and tests that $document names"
done

map=$root/Sources/README.md
for name in $(cd "$root" && find Sources Tests Sources/{BN254CX,MPinSDK,MPinServer} -mindepth 1 -maxdepth 1 -type d \
    ! -name __pycache__ -printf '%f\n'); do
    grep -q "[\`/]$name\`" "$map" || { echo "Sources/README.md: $name is missing"; exit 1; }
done
packages=$(sed -n 's|.*\.package(url: ".*/\([^/]*\)\.git".*|\1|p' "$root/Package.swift")
for name in $packages; do
    grep -qi "^|.*\b${name%.swift}\b.*|.*|" "$map" || { echo "Sources/README.md: $name is missing"; exit 1; }
done
ok "the map of the sources"
echo "$passed passed, 0 failed"

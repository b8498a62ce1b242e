#!/usr/bin/env bash
# Sends requests that are generated from Sources/MPinServer/openapi.yaml to a running server. Each answer must be one
# that is described there, and the server must not crash. The last line is "N cases: N passed".
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

checks=not_a_server_error,status_code_conformance,content_type_conformance
checks+=,response_headers_conformance,response_schema_conformance
cases=0

# usage: drive TAG URL [OPTION...]: tests the operations with this tag at this URL.
drive() {
    local log=$work/contract-$1.log options=("${@:3}")
    if ! "$root/build/contract-venv/bin/schemathesis" run "$root/Sources/MPinServer/openapi.yaml" --url "$2" \
        --include-tag "$1" --phases examples,coverage,fuzzing --max-examples "${CONTRACT_EXAMPLES:-10}" \
        --seed 20261121 --request-timeout 60 --suppress-health-check all --checks "$checks" --no-color \
        "${options[@]}" >"$log" 2>&1; then
        cat "$log"
        exit 1
    fi
    cases=$((cases + $(sed -n 's/.*generated, \([0-9]*\) passed.*/\1/p' "$log" | tail -n 1)))
}

free_ports 1
read -r admin_port <&"$ports"
start_server --force-activate --admin-listen "127.0.0.1:$admin_port"
drive rps "$backend"
drive rpa "$backend"
# Without fuzzing: for operations with credentials, schemathesis invents header fields that HTTP does not allow, and the
# server refuses such a request without a body.
drive oidc "$backend" --phases examples,coverage
# shellcheck disable=SC2154 # server.sh sets dta2_port
drive dta "http://127.0.0.1:$dta2_port"
# A user and a client with the names of the examples, so that some requests find them.
curl -fs -X PUT "$backend/rps/user" -d '{"mobile": 1, "userId": "alice@example.com"}' >/dev/null
"$root/build/mpind" client add shop --redirect-uri https://shop.example/cb --state-dir "$work/state" >/dev/null
token=$("$root/build/mpind" admin token add contract --state-dir "$work/state" --scope users:write \
    --scope clients:write --scope projects --scope audit --scope otp --scope sessions --scope keys | tail -n 1)
drive admin "http://127.0.0.1:$admin_port" --header "Authorization: Bearer $token"
if grep -m 5 '"level":"error"' "$work/mpind.log"; then
    echo "the server met errors that it did not foresee" >&2
    exit 1
fi
stop_server
start_server --trust --browser-client "$root/build/browser-client"
"$root/build/mpind" project add proj-1 --state-dir "$work/state" >/dev/null
token=$("$root/build/mpind" project token add proj-1 contract --state-dir "$work/state" | tail -n 1)
drive trust "$backend" --header "Authorization: Bearer $token"
drive client "$backend"
if grep -m 5 '"level":"error"' "$work/mpind.log"; then
    echo "the server met errors that it did not foresee" >&2
    exit 1
fi
stop_server
public_url=https://login.example.org start_server --force-activate --behind-proxy --trusted-proxy 127.0.0.1
drive gate "$backend"
stop_server
echo "contract: $cases cases: 7 passed"

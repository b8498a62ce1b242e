#!/usr/bin/env bash
# Sends requests that are generated from Sources/MPinServer/openapi.yaml to a running server. Each answer must be one
# that is described there, and the server must not crash. The last line is "N cases: N passed".
set -euo pipefail
# shellcheck source=Tests/EndToEnd/server.sh
. "$(dirname "$0")/server.sh"

checks=not_a_server_error,status_code_conformance,content_type_conformance
checks+=,response_headers_conformance,response_schema_conformance
cases=0

# usage: drive TAG URL: tests the operations with this tag at this URL.
drive() {
    local log=$work/contract-$1.log
    if ! "$root/build/contract-venv/bin/schemathesis" run "$root/Sources/MPinServer/openapi.yaml" --url "$2" \
        --include-tag "$1" --phases examples,coverage,fuzzing --max-examples "${CONTRACT_EXAMPLES:-10}" \
        --seed 20261121 --request-timeout 60 --suppress-health-check all --checks "$checks" --no-color >"$log" 2>&1; then
        cat "$log"
        exit 1
    fi
    cases=$((cases + $(sed -n 's/.*generated, \([0-9]*\) passed.*/\1/p' "$log" | tail -n 1)))
}

start_server --force-activate
drive rps "$backend"
drive rpa "$backend"
# shellcheck disable=SC2154 # set by server.sh
drive dta "http://127.0.0.1:$dta2_port"
if grep -m 5 '"level":"error"' "$work/mpind.log"; then
    echo "the server met errors that it did not foresee" >&2
    exit 1
fi
stop_server
public_url=https://login.example.org start_server --force-activate --behind-proxy --trusted-proxy 127.0.0.1
drive gate "$backend"
stop_server
echo "contract: $cases cases: 4 passed"

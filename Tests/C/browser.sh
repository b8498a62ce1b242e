#!/usr/bin/env bash
# Stands for a browser that a phone logs in. It prints the access number or QR code, polls until the phone has logged
# in, and redeems the token at the RPA. It succeeds only if it was logged in; with "declined", only if it was told that
# the user has declined the login on the phone.
# usage: browser.sh URL getAccessNumber|getQrUrl|declined
set -euo pipefail
url=$1
shows=${2/declined/getQrUrl}

post() { # path, body
    curl -fsS -X POST -H 'Sec-Fetch-Site: same-origin' -H 'Content-Type: application/json' -d "$2" "$url/$1"
}

member() { # name: of the JSON text on standard input
    sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"
}

redeem=$(curl -fsS "$url/rps/clientSettings" | member authenticateURL)
session=$(post "rps/$shows" '{}')
member "$([ "$shows" = getQrUrl ] && echo qrUrl || echo accessNumber)" <<<"$session"
exec >/dev/null
for _ in $(seq 100); do
    answer=$(post rps/access "{\"webOTT\":\"$(member webOTT <<<"$session")\",\"wait\":1}")
    status=$(member status <<<"$answer")
    if [ "$2" = declined ] && [ "$status" = abort ]; then exit; fi
    if [ "$status" = authenticate ]; then
        post "${redeem#/}" "{\"mpinResponse\":{\"authOTT\":\"$(member authOTT <<<"$answer")\"}}"
        exit
    fi
done
exit 1

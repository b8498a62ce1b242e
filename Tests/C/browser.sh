#!/usr/bin/env bash
# A browser that lets a phone log it in: shows an access number or a QR code (prints it), asks until the phone has
# proved its PIN, and redeems that at the application. Ends well only if it was logged in.
# usage: browser.sh URL getAccessNumber|getQrUrl
set -euo pipefail
url=$1

post() { # path, body
    curl -fsS -X POST -H 'Content-Type: application/json' -d "$2" "$url/$1"
}

member() { # name: of the JSON text on standard input
    sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"
}

redeem=$(curl -fsS "$url/rps/clientSettings" | member authenticateURL)
session=$(post "rps/$2" '{}')
member "$([ "$2" = getQrUrl ] && echo qrUrl || echo accessNumber)" <<<"$session"
exec >/dev/null
for _ in $(seq 100); do
    answer=$(post rps/access "{\"webOTT\":\"$(member webOTT <<<"$session")\",\"wait\":1}")
    if [ "$(member status <<<"$answer")" = authenticate ]; then
        post "${redeem#/}" "{\"mpinResponse\":{\"authOTT\":\"$(member authOTT <<<"$answer")\"}}"
        exit
    fi
done
exit 1

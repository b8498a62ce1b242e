#!/usr/bin/env bash
# Opens the activation link of the newest mail in the folder $MAILS and confirms, as the user would.
# usage: open_link.sh URL
set -euo pipefail
mail=$(find "$MAILS" -name '*.eml' -printf '%T@ %p\n' | sort -n | tail -n 1)
link=$(tr -d '\r' <"${mail#* }" | grep -o "^$1/mpinActivate?.*")
curl -fsS -X POST -o /dev/null "$link"

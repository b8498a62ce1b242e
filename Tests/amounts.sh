#!/usr/bin/env bash
# Prints amounts on one line, large ones shortened: "1,412 tests, 27.4 million cases". Amounts of 0 are left out.
# usage: amounts.sh "1412 tests" "27412345 cases" ...
set -euo pipefail
printf '%s\n' "$@" | LC_ALL=C awk '
    function grouped(n) { return n < 1000 ? n : grouped(int(n / 1000)) "," sprintf("%03d", n % 1000) }
    $1 > 0 {
        amount = $1 < 1e6 ? grouped($1) : sprintf("%.1f million", $1 / 1e6)
        line = line (line == "" ? "" : ", ") amount " " $2
    }
    END { print line }'

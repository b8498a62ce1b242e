#!/usr/bin/env bash
# Builds the fuzz targets with libFuzzer and the address sanitizer, and runs each for some seconds.
#
# usage: run.sh OUT SECONDS [TARGET...]      targets: decoders, messages, tokens, api, sdk
#
# Findings are written to OUT/findings. To reproduce one, run the target with the file's name. The modules are compiled
# here one by one, because SwiftPM does not support fuzzers.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
seconds=$2
shift 2
targets=("${@:-}")
[ -n "${targets[0]}" ] || targets=(decoders messages tokens api sdk)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
sources=${SOURCES:-$root/Sources}
swiftc=${SWIFTC:-swiftc}
python=${PYTHON:-python3}
clang=$(dirname "$(realpath "$(command -v "$swiftc")")")/clang
mkdir -p "$out/modules" "$out/findings"

maps=()
for module in CGMP CSodium CBN254CX CJansson; do maps+=(-Xcc "-fmodule-map-file=$sources/$module/module.modulemap"); done
maps+=(-Xcc "-fmodule-map-file=$root/include/module.modulemap")
for module in CCurl CJose; do maps+=(-Xcc "-fmodule-map-file=$sources/$module/include/module.modulemap"); done
flags=(-O -g -warnings-as-errors -parse-as-library -wmo -package-name libmpin -swift-version 6 -sanitize=address,fuzzer -I "$out/modules"
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature ExistentialAny
    -enable-experimental-feature Lifetimes "${maps[@]}")

compile() { # module, files
    local module=$1
    shift
    "$swiftc" "${flags[@]}" -module-name "$module" -emit-object -o "$out/modules/$module.o" \
        -emit-module -emit-module-path "$out/modules/$module.swiftmodule" "$@"
}

check_calls() { # object, header, prefix: every function of the header is called
    local called declared name
    called=$(nm "$1")
    declared=$(python3 -B - "$2" "$3" <<'PY'
import re, sys
text = re.sub(r"/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.DOTALL)
print(*re.findall(rf"\b({sys.argv[2]}\w+)\(", text))
PY
    )
    [ -n "$declared" ] || { echo "no functions found in $2"; exit 1; }
    for name in $declared; do
        grep -q " U $name\$" <<<"$called" || { echo "$1 does not call $name"; exit 1; }
    done
}

compile MPinSecrets "$sources"/MPinSecrets/*.swift
{
    compile BN254CX $(find "$sources/BN254CX" -name '*.swift')
    compile MPinCrypto $(find "$sources/MPinCrypto" -name '*.swift')
} &
engine=$!
compile MPinWire $(find "$sources/MPinWire" -name '*.swift')
compile MPinHTTP "$sources"/MPinHTTP/*.swift
wait "$engine"
compile MPinSDK $(find "$sources/MPinSDK" -name '*.swift')
# The target for tokens reads parts that only this module uses.
compile MPinSession -enable-testing "$sources"/MPinSession/*.swift
compile MPinABI "$sources"/MPinABI/*.swift
for module in CCurl CJose; do
    "$clang" -O1 -g -fsanitize=address,fuzzer-no-link -I"$sources/$module/include" -c "$sources/$module"/mpin_*.c \
        -o "$out/modules/$module.o"
done
objects=("$out"/modules/{CCurl,CJose,BN254CX,MPinSecrets,MPinCrypto,MPinWire,MPinHTTP,MPinSDK,MPinSession,MPinABI}.o)
link=(-sanitize=address,fuzzer -use-ld=lld -lgmp -lsodium -ljansson)
# Checks that OPERATIONS in api.c is the number of its cases, because it is written down separately.
[ "$(grep -c '^    case [0-9]*:' "$here/api.c")" -eq "$(sed -n 's/.*OPERATIONS = \([0-9]*\).*/\1/p' "$here/api.c")" ] ||
    { echo "api.c: OPERATIONS is not the number of its operations"; exit 1; }

for target in "${targets[@]}"; do
    if [ -e "$here/$target.swift" ]; then
        compile "Fuzz_$target" "$here/$target.swift" "$here/input.swift"
        "$swiftc" "${objects[@]}" "$out/modules/Fuzz_$target.o" "${link[@]}" -o "$out/$target"
    else
        [ "$target" = api ] || "$python" -B "$here/../../C/functions.py" "$root/include/mpin.h" table >"$out/functions.inc"
        "$clang" -std=c11 -O1 -g -Wall -Wextra -Werror -fsanitize=address,fuzzer-no-link -I"$root/include" -I"$out" \
            -c "$here/$target.c" -o "$out/modules/$target.o"
        check_calls "$out/modules/$target.o" "$root/include/mpin$([ "$target" = sdk ] || echo _crypto).h" \
            "mpin_$([ "$target" = sdk ] || echo crypto_)"
        "$swiftc" "${objects[@]}" "$out/modules/$target.o" "${link[@]}" -o "$out/$target"
    fi
    nm "$out/$target" | grep __asan_init >/dev/null || { echo "$target is not sanitized"; exit 1; }
done

"$python" -B "$here/corpus.py" "$root/Tests/Vectors/bn254cx-negative.json" "$root/Tests/Vectors/transcripts" "$out/seeds"
export SWIFT_BACKTRACE=enable=no

fuzz() { # target
    mkdir -p "$out/corpus/$1" "$out/files"
    cd "$out/files" # the session's file is made here
    "$out/$1" -max_total_time="$seconds" -max_len=1024 -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="$out/findings/$1-" "$out/corpus/$1" "$out/seeds/$1" >"$out/$1.log" 2>&1
}

report() { # target, status
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$1.log")
        coverage=$(grep -o 'cov: [0-9]*' "$out/$1.log" | tail -n 1)
        echo "  $1: $runs inputs, $coverage"
    else
        failed=$((failed + 1))
        grep -A 15 -m 1 -E 'ERROR|Fatal error|api[a-z_]*\.[ch]:' "$out/$1.log" || tail -n 30 "$out/$1.log"
    fi
}

# Runs two targets at a time, because each one uses only one thread.
passed=0
failed=0
for ((n = 0; n < ${#targets[@]}; n += 2)); do
    pair=("${targets[@]:n:2}")
    running=()
    for target in "${pair[@]}"; do
        fuzz "$target" &
        running+=($!)
    done
    for m in "${!pair[@]}"; do
        status=0
        wait "${running[$m]}" || status=$?
        report "${pair[$m]}" "$status"
    done
done
echo "fuzz: $passed passed, $failed failed"
[ "$failed" -eq 0 ]

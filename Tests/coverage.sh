#!/usr/bin/env bash
# Prints, for each module, how many lines the Swift tests, the C programs and the tests of sessions execute together.
# usage: coverage.sh LIBRARY-BUILT-FOR-COVERAGE SCRATCH-FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
library=$PWD/$1
scratch=$2
out=$PWD/build/coverage
llvm=$(dirname "$(realpath "$(command -v swiftc)")")

rm -rf "$out/profiles"
export LLVM_PROFILE_FILE=$out/profiles/%p-%m.profraw
# This library is not optimised, so a PIN passes through more stack frames than in the release. LONGEST_WAY is the
# largest number of frames that the test allows.
make -C Tests/C programs LIB="$library" OUT="$PWD/build/c-tests-coverage" DEFINES=-DLONGEST_WAY=40
# The sessions of apps at a real server. mpin-cli has a copy of the library in it, so its tests would add nothing.
LIBRARY=$library Tests/EndToEnd/session.sh -k "not session_cli"

# Runs the tests of the client's modules only, because the server is not measured here.
swift build --build-tests --enable-code-coverage --scratch-path "$scratch"
swift test --skip-build --enable-code-coverage --scratch-path "$scratch" \
    --filter '^(MPinSDK|MPinSession|MPinHTTP|MPinWire|MPinSecrets|MPinCrypto)Tests'
tests=$(find -L "$scratch/debug" -maxdepth 1 -name '*.xctest' -print -quit)
swift_profile=$scratch/debug/codecov/default.profdata

"$llvm/llvm-profdata" merge -sparse -o "$out/all.profdata" "$out"/profiles/*.profraw "$swift_profile"
"$llvm/llvm-cov" export -summary-only -instr-profile "$out/all.profdata" "$library" -object "$tests" >"$out/summary.json"
python3 Tests/coverage.py "$out/summary.json"

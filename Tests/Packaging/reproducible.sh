#!/usr/bin/env bash
# Builds the library twice from nothing, in the same folder, and compares the results byte by byte.
#
# The folder must be the same, because its name is in the compiler's command lines. Swift's module hashes (section
# .swift_modhash) depend on these command lines, and so does the linker's build id. In another folder, only these two
# would differ.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work" .build-again' EXIT

for number in 1 2; do
    rm -rf .build-again
    make --no-print-directory library-in FOLDER=.build-again >/dev/null
    cp .build-again/release/libmpin.so "$work/$number.so"
done
sha256sum "$work"/*.so | sed "s|$work/||"
cmp "$work/1.so" "$work/2.so"
echo "1 passed, 0 failed"

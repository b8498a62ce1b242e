#!/usr/bin/env bash
# Builds the library again, from nothing, and compares the result with build/libmpin.so byte by byte.
# usage: reproducible.sh FOLDER COMMAND...: the command builds the library in FOLDER.
#
# The folder must be that of the first build, because its name is in the compiler's command lines. Swift's module hashes
# (section .swift_modhash) depend on these command lines, and so does the linker's build id. In another folder, only
# these two would differ. So the first build is put aside for the time of the second one.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1
shift
first=$folder-first

# A run that was killed may have left it. `mv` would then put the folder inside.
rm -rf "$first"
mv "$folder" "$first"
trap 'rm -rf "$folder" && mv "$first" "$folder"' EXIT
"$@" >/dev/null
sha256sum build/libmpin.so "$folder/release/libmpin.so"
cmp build/libmpin.so "$folder/release/libmpin.so"
echo "1 passed, 0 failed"

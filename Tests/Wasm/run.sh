#!/usr/bin/env bash
# Tests the WebAssembly modules in node, the counts of their branches, and the types of bindings/js.
set -euo pipefail
cd "$(dirname "$0")/../.."
Tests/Wasm/branches.py
tsc --noEmit --strict --target es2022 --module node16 --moduleResolution node16 --lib es2022,dom \
    Tests/Wasm/types.mts
echo "types: 1 passed"
node --test Tests/Wasm/*.test.mjs >build/wasm/tests.tap || { grep -A 30 '^not ok' build/wasm/tests.tap; exit 1; }
sed -n 's/^# \([0-9]* cases\)$/\1/p; s/^# pass \([0-9]*\)$/\1 passed/p' build/wasm/tests.tap

##@ WebAssembly

WASM = build/wasm/mpin.wasm

wasm: $(WASM) ## build build/js: bindings/js and the client functions of mpin_crypto.h as a WebAssembly module
	@mkdir -p build/js
	@cp bindings/js/*.js bindings/js/*.d.ts $(WASM) build/js/
	@sed 's|@version@|$(VERSION)|' bindings/js/package.json >build/js/package.json

browser-client: wasm ## build build/browser-client: the scripts and the module that mpind's pages run in browsers
	@rm -rf build/browser-client && mkdir -p build/browser-client
	@cp $(filter-out %-node.js,$(wildcard bindings/js/*.js)) Sources/MPinServer/BrowserClient/Files/* $(WASM) \
		build/browser-client/

wasm-test: wasm ## the module in node: vectors, laws, wrong encodings, wiped memory, branches, types
	Tests/Wasm/run.sh

js-test: wasm server ## the JavaScript client in node and Chromium, with a real server: flows, recordings, bad answers, its stores
	Tests/JS/run.sh Tests/JS/*.test.mjs

js-bench: wasm lib ## what a client computes in node and Chromium, beside libmpin.so; BENCH_FLAGS=--serve for a browser of yours
	@mkdir -p build/js-bench
	$(CC) -O2 -Iinclude Tests/JS/bench_native.c -o build/js-bench/native -Lbuild -lmpin -Wl,-rpath,$(CURDIR)/build
	node Tests/JS/bench.mjs $(BENCH_FLAGS)

wasm-times: wasm ## the time of the module's functions does not depend on the secret (statistics); DUDECT_SAMPLES=20000
	node Tests/Wasm/times.mjs $(or $(DUDECT_SAMPLES),20000)

wasm-reproducible: wasm ## a second build of the module has the same bytes
	rm -rf build/wasm-again
	Sources/Wasm/sources.sh build/wasm-again
	Sources/Wasm/build.sh build/wasm-again
	cmp $(WASM) build/wasm-again/mpin.wasm
	cmp build/wasm/mpin-all.wasm build/wasm-again/mpin-all.wasm
	@echo "2 passed"

$(WASM): $(shell find Sources/Wasm Sources/BN254CX Sources/CBN254CX Sources/MPinCrypto Sources/MPinSecrets -type f) \
		$(wildcard Sources/MPinABI/Crypto*.swift) Sources/MPinABI/Boundary.swift include/mpin_crypto.h | $(STAMP)
	[ -f build/wasm/gmp/doc/Makefile.in ] || Sources/Wasm/sources.sh build/wasm
	Sources/Wasm/build.sh build/wasm

TESTS += js-test
TIMED += wasm-times js-bench
.PHONY: wasm browser-client wasm-test js-test js-bench wasm-times wasm-reproducible

# libmpin. `make help` lists the targets. Everything that is built goes to build/ and .build*/.

SWIFT  ?= swift
CC     = gcc
# The C compiler of the Swift toolchain. Its sanitizers are compatible with Swift's.
SWIFT_CLANG = $(dir $(realpath $(shell command -v swiftc)))clang
# Debian's own Python. Its packages (pytest, setuptools) come from debian-packages.txt, not from the network.
PYTHON ?= /usr/bin/python3

# The header defines the version. The Python package repeats it, and a test compares the two.
VERSION := $(shell sed -n 's/^\#define MPIN_VERSION "\(.*\)"/\1/p' include/mpin.h)
SONAME = libmpin.so.1
BUILD  = $(SWIFT) build -c release --disable-local-rpath
LIB    = build/libmpin.so
SERVER = build/mpind
BENCH  = .build/release/mpin-bench
LOAD   = .build/release/mpin-load
TEST   = $(SWIFT) test -c release --skip-build
SWIFT_TESTS = .build/release/libmpinPackageTests.xctest
STAMP  = build/packages.stamp
SOAK   = MPIN_LIBRARY=$(abspath $(LIB)) PYTHONPATH=bindings/python $(PYTHON) -B Tests/EndToEnd/soak.py

# The library links Swift statically, so that it runs where no Swift is installed. That needs its own build folder.
# -gdwarf-4: Valgrind cannot read the newer debug information of C code. The module of regular expressions is not
# imported, because each object would otherwise refer to it, and the linker would keep a megabyte that nothing uses.
LIB_FLAGS = --product mpin --disable-local-rpath -Xcc -gdwarf-4 \
	-Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import \
	-Xswiftc -static-stdlib -Xswiftc -no-toolchain-stdlib-rpath -Xswiftc -use-ld=lld \
	-Xlinker --version-script=Sources/Packaging/libmpin.map -Xlinker -soname=$(SONAME) \
	-Xlinker --gc-sections -Xlinker -z -Xlinker nodelete -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
BUILD_LIB = $(SWIFT) build -c release $(LIB_FLAGS) --scratch-path .build-lib

.DEFAULT_GOAL := help
# Tests that only `make check-all` runs, because they take long. Two of LONG run at a time. Those of TIMED measure time, or
# something must happen in them within seconds; so they run alone.
LONG = coverage faults version-before browser-test fuzz contract laws asan tsan faults-asan wasm-reproducible trust-memory-test
TIMED = dudect pages-test times-test
# The longest tests come first, because three run at a time.
TESTS = unit-server unit-others cluster-test oidc-test python-test faults-quick api-test c-test soak-test lint abi readme-test demo e2e ctime negative wipe unit-file

.PHONY: unit help test check-all built made programs lib server examples bench load soak packages format clean $(TESTS) $(LONG) $(TIMED) FORCE

##@ Use

help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: lib server examples cli browser-client build/oidc-venv/installed build/browser-venv/installed ## register and log in at a real server, in C, in Python, at websites, at a project of MIRACL Trust, and in browsers alone
	Tests/EndToEnd/demo.sh

lib: $(LIB) ## build build/libmpin.so

server: $(SERVER) ## build build/mpind

examples: build/mpin-example build/venv/installed ## build the C example and the Python package

# Without flags, the results are written into Sources/NUMBERS.md, even if they break a limit.
bench: $(BENCH) ## time every operation, relative to GMP's own 4x4-limb product; BENCH_FLAGS=--json
	$(BENCH) $(or $(BENCH_FLAGS),--json-to .build/bench.json)
	$(if $(BENCH_FLAGS),,Sources/Packaging/numbers.py bench .build/bench.json)

load: server $(LOAD) ## full logins from a second process: logins/s, latency, CPU in U, memory; LOAD_FLAGS=--json
	@rm -f .build/load.json
	@Tests/EndToEnd/load.sh $(or $(LOAD_FLAGS),$(if $(STORE),,--json-to .build/load.json)) || failed=$$?; \
		[ ! -f .build/load.json ] || Sources/Packaging/numbers.py load .build/load.json; exit $${failed:-0}

load-stores: server $(LOAD) ## load with PostgreSQL, and with Redis beside it, with its limits
	STORE=postgres Tests/EndToEnd/load.sh
	STORE=redis Tests/EndToEnd/load.sh

soak: lib server $(LOAD) $(SWIFT_TESTS) ## kills, restarts, overload, slow clients, two nodes, times of answers; SOAK_FLAGS="--cycles 100 --seconds 300"
	$(SOAK) $(SOAK_FLAGS)
	FULL=1 $(TEST) --filter 'LoginAbuseTests|CrashTests'

##@ Check

test: ## everything that CI runs; ends in "N passed, N failed"
	Tests/run.sh 3 $(TESTS)

check-all: ## all checks, the long ones and those that measure time too
	Tests/run.sh 3 $(TESTS) -- 2 $(LONG) -- $(TIMED)

# Everything that several tests use is built once, before the first test. Three tests run at a time, because most of
# them wait more than they compute, and none may compile while another runs. The Swift tests come first, because their build
# compiles all of the package: its modules keep two processors busy together, and one after the other they would not.
# The programs of the same build come last. Their commands would wait for it, and other things would not be built meanwhile.
PROGRAMS = server cli superapp $(SERVER) $(LOAD) $(BENCH)
MADE = $(SWIFT_TESTS) lib $(LIB) examples build/man/made wasm build/wasm/mpin.wasm browser-client \
	build/oidc-venv/installed build/browser-venv/installed programs build/mpin-example build/objc/objc-test
built: $(MADE)
	$(MAKE) --no-print-directory $(PROGRAMS)
made:
	@printf '%s\n' $(MADE) $(PROGRAMS)

programs: lib # the C programs of Tests/C
	$(MAKE) -C Tests/C --jobs=2 built

# Two targets, because all Swift tests together would take longer than all that runs beside them.
unit: unit-others unit-server ## Swift tests: laws, vectors, client core, server over sockets

# They run at the same time, so without SwiftPM, in which one would wait for the other.
classes = $$($(SWIFT_TESTS) --list-tests | sed -n 's|/.*||p' | sort -u | grep $(1) ^MPinServerTests | paste -sd,)

unit-others: $(SWIFT_TESTS)
	$(SWIFT_TESTS) "$(call classes,-v)"

unit-server: $(SWIFT_TESTS)
	$(SWIFT_TESTS) "$(call classes,)"

lint: packages ## formatting, citations and links, the lists of tables and of tested rows, and the headers with every dialect of C and C++
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests bindings/samples
	Tests/docs.py
	Tests/rows.py
	Tests/promises.py
	Tests/tables.py
	Tests/count_test.sh
	Sources/Packaging/statuses.py --check
	$(MAKE) -C Tests/C headers

abi: lib programs ## exports equal headers, nothing else; same ABI as released; loads without Swift
	$(MAKE) -C Tests/C abi
	Tests/ABI/check.sh

api-test: lib server programs ## all of mpin.h: wrong values for every parameter, and a walk through every function
	$(MAKE) -C Tests/C api-test

c-test: lib server programs build/mpin-example ## the C programs, plain and under the address sanitizer
	$(MAKE) -C Tests/C --jobs=2 test

faults: lib $(SWIFT_TESTS) ## the client core with bad networks, servers and disks, and kills: every byte, every system call
	$(MAKE) -C Tests/Faults all
	FULL=1 $(TEST) --filter 'StoreProcessTests|MPinSDKTests.StoreTests'

faults-quick: lib ## a part of faults, in a minute
	$(MAKE) -C Tests/Faults quick

python-test: lib server build/venv/installed ## the Python package, and its types
	$(MAKE) -C Tests/C fake
	cd bindings/python && mypy
	MPIN_LIBRARY=$(abspath $(LIB)) build/venv/bin/python -m pytest -q -W error bindings/python/tests

runtimes-test: lib server ## the examples in Java and Ruby
	Tests/EndToEnd/runtimes.sh

objc-test: lib server build/objc/objc-test build/oidc-venv/installed ## the Objective-C classes on GNUstep: the old apps' own lines
	Tests/EndToEnd/objc.sh

pam: build/pam_mpin.so ## build build/pam_mpin.so, the PAM module

pam-test: lib server build/pam_mpin.so build/oidc-venv/installed ## the PAM module with pamtester, Debian's sshd and sudo, and phones; needs root
	Tests/EndToEnd/pam.sh

numbers-test: server $(BENCH) $(LOAD) ## the rows of Sources/NUMBERS.md are those that bench and load measure
	$(BENCH) --json >.build/names.json
	Sources/Packaging/numbers.py --check bench .build/names.json
	Tests/EndToEnd/load.sh --users 20 --seconds 1 --max-units 1e9 --max-times 1e9 --max-trust-times 1e9 --json >.build/names.json
	Sources/Packaging/numbers.py --check load .build/names.json

readme-test: lib server examples cli ## the README's snippets, exactly as printed
	Tests/EndToEnd/readme.sh

e2e: lib server ## the flows of the old client with our server, and of our parts with old ones
	Tests/EndToEnd/old_client.sh

soak-test: lib server $(LOAD) ## make soak in less than a minute, without the tests that measure time
	$(SOAK) --short

store-test: $(SWIFT_TESTS) store-logins store-more ## the contract of the store on every engine, and whole logins with PostgreSQL, Redis and pgbouncer
	$(TEST) --filter MPinStoreTests

store-more: $(SWIFT_TESTS) server $(LOAD) ## what `make test` leaves out of store-test: 100,000 attempts at random, and pgbouncer
	FULL=1 $(TEST) --filter AttemptModelTests
	STORE=pooler Tests/EndToEnd/load.sh --users 20 --seconds 1 --max-units 1e9 --max-times 1e9 --max-trust-times 1e9

store-logins: server $(LOAD) ## whole logins with PostgreSQL, and with Redis beside it
	STORE=postgres Tests/EndToEnd/load.sh --users 20 --seconds 1 --max-units 1e9 --max-times 1e9 --max-trust-times 1e9
	STORE=redis Tests/EndToEnd/load.sh --users 20 --seconds 1 --max-units 1e9 --max-times 1e9 --max-trust-times 1e9

CLUSTER = MPIN_LIBRARY=$(abspath $(LIB)) PYTHONPATH=bindings/python build/oidc-venv/bin/python -B Tests/EndToEnd
cluster-test: lib server build/oidc-venv/installed ## three servers with one PostgreSQL database, and with Redis beside it: any of them may be asked, each may be killed
	$(CLUSTER)/cluster.py $(CLUSTER_FLAGS)
	$(CLUSTER)/cluster.py --redis $(CLUSTER_FLAGS)

# The version before this one. Until a version is released (then it is the last tag): the commit that was handed over before.
# The database must not have changed since then.
BEFORE = 79d44e8e7408633672a7bb5b935e505e87806fdc
# The commit before logins were made cheaper.
DEARER = 03cb2abbb667fa00d1f6730af046923819929920
before = build/before/$(1)/.build/release/mpind

# It is built once, in a folder of its own, from nothing.
$(call before,%): | $(STAMP)
	@git cat-file -e $*^{commit} 2>/dev/null || { echo "Commit $* is to be built from the history. That is not here:" \
		"use a clone with the whole history (git fetch --unshallow)." >&2; exit 1; }
	@mkdir -p build/before/$*
	git archive $* | tar -x -C build/before/$*
	$(SWIFT) build -c release --product mpind --package-path build/before/$*

upgrade-test: $(call before,$(BEFORE)) lib server build/oidc-venv/installed ## servers of the version before and of this one side by side, as during a rolling upgrade
	$(CLUSTER)/upgrade.py --before $<
	$(CLUSTER)/upgrade.py --before $< --redis

# The version before is built beside other long tests. upgrade-test itself runs alone.
version-before: $(call before,$(BEFORE)) # the version before this one, for upgrade-test

# Not a part of check-all, because building the earlier version takes longer than most tests.
cost-test: $(call before,$(DEARER)) lib server $(LOAD) build/oidc-venv/installed ## what a login costs, compared in turn with an earlier version, which it builds (10 minutes more)
	$(CLUSTER)/cost.py --before $< $(COST_FLAGS)

cluster-test-whole: CLUSTER_FLAGS = --whole
cluster-test-whole: cluster-test ## cluster-test with the checks that take longer

cluster-soak: CLUSTER_FLAGS = --whole --people 100 --guesses 2000 --kills 10
cluster-soak: cluster-test ## the same with more people, guesses and kills

cut-test: lib server build/oidc-venv/installed ## three servers, a PostgreSQL primary and its standby, whose network is cut; needs root
	MPIN_LIBRARY=$(abspath $(LIB)) PYTHONPATH=bindings/python Tests/EndToEnd/cut.sh \
		build/oidc-venv/bin/python -B Tests/EndToEnd/cut.py

patroni-test: lib server build/oidc-venv/installed ## three servers and two PostgreSQL servers that Patroni runs, of which each is killed
	$(CLUSTER)/managed.py

LONG += store-more
TIMED += cluster-test-whole upgrade-test cut-test patroni-test
TESTS += store-logins
.PHONY: cluster-test-whole upgrade-test version-before cut-test patroni-test store-logins store-more cost-test

engines-test: lib server $(LOAD) build/oidc-venv/installed ## what a login costs with SQLite, with PostgreSQL, and with Redis beside it, in turn; takes 5 minutes
	$(CLUSTER)/engines.py $(ENGINES_FLAGS)

TIMED += engines-test load-stores
.PHONY: engines-test load-stores

size: lib server $(LOAD) build/oidc-venv/installed ## logins with 1,000 and with 1,000,000 identities, in SQLite and in PostgreSQL; takes 5 minutes
	$(CLUSTER)/size.py $(SIZE_FLAGS)

TIMED += size
.PHONY: size

pages-test: lib server $(LOAD) ## 5,000 login pages wait at a separate RPA, and logins take no longer
	$(SOAK) --only "waiting pages" --seconds 10

times-test: lib server $(LOAD) ## the time of an answer reveals nothing: 20,000 samples of each kind, and 2,000 while the server is busy
	$(SOAK) --only "answer times" --samples 20000
	$(SOAK) --only "busy times" --samples 20000
	$(SOAK) --only "permit times" --samples 20000

store-times-test: lib server $(LOAD) build/oidc-venv/installed ## the same with PostgreSQL, and with Redis beside it: 6,000 samples
	$(CLUSTER)/store_times.py $(STORE_TIMES_FLAGS)
	$(CLUSTER)/store_times.py --redis $(STORE_TIMES_FLAGS)

flood-cost-test: lib server build/oidc-venv/installed ## a flood of wrong PINs at a running server makes right logins at most a tenth dearer
	$(CLUSTER)/flood_cost.py $(FLOOD_COST_FLAGS)

TIMED += store-times-test flood-cost-test
.PHONY: store-times-test flood-cost-test

browser-test: lib server build/mpin-example build/browser-venv/installed ## the website in headless Chromium, with a phone; SCREENSHOTS=docs/screenshots
	Tests/EndToEnd/browser.sh

js-browser-test: lib server browser-client build/browser-venv/installed ## Chromium logs in without an app, here and by QR code; the PIN pad; SCREENSHOTS=docs/screenshots
	Tests/EndToEnd/browser_client.sh

js-browser-more: lib server browser-client build/browser-venv/installed ## the same with Firefox, all languages, wrong PINs, bad networks, private windows, attacks, an origin of its own
	Tests/EndToEnd/browser_client.sh $(addprefix Tests/EndToEnd/test_browser_,client_more.py firefox.py)
	Tests/EndToEnd/client_origin.sh

oidc-test: lib server cli build/oidc-venv/installed ## logins at the OpenID provider, with Authlib as relying party, a phone and Chromium
	Tests/EndToEnd/oidc.sh
	Tests/EndToEnd/forward_auth.sh

trust-test: lib server cli build/oidc-venv/installed ## the server for clients of MIRACL Trust: every flow, and recorded requests
	Tests/EndToEnd/trust.sh

trust-memory-test: lib server build/oidc-venv/installed ## 10,000 registrations with key pairs need 8 MiB more than 1,000
	MPIN_LIBRARY=$(abspath $(LIB)) PYTHONPATH=bindings/python build/oidc-venv/bin/python -B Tests/EndToEnd/trust_memory.py

session-test: lib server cli build/oidc-venv/installed ## sessions of apps: renewal by many threads and processes, kills, a bad network, forged tokens
	Tests/EndToEnd/session.sh

session-kills-test: lib server build/oidc-venv/installed ## an app is killed before every system call of a renewal; takes 5 minutes
	Tests/EndToEnd/session.sh --kills

TESTS += session-test
LONG += session-kills-test
.PHONY: session-test session-kills-test

superapp: packages # bindings/samples/superapp: the app and its smaller apps
	for program in superapp superapp-orders superapp-card; do $(BUILD) --product $$program || exit; done
.PHONY: superapp

SAMPLES = flask apache nginx mobile providers superapp
samples-test: lib server superapp build/oidc-venv/installed ## the websites of bindings/samples: people log in to each, in Chromium
	Tests/EndToEnd/samples.sh $(SAMPLES)

sample-flask: ## a website with Authlib logs its users in; KEEP=1 leaves it running
sample-apache: ## the same with Apache and mod_auth_openidc
sample-nginx: ## a website without code for logins, which nginx protects
sample-mobile: ## the back end of an app, and the app's login
sample-providers: ## an app whose user chooses a provider or makes an account, and an API that answers 401
sample-superapp: ## an app in Swift that gives smaller apps tokens of their own
sample-superapp: superapp
$(SAMPLES:%=sample-%): sample-%: lib server cli build/oidc-venv/installed
	Tests/EndToEnd/samples.sh $*

TESTS += runtimes-test objc-test numbers-test clients-test admin-test samples-test wasm-test trust-test \
	js-browser-test
LONG += js-browser-more
# It needs root, and name spaces of its own.
LONG += pam-test
.PHONY: contract runtimes-test objc-test pam pam-test numbers-test clients-test admin-test oidc-test samples-test cluster-test cluster-soak store-test trust-test \
	js-browser-test js-browser-more $(SAMPLES:%=sample-%)
clients-test: server ## every command and exit code of mpind client, while a server runs
	Tests/EndToEnd/clients.sh

admin-test: lib server ## the admin API of a running server, its tokens, and the examples of docs/admin-api.md
	Tests/EndToEnd/admin.sh

contract: server browser-client build/contract-venv/installed ## the server's answers are those in openapi.yaml (schemathesis)
	Tests/EndToEnd/contract.sh

build/browser-venv/installed: Tests/EndToEnd/browser-requirements.txt | $(STAMP)
	$(PYTHON) -m venv --system-site-packages build/browser-venv
	build/browser-venv/bin/pip install --quiet --no-deps --requirement $<
	@touch $@

build/oidc-venv/installed: Tests/EndToEnd/oidc-requirements.txt | $(STAMP)
	$(PYTHON) -m venv --system-site-packages build/oidc-venv
	build/oidc-venv/bin/pip install --quiet --no-deps --requirement $<
	@touch $@

build/contract-venv/installed: Tests/EndToEnd/contract-requirements.txt | $(STAMP)
	$(PYTHON) -m venv build/contract-venv
	build/contract-venv/bin/pip install --quiet --requirement $<
	@touch $@

ctime: lib ## no branch or address depends on a secret (valgrind, on the released library)
negative: lib ## encodings that must be refused, for every argument
wipe: lib ## no secret stays in the memory of the process
fuzz: ## libFuzzer with the address sanitizer; FUZZ_SECONDS=10 for each target
dudect: lib ## the time does not depend on the secret (statistics); DUDECT_SAMPLES=50000

ctime negative wipe dudect fuzz: packages
	$(MAKE) -C Tests/Proof $@

faults-asan: build/address/libmpin.so ## faults-quick with a library built for the address sanitizer
	$(MAKE) -C Tests/Faults quick SANITIZER=address CC=$(SWIFT_CLANG) LIB=$(CURDIR)/$< OUT=$(CURDIR)/build/faults-address

asan: SANITIZER = address
asan: build/address/libmpin.so server ## the C programs with a library built for the address sanitizer

tsan: SANITIZER = thread
tsan: build/thread/libmpin.so server ## the same with the thread sanitizer

asan tsan:
	$(MAKE) -C Tests/C --jobs=2 sanitized SANITIZER=$(SANITIZER) CC=$(SWIFT_CLANG) LIB=$(CURDIR)/build/$(SANITIZER)/libmpin.so \
		OUT=$(CURDIR)/build/c-tests-$(SANITIZER)

coverage: build/coverage/libmpin.so server build/oidc-venv/installed ## how many lines of each module of the client the tests execute
	Tests/coverage.sh build/coverage/libmpin.so .build-coverage

flood-test: $(SWIFT_TESTS) ## a flood of wrong proofs makes right ones at most a tenth slower
	FULL=1 $(TEST) --filter FloodTests

TIMED += flood-test
.PHONY: flood-test

laws: $(SWIFT_TESTS) ## the laws of field, groups and pairing, 10,000 random cases each
	FULL=1 $(TEST) --filter LawTests

include Sources/Packaging/packaging.mk
include Sources/Wasm/wasm.mk

##@ Maintain

packages: $(STAMP) ## install missing Debian packages (Sources/Packaging/debian-packages.txt)

format: ## format the Swift sources
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests bindings/samples

clean: ## remove everything that was built
	rm -rf build .build .build-*

# Swift's own build decides what is out of date, so these targets always run.
# The build of all of the package, which may run at the same time, ends with large modules that keep one processor busy.
# The library is built on the other one then, and does not delay what comes before.
$(LIB): FORCE | $(STAMP)
	nice $(BUILD_LIB)
	@mkdir -p build
	@cmp -s .build-lib/release/libmpin.so build/$(SONAME) || cp --remove-destination .build-lib/release/libmpin.so build/$(SONAME)
	@ln -sf $(SONAME) $@

build/coverage/libmpin.so: FORCE | $(STAMP)
	$(SWIFT) build $(LIB_FLAGS) --scratch-path .build-coverage-lib -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping
	@mkdir -p build/coverage
	@cp .build-coverage-lib/debug/libmpin.so build/coverage/$(SONAME)
	@ln -sf $(SONAME) $@

build/address/libmpin.so build/thread/libmpin.so: build/%/libmpin.so: FORCE | $(STAMP)
	$(SWIFT) build -c release $(LIB_FLAGS) --scratch-path .build-$* --sanitize=$*
	@mkdir -p build/$*
	@cmp -s .build-$*/release/libmpin.so build/$*/$(SONAME) || cp --remove-destination .build-$*/release/libmpin.so build/$*/$(SONAME)
	@ln -sf $(SONAME) $@

$(BENCH) $(LOAD): FORCE | $(STAMP)
	$(BUILD) --product $(@F)

$(SWIFT_TESTS): FORCE | $(STAMP)
	$(BUILD) --build-tests

$(SERVER): FORCE | $(STAMP)
	$(BUILD) --product mpind
	@mkdir -p build
	@ln -sf ../.build/release/mpind $@

build/mpin-example: FORCE | $(LIB)
	@mkdir -p build
	@sed 's|@version@|$(VERSION)|; s|@prefix@|$(CURDIR)|; s|@libdir@|$(CURDIR)/build|; s|@includedir@|$(CURDIR)/include|' \
		Sources/Packaging/mpin.pc.in >build/mpin.pc
	PKG_CONFIG_PATH=$(CURDIR)/build $(MAKE) -C bindings/c OUT=$(CURDIR)/$@

# build/mpin-example leaves build/mpin.pc, which is all that these two need of it.
build/objc/objc-test: FORCE | $(LIB) build/mpin-example
	$(MAKE) -C Tests/ObjC check built CLANG=$(SWIFT_CLANG)

build/pam_mpin.so: FORCE | $(LIB) build/mpin-example
	PKG_CONFIG_PATH=$(CURDIR)/build $(MAKE) -C bindings/pam OUT=$(CURDIR)/$@

build/venv/installed: $(shell find bindings/python -name '*.py' -o -name pyproject.toml) | $(STAMP)
	$(PYTHON) -m venv --system-site-packages build/venv
	build/venv/bin/pip install --quiet --no-index --no-build-isolation --no-deps --force-reinstall ./bindings/python
	@touch $@

$(STAMP): Sources/Packaging/debian-packages.txt
	Sources/Packaging/install-packages.sh
	@mkdir -p build
	@touch $@

# Makes the archives, packages and documents that people install, from the build results. The Makefile includes this
# file.

.PHONY: install uninstall man reference reference-test install-test reproducible dist sbom docs swift-test cli cli-test unit-file alerts-test dashboard-test deploy-test \
	man-test image image-short image-test deb deb-pack deb-lint deb-test wheel wheel-test

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man

TESTS += install-test cli-test man-test reference-test dist image-short alerts-test dashboard-test
LONG += wheel-test sbom docs swift-test reproducible image-test deb-test deploy-test

##@ Ship

C_HEADERS = include/mpin.h include/mpin_crypto.h
# This file says that the pages are there. Without it they would be made again by each `make install`, of which tests run
# several at a time.
MAN = build/man/made

install: lib ## install library, headers, manual pages, mpin.pc, CMake files: DESTDIR, PREFIX, LIBDIR, INCLUDEDIR, MANDIR
uninstall: ## remove what `make install` puts there
install uninstall: $(MAN)
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' MANDIR='$(MANDIR)' \
		VERSION=$(VERSION) SONAME=$(SONAME) Sources/Packaging/install.sh $@

man: $(MAN) ## make the manual pages of the C headers, mpin(3), in build/man
$(MAN): $(C_HEADERS) Sources/Packaging/reference.py | $(STAMP)
	@$(PYTHON) -B Sources/Packaging/reference.py man build/man $(C_HEADERS)
	@touch $@

reference: $(STAMP) ## make the HTML reference of the C headers, in build/docs/c
	@rm -rf build/docs/c && mkdir -p build/docs
	doxygen Sources/Packaging/reference.doxyfile

reference-test: man reference ## both name every function, and without a warning
	Tests/Packaging/reference.py build/man build/docs/c $(C_HEADERS)

install-test: lib ## build C and C++ programs from an installed copy, by pkg-config and by CMake
	Tests/Packaging/install.sh

reproducible: lib ## build the library again, from nothing, and compare
	Tests/Packaging/reproducible.sh .build-lib $(BUILD_LIB)

docs: packages ## build the documentation of the Swift product into build/docs
	@mkdir -p build/docs
	MPIN_DOCS=1 $(SWIFT) package --scratch-path .build-docs --allow-writing-to-directory build/docs \
		generate-documentation --target MPin --warnings-as-errors --output-path build/docs

cli: packages ## build build/mpin-cli
	$(BUILD) --product mpin-cli
	@mkdir -p build
	@ln -sf ../.build/release/mpin-cli build/mpin-cli

cli-test: cli lib server ## the command line client against a real server
	Tests/EndToEnd/cli.sh

swift-test: packages server ## register and log in from a Swift program of its own package
	Tests/EndToEnd/swift.sh

alerts-test: $(STAMP) ## the alerts for Prometheus, by promtool
	Tests/Packaging/alerts.sh

dashboard-test: lib server ## the dashboard for Grafana: promtool parses its queries, a running mpind has its metrics
	MPIN_LIBRARY=$(abspath $(LIB)) PYTHONPATH=bindings/python $(PYTHON) -B Tests/Packaging/dashboard.py

deploy-test: lib server build/deploy-venv/installed ## the compose file and the Kubernetes manifests: schemas, rules, and logins at what they describe
	MPIN_LIBRARY=$(abspath $(LIB)) PYTHONPATH=bindings/python:Tests/EndToEnd build/deploy-venv/bin/python -B Tests/Packaging/deploy.py

build/deploy-venv/installed: Tests/Packaging/deploy-requirements.txt | $(STAMP)
	$(PYTHON) -m venv build/deploy-venv
	build/deploy-venv/bin/pip install --quiet --no-deps --requirement $<
	@touch $@

unit-file: server ## the systemd units against systemd's own checks
	Tests/EndToEnd/units.sh build/mpind

export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
ARCHIVE_FLAGS = --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$(SOURCE_DATE_EPOCH) --format=gnu
STAGE = build/stage

dist: lib ## make archives of the sources and of an installed copy, in build/dist
	rm -rf $(STAGE) && mkdir -p build/dist $(STAGE)
	git archive --format=tar --prefix=libmpin-$(VERSION)/ HEAD | gzip -n >build/dist/libmpin-$(VERSION).tar.gz
	$(MAKE) --no-print-directory install DESTDIR=$(CURDIR)/$(STAGE)/libmpin-$(VERSION) PREFIX=/usr/local >/dev/null
	cp -r LICENSE CHANGELOG.md SECURITY.md README.md docs $(STAGE)/libmpin-$(VERSION)
	tar $(ARCHIVE_FLAGS) -C $(STAGE) -c libmpin-$(VERSION) | \
		gzip -n >build/dist/libmpin-$(VERSION)-$(shell uname -m).tar.gz
	cd build/dist && sha256sum *.tar.gz >SHA256SUMS

deb: lib server cli man browser-client ## make libmpin1, libmpin-dev, mpind and mpin-cli for Debian, in build/dist
	$(MAKE) --no-print-directory deb-pack

# Makes the packages from what is already built.
deb-pack:
	VERSION=$(VERSION) SONAME=$(SONAME) PROGRAMS=$(CURDIR)/build CHECKOUTS=$(CURDIR)/.build/checkouts \
		Sources/Packaging/deb.sh

image: server ## make an OCI image of mpind in build/image, without a daemon
	VERSION=$(VERSION) Sources/Packaging/image.sh

image-short: image ## what is in the image
	Tests/Packaging/image.sh $(VERSION) --short

image-test: image lib ## a login at a server in the image
	MPIN_LIBRARY=$(abspath $(LIB)) PYTHONPATH=bindings/python Tests/Packaging/image.sh $(VERSION)

deb-lint: deb ## the packages against Debian's rules; made again they are the same
	Tests/Packaging/deb-lint.sh

deb-test: deb-lint wheel build/debian.tar ## install, log in, purge in a Debian 12 without Swift
	Tests/Packaging/deb.sh build/debian.tar

# A minimal Debian 12 in which `deb-test` installs the packages. It is downloaded once.
build/debian.tar: | $(STAMP)
	rm -rf build/debian-root
	debootstrap --variant=minbase bookworm build/debian-root
	tar -C build/debian-root --numeric-owner -cf $@.part .
	rm -rf build/debian-root && mv $@.part $@

man-test: cli server ## the manual pages say what the programs' help says
	Tests/Packaging/man.py Sources/Packaging/man build/mpin-cli build/mpind

wheel: lib build/wheel-venv/installed ## build the Python wheel, with all libraries but libcurl and cjose inside, in build/dist
	Sources/Packaging/wheel.sh $(LIB) build/wheel-venv build/dist

wheel-test: wheel server ## the wheel in an environment of its own against a real server, with and without libcurl
	Tests/Packaging/wheel.sh $(PYTHON)

build/wheel-venv/installed: Sources/Packaging/wheel-requirements.txt | $(STAMP)
	$(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/pip install --quiet --requirement $<
	@touch $@

sbom: lib server build/sbom-venv/installed ## write and check build/libmpin.cdx.json, the bill of materials
	Sources/Packaging/sbom.py $(VERSION) $(LIB) $(SERVER) >build/libmpin.cdx.json
	build/sbom-venv/bin/python Tests/Packaging/sbom.py build/libmpin.cdx.json

# The Python library of CycloneDX. It contains the schemas against which the bill of materials is checked.
build/sbom-venv/installed: | $(STAMP)
	$(PYTHON) -m venv build/sbom-venv
	build/sbom-venv/bin/pip install --quiet 'cyclonedx-python-lib[json-validation]==11.12.0'
	@touch $@

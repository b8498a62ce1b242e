# From a built tree to what people install. Included by the Makefile.

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include

.PHONY: install uninstall install-test reproducible library-in

##@ Ship

install: lib ## install library, headers, mpin.pc, CMake files: DESTDIR, PREFIX, LIBDIR, INCLUDEDIR
uninstall: ## remove what `make install` puts there
install uninstall:
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' VERSION=$(VERSION) \
		SONAME=$(SONAME) Sources/Packaging/install.sh $@

install-test: lib ## build C and C++ programs from an installed copy, by pkg-config and by CMake
	Tests/Packaging/install.sh

reproducible: packages ## build the library twice and compare
	Tests/Packaging/reproducible.sh

# The library alone, built in FOLDER.
library-in: packages
	$(SWIFT) build -c release $(LIB_FLAGS) --scratch-path $(FOLDER)

docs: packages ## build the documentation of the Swift product into build/docs
	@mkdir -p build/docs
	MPIN_DOCS=1 $(SWIFT) package --scratch-path .build-docs --allow-writing-to-directory build/docs \
		generate-documentation --target MPin --warnings-as-errors --output-path build/docs

cli: packages ## build build/mpin-cli
	$(SWIFT) build -c release --product mpin-cli
	@mkdir -p build
	@ln -sf ../.build/release/mpin-cli build/mpin-cli

cli-test: cli server ## the command line client against a real server
	Tests/EndToEnd/cli.sh

swift-test: packages server ## register and log in from a Swift program of its own package
	Tests/EndToEnd/swift.sh

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

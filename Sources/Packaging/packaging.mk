# From a built tree to what people install. Included by the Makefile.

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include

.PHONY: install uninstall install-test

##@ Ship

install: lib ## install library, headers, mpin.pc, CMake files: DESTDIR, PREFIX, LIBDIR, INCLUDEDIR
uninstall: ## remove what `make install` puts there
install uninstall:
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' VERSION=$(VERSION) \
		SONAME=$(SONAME) Sources/Packaging/install.sh $@

install-test: lib ## build C and C++ programs from an installed copy, by pkg-config and by CMake
	Tests/Packaging/install.sh

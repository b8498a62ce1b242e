#!/bin/sh
# Installs or removes the library for C and C++ programs: the shared library with its links, headers, pkg-config and
# CMake files, and the manual pages in build/man. The Makefile calls it with DESTDIR, PREFIX, LIBDIR, INCLUDEDIR,
# MANDIR, VERSION and SONAME in the environment.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/Sources/Packaging
real=libmpin.so.$VERSION
cmake=$LIBDIR/cmake/mpin
# The C++ headers, relative to include/cxx.
cxx="mpin_sdk.h mpin_sdk_base.h mfa_sdk.h trust_sdk.h mpin_session.h utils.h
    json/elements.h json/reader.h json/visitor.h json/writer.h"
files="$LIBDIR/$real $LIBDIR/$SONAME $LIBDIR/libmpin.so $LIBDIR/pkgconfig/mpin.pc
    $cmake/mpinConfig.cmake $cmake/mpinConfigVersion.cmake
    $INCLUDEDIR/mpin.h $INCLUDEDIR/mpin_crypto.h"
for header in $cxx; do files="$files $INCLUDEDIR/mpin-cxx/$header"; done
for page in "$root"/build/man/*.3; do files="$files $MANDIR/man3/${page##*/}"; done

# fill TEMPLATE FILE: installs TEMPLATE as FILE, with its @words@ replaced.
fill() {
    sed -e "s|@prefix@|$PREFIX|; s|@libdir@|$LIBDIR|; s|@includedir@|$INCLUDEDIR|; s|@version@|$VERSION|
            s|@soname@|$SONAME|; s|@libdir_in_prefix@|${LIBDIR#"$PREFIX"/}|
            s|@includedir_in_prefix@|${INCLUDEDIR#"$PREFIX"/}|; s|@cmake_to_prefix@|$up|" "$1" >"$DESTDIR$2"
    chmod 644 "$DESTDIR$2"
}

install_all() {
    # The relative path from the CMake files to the prefix, so that the installed tree can be moved.
    up=$(printf '%s' "${cmake#"$PREFIX"/}" | sed 's|[^/][^/]*|..|g')
    install -d "$DESTDIR$LIBDIR/pkgconfig" "$DESTDIR$cmake" "$DESTDIR$INCLUDEDIR/mpin-cxx/json"
    install -m 755 -s "$root/build/$SONAME" "$DESTDIR$LIBDIR/$real"
    ln -sf "$real" "$DESTDIR$LIBDIR/$SONAME"
    ln -sf "$SONAME" "$DESTDIR$LIBDIR/libmpin.so"
    install -m 644 "$root/include/mpin.h" "$root/include/mpin_crypto.h" "$DESTDIR$INCLUDEDIR"
    for header in $cxx; do
        install -m 644 "$root/include/cxx/$header" "$DESTDIR$INCLUDEDIR/mpin-cxx/$header"
    done
    install -d "$DESTDIR$MANDIR/man3"
    # Keeps symbolic links: there is one for each function, to the page of its group.
    cp -P "$root"/build/man/*.3 "$DESTDIR$MANDIR/man3"
    fill "$here/mpin.pc.in" "$LIBDIR/pkgconfig/mpin.pc"
    fill "$here/cmake/mpinConfig.cmake.in" "$cmake/mpinConfig.cmake"
    fill "$here/cmake/mpinConfigVersion.cmake.in" "$cmake/mpinConfigVersion.cmake"
}

uninstall_all() {
    for file in $files; do rm -f "$DESTDIR$file"; done
    for folder in "$cmake" "$INCLUDEDIR/mpin-cxx/json" "$INCLUDEDIR/mpin-cxx"; do
        rmdir --ignore-fail-on-non-empty "$DESTDIR$folder" 2>/dev/null || true
    done
}

case ${1:-} in
    install) install_all ;;
    uninstall) uninstall_all ;;
    *) echo "usage: $0 install|uninstall" >&2 && exit 2 ;;
esac

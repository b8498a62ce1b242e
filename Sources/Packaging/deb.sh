#!/usr/bin/env bash
# Makes the Debian packages from the build results. The Makefile calls it with these variables in the environment:
# VERSION, SONAME, PROGRAMS (the folder of the programs), CHECKOUTS (the sources of the Swift packages in them)
# and SOURCE_DATE_EPOCH.
set -euo pipefail
shopt -s nullglob
export LC_ALL=C TZ=UTC
umask 022
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/Sources/Packaging
out=$root/build/dist
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
swift_licence=$(dirname "$(realpath "$(command -v swiftc)")")/../share/swift/LICENSE.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Makes debian/control and debian/changelog in a work folder, because the dpkg tools expect them in the current folder.
mkdir "$work/debian"
cp "$here/debian/control" "$work/debian"
cat >"$work/debian/changelog" <<CHANGES
libmpin ($VERSION-1) unstable; urgency=medium

  * Version $VERSION; its changes are in changelog.gz.

 -- $(sed -n 's/^Maintainer: //p' "$here/debian/control")  $(date -R -d "@$SOURCE_DATE_EPOCH")
CHANGES
cd "$work"

# put MODE FILE PATH: installs a file as PATH with MODE in the package $package.
put() { install -D -m "$1" "$2" "$package$3"; }

# put_compressed FILE PATH: installs a file compressed, with mode 644, in the package $package.
put_compressed() {
    install -d "$(dirname "$package$2")"
    gzip -9n <"$1" >"$package$2"
    chmod 644 "$package$2"
}

put_program() {
    put 755 "$PROGRAMS/$1" "/usr/bin/$1"
    strip --strip-unneeded --remove-section=.comment "$package/usr/bin/$1"
}

# put_licences FILE...: installs the licences and notices of everything that is linked into a program, in one file.
put_licences() {
    local file
    for file in "$swift_licence" "$@"; do
        printf '==== %s\n\n' "$(basename "$(dirname "$file")")"
        cat "$file"
        echo
    done >third-party
    put_compressed third-party "/usr/share/doc/$package/third-party.gz"
}

# build: adds the files that every package has to $package, and makes the .deb file.
build() {
    local script
    put 644 "$here/debian/copyright" "/usr/share/doc/$package/copyright"
    put_compressed debian/changelog "/usr/share/doc/$package/changelog.Debian.gz"
    put_compressed "$root/CHANGELOG.md" "/usr/share/doc/$package/changelog.gz"
    install -d "$package/DEBIAN"
    for script in postinst prerm postrm; do
        [ ! -e "$here/debian/$package.$script" ] || put 755 "$here/debian/$package.$script" "/DEBIAN/$script"
    done
    [ ! -e "$here/debian/$package.triggers" ] || put 644 "$here/debian/$package.triggers" /DEBIAN/triggers
    [ ! -e "$here/debian/$package.lintian-overrides" ] ||
        put 644 "$here/debian/$package.lintian-overrides" "/usr/share/lintian/overrides/$package"
    [ ! -d "$package/etc" ] || (cd "$package" && find etc -type f -printf '/%p\n' | sort >DEBIAN/conffiles)
    (cd "$package" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z |
        xargs -0 md5sum >DEBIAN/md5sums)
    dpkg-gencontrol -p"$package" -P"$package" -T"$package.substvars" -O"$package/DEBIAN/control"
    dpkg-deb --root-owner-group -z3 --build "$package" "$out"
}

# depends FILE: writes to $package.substvars which packages contain the libraries that FILE needs.
depends() {
    install -d "$package/DEBIAN"
    dpkg-shlibdeps -S"$package" -T"$package.substvars" -e"$1"
}

# Distributes what `make install` installs to the two packages libmpin1 and libmpin-dev.
install_library() {
    local file page
    DESTDIR=$work/installed PREFIX=/usr LIBDIR=/usr/lib/$triplet INCLUDEDIR=/usr/include \
        MANDIR=/usr/share/man "$here/install.sh" install
    package=libmpin1
    install -d "$package/usr/lib/$triplet"
    mv "installed/usr/lib/$triplet/$SONAME" "installed/usr/lib/$triplet/libmpin.so.$VERSION" "$package/usr/lib/$triplet"
    # Removes the execute permission, which Debian allows only for a library that is also a program.
    chmod 644 "$package/usr/lib/$triplet/libmpin.so.$VERSION"
    put_licences
    install -d "$package/DEBIAN"
    echo "libmpin ${SONAME##*.} $package (>= $VERSION)" >"$package/DEBIAN/shlibs"
    depends "$package/usr/lib/$triplet/libmpin.so.$VERSION"
    build

    package=libmpin-dev
    mv installed "$package"
    for page in "$package"/usr/share/man/man3/*.3; do
        if [ -L "$page" ]; then ln -s "$(readlink "$page").gz" "$page.gz"; else gzip -9n <"$page" >"$page.gz"; fi
        rm "$page"
    done
    for file in Makefile mpin-example.c; do
        put 644 "$root/bindings/c/$file" "/usr/share/doc/$package/examples/$file"
    done
    : >"$package.substvars"
    build
}

install_server() {
    local part file
    package=mpind
    put_program mpind
    put 644 "$here/systemd/mpind@.service" "/lib/systemd/system/mpind@.service"
    for file in mpind@dta1.service.d/part.conf mpind@dta2.service.d/part.conf; do
        put 644 "$here/systemd/$file" "/lib/systemd/system/$file"
    done
    put 644 "$here/systemd/mpind-sysusers.conf" /usr/lib/sysusers.d/mpind.conf
    put 644 "$here/systemd/mpind-tmpfiles.conf" /usr/lib/tmpfiles.d/mpind.conf
    for part in serve dta rps rpa; do put 644 "$here/config/$part.yaml" "/etc/mpind/$part.yaml"; done
    put_compressed "$here/man/mpind.8" /usr/share/man/man8/mpind.8.gz
    for file in "$root"/build/browser-client/*; do put 644 "$file" "/usr/share/mpin/browser-client/${file##*/}"; done
    put 644 "$root/docs/operating.md" "/usr/share/doc/$package/operating.md"
    put 644 "$here/prometheus/mpind-alerts.yaml" "/usr/share/doc/$package/examples/mpind-alerts.yaml"
    put_licences "$here/debian/ICU/LICENSE" "$CHECKOUTS"/*/{LICENSE,NOTICE}* "$CHECKOUTS"/*/Sources/*/LICENSE*
    depends "$package/usr/bin/mpind"
    build
}

install_client() {
    package=mpin-cli
    put_program mpin-cli
    put_compressed "$here/man/mpin-cli.1" /usr/share/man/man1/mpin-cli.1.gz
    put_licences "$CHECKOUTS"/swift-argument-parser/{LICENSE,NOTICE}*
    depends "$package/usr/bin/mpin-cli"
    build
}

mkdir -p "$out"
rm -f "$out"/{libmpin1,libmpin-dev,mpind,mpin-cli}_*.deb
install_library
install_server
install_client

#!/bin/sh
# Checks that the library works where no Swift is installed. Its programs run in a root folder that contains only the
# programs, the library, and those libraries of the distribution that it needs. Also checks the size of the library.
# usage: check_standalone.sh LIBRARY PROGRAM...
set -eu
export LC_ALL=C
[ $# -ge 2 ] || { echo "usage: $0 LIBRARY PROGRAM..." >&2; exit 2; }
library=$1
shift

fail() {
    echo "check_standalone: $*" >&2
    exit 1
}

dynamic=$(readelf -dW "$library")
segments=$(readelf -lW "$library")
echo "$dynamic" | grep -q 'SONAME.*\[libmpin\.so\.1\]' || fail "no SONAME libmpin.so.1"
echo "$dynamic" | grep 'NEEDED' | grep -iE 'swift|Foundation|dispatch|BlocksRuntime' && fail "needs the Swift runtime"
echo "$dynamic" | grep 'NEEDED' | grep 'curl' && fail "is linked to libcurl"
echo "$dynamic" | grep -E 'RPATH|RUNPATH' | grep -v '\[\$ORIGIN\]' && fail "has a path of the build machine"
echo "$dynamic" | grep -q 'BIND_NOW\|FLAGS_1.*NOW' || fail "symbols are not bound at start"
echo "$dynamic" | grep -q 'NODELETE' || fail "can be unloaded"
echo "$segments" | grep -q 'GNU_RELRO' || fail "no read-only relocations"
echo "$segments" | grep 'GNU_STACK' | grep -q 'RW ' || fail "the stack is executable"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/lib" "$root/tmp"
# The largest allowed size of the stripped library in bytes. With the regular expressions and string processing of the
# standard library, which it does not use, it would be 1.4 MB larger.
largest=9550000
strip -o "$root/stripped" "$library"
size=$(stat -c %s "$root/stripped")
rm "$root/stripped"
[ "$size" -le $largest ] || fail "$size bytes without symbols, more than $largest"
cp "$@" "$root"
cp -L "$library" "$root/lib/libmpin.so.1"
closure=$(LD_LIBRARY_PATH=$root/lib ldd "$library")
echo "$closure" | grep -q 'not found' && fail "not all libraries are there: $closure"
echo "$closure" | grep -o '/[^ ]*' | while read -r file; do
    case $file in
    "$root"/*) ;;
    /lib/* | /lib64/* | /usr/lib/*)
        mkdir -p "$root${file%/*}"
        cp -L "$file" "$root$file"
        ;;
    *) fail "needs $file, which is no library of the distribution" ;;
    esac
done
if find "$root" -iname '*swift*' | grep .; then fail "the closure holds Swift"; fi

# Only root may run chroot. Other users can run it in a user namespace, if the system allows that.
enter=
[ "$(id -u)" -eq 0 ] || enter="unshare --user --map-root-user"
echo "in a root folder with $(find "$root" -type f | wc -l) files and no Swift:"
for program in "$@"; do
    LD_LIBRARY_PATH=/lib $enter chroot "$root" "/${program##*/}" || fail "$program failed"
done

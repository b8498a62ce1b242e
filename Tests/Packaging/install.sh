#!/usr/bin/env bash
# Installs the library into an empty folder, builds and runs programs with that copy alone, and uninstalls it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=Tests/ok.sh
. "$root/Tests/ok.sh"
# links_to_the_copy PROGRAM: succeeds if the program loads the installed libmpin. There is no pipe from ldd to grep,
# because grep could end first, and with pipefail the line would then fail.
links_to_the_copy() { grep -F "$lib/libmpin.so.1" <<<"$(ldd "$1")" >/dev/null; }
make_in() { make -C "$root" --no-print-directory PREFIX="$work/usr" LIBDIR="$work/usr/lib/mpin-test" "$@"; }

make_in install >/dev/null
lib=$work/usr/lib/mpin-test
version=$(sed -n 's/^#define MPIN_VERSION "\(.*\)"/\1/p' "$root/include/mpin.h")
[ "$(readlink "$lib/libmpin.so")" = libmpin.so.1 ]
[ "$(readlink "$lib/libmpin.so.1")" = "libmpin.so.$version" ]
ok "library and links"

# Checks three properties of the installed library: all symbols are bound before the program starts, the stack is not
# executable, and the file contains no path of the machine that built it.
readelf -dW "$lib/libmpin.so.1" >"$work/dynamic"
readelf -lW "$lib/libmpin.so.1" >"$work/segments"
grep -q 'BIND_NOW' "$work/dynamic"
grep -q 'GNU_RELRO' "$work/segments"
ok "full RELRO"
grep -q 'GNU_STACK .* RW ' "$work/segments"
ok "no executable stack"
# Uses `if`, because a command with `!` that fails does not end the script.
if grep -E 'R(UN)?PATH' "$work/dynamic"; then exit 1; fi
strings -n 8 "$lib/libmpin.so.1" >"$work/strings"
if grep -F "$root/" "$work/strings"; then exit 1; fi
ok "no path of the build machine"

export PKG_CONFIG_PATH=$lib/pkgconfig
[ "$(pkg-config --modversion mpin)" = "$version" ]
make -C "$root/bindings/c" --no-print-directory OUT="$work/by-pkg-config" >/dev/null
# shellcheck disable=SC2046 # the output is a list of words, so it is not quoted
cc -std=c99 -o "$work/self-test" "$root/Tests/C/self_test.c" $(pkg-config --cflags --libs mpin)
LD_LIBRARY_PATH=$lib "$work/self-test" >/dev/null
links_to_the_copy "$work/by-pkg-config"
ok "C example by pkg-config"
for program in old_core_test old_mfa_test trust_test session_test; do
    c++ -std=c++11 -fsyntax-only -I"$(pkg-config --variable=cxxincludedir mpin)" -DRECORDING='""' "$root/Tests/C/$program.cpp"
done
ok "programs of the old cores, and of MIRACL Trust in C++"

man -M "$work/usr/share/man" mpin_sdk_confirm_registration >"$work/page"
grep -q 'mpin_sdk_confirm_registration(mpin_sdk \*sdk, mpin_user \*user,' "$work/page"
man -M "$work/usr/share/man" mpin | grep 'mpin_registration(3)' >/dev/null
ok "manual pages"

cat >"$work/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.13)
project(use LANGUAGES C CXX)
find_package(mpin 1 REQUIRED)
add_executable(by-cmake $root/bindings/c/mpin-example.c)
add_executable(by-cmake-cxx $root/Tests/C/self_test.c)
set_source_files_properties($root/Tests/C/self_test.c PROPERTIES LANGUAGE CXX)
foreach(program by-cmake by-cmake-cxx)
    target_link_libraries(\${program} PRIVATE mpin::mpin)
endforeach()
CMAKE
cmake -S "$work" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/usr" -Dmpin_DIR="$lib/cmake/mpin" >/dev/null
cmake --build "$work/cmake" >/dev/null
links_to_the_copy "$work/cmake/by-cmake"
"$work/cmake/by-cmake-cxx" >/dev/null
ok "C example and C++ program by CMake"

cp -a "$work/usr" "$work/moved"
LD_LIBRARY_PATH=$work/moved/lib/mpin-test "$work/self-test" >/dev/null
ok "a moved copy"

make_in uninstall
[ -z "$(find "$work/usr" -type f -o -type l)" ]
ok "nothing left after uninstall"
echo "$passed passed, 0 failed"

#!/usr/bin/env bash
# Builds WebAssembly modules of the same objects: mpin.wasm with the client functions of mpin_crypto.h, which ships, the
# same as mpin-named.wasm with the names of all functions, and mpin-all.wasm with all of that header, for the tests.
#
#   build.sh FOLDER      FOLDER/gmp and FOLDER/libsodium are the sources (sources.sh); all results go to FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sources=$(dirname "$here")
mkdir -p "$1"
cd "$1"
folder=$PWD
swift=$(dirname "$(readlink -f "$(command -v swiftc)")")
builtins=$(ls /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a | tail -n 1)

# The C compiler. No path of this machine gets into an object.
compile() {
    "$swift/clang" --target=wasm32-unknown-wasi -isystem /usr/include/wasm32-wasi -O2 -ffile-prefix-map="$folder=." "$@"
}

# GMP in C alone, with limbs of 64 bits although pointers have 32. configure would take `long` for the limb.
configure_gmp() {
    rm -rf gmp-build
    mkdir gmp-build
    cd gmp-build
    CC="$swift/clang --target=wasm32-unknown-wasi -isystem /usr/include/wasm32-wasi -O2" \
        LDFLAGS="-fuse-ld=$swift/wasm-ld -L/usr/lib/wasm32-wasi -nostdlib /usr/lib/wasm32-wasi/crt1.o -lc" \
        ../gmp/configure --host=none-unknown-none --build=x86_64-linux-gnu CC_FOR_BUILD=gcc AR="$swift/llvm-ar" \
        RANLIB="$swift/llvm-ar s" NM=nm --disable-shared --disable-assembly >configure.out 2>&1
    sed -i 's/^#define GMP_LIMB_BITS .*/#define GMP_LIMB_BITS 64/' gmp.h
    sed -i 's|^/\* #undef _LONG_LONG_LIMB \*/|#define _LONG_LONG_LIMB 1|' gmp.h
    sed -i 's/^#define SIZEOF_MP_LIMB_T 4/#define SIZEOF_MP_LIMB_T 8/' config.h
    sed -i 's/^GMP_LIMB_BITS = .*/GMP_LIMB_BITS = 64/' Makefile ./*/Makefile
    make -s fac_table.h fib_table.h mp_bases.h trialdivtab.h mpn/jacobitab.h mpn/perfsqr.h >make.out 2>&1
    touch configured
    cd ..
}

# The functions of GMP's mpn layer are in files of their names. At -O2 LLVM makes `select` of the masks in four of
# them, which an engine may run as a branch, so these are built without optimisation.
build_gmp() {
    local own=(-DHAVE_CONFIG_H -D__GMP_WITHIN_GMP -Igmp-build -Igmp-build/mpn -Igmp) file name level
    mkdir -p gmp-objects
    for file in gmp-build/mpn/*.c; do
        name=$(basename "$file" .c)
        level=-Oz
        case $name in sec_tabselect | cnd_add_n | cnd_sub_n | cnd_swap) level=-O0 ;; esac
        compile -w $level "${own[@]}" -Igmp/mpn "-DOPERATION_$name" -c "$file" -o "gmp-objects/$name.o"
    done
    for name in mpz/jacobi mpz/roinit_n tal-reent mp_clz_tab mp_minv_tab; do
        compile "${own[@]}" -c "gmp/$name.c" -o "gmp-objects/${name/\//-}.o"
    done
    "$swift/llvm-ar" rcsD gmp.a gmp-objects/*.o
}

build_sodium() {
    local from=libsodium/src/libsodium file
    mkdir -p include c-objects
    cp -R "$from/include/sodium" include/
    sed 's/@VERSION@/1.0.18/; s/@SODIUM_LIBRARY_VERSION_MAJOR@/10/; s/@SODIUM_LIBRARY_VERSION_MINOR@/3/
        s/@SODIUM_LIBRARY_MINIMAL_DEF@//' "$from/include/sodium/version.h.in" >include/sodium/version.h
    for file in crypto_hash/sha256/cp/hash_sha256_cp crypto_auth/hmacsha256/auth_hmacsha256 \
        crypto_verify/sodium/verify sodium/utils; do
        compile -Iinclude -Iinclude/sodium -D_WASI_EMULATED_SIGNAL -D_GNU_SOURCE -DNATIVE_LITTLE_ENDIAN=1 \
            -DHAVE_WEAK_SYMBOLS=1 -DHAVE_EXPLICIT_BZERO=1 -DCONFIGURED=1 -c "$from/$file.c" \
            -o "c-objects/$(basename "$file").o"
    done
    touch c-objects/built
}

# module NAME OPTIMISATION FILE...: one Swift module, as an object.
module() {
    local name=$1 optimize=$2
    shift 2
    "$swift/swiftc" -target wasm32-unknown-none-wasm -enable-experimental-feature Embedded -wmo "$optimize" \
        -Xfrontend -disable-stack-protector -parse-as-library -swift-version 6 -package-name mpin \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
        -enable-experimental-feature Lifetimes -file-prefix-map "$sources=." -Xcc -isystem -Xcc include \
        -Xcc -isystem -Xcc /usr/include/wasm32-wasi -Xcc -Igmp-build -Xcc "-I$here" \
        -Xfrontend -disable-all-autolinking -I "$sources/CGMP" -I "$sources/CSodium" -I "$sources/CBN254CX" \
        -I "$sources/../include" -I swift-objects \
        -module-name "$name" -c "$@" -o "swift-objects/$name.o" \
        -emit-module -emit-module-path "swift-objects/$name.swiftmodule"
}

# The engine is optimised for speed, the rest for size. What needs files, threads or the network is left out, and what
# WebCrypto does.
build_swift() {
    mkdir -p swift-objects
    local files
    mapfile -t files < <(find "$sources/BN254CX" -name '*.swift' | LC_ALL=C sort)
    module BN254CX -O "${files[@]}"
    module MPinSecrets -Osize "$sources"/MPinSecrets/{Hash,Hex,Random,SecretBytes}.swift
    mapfile -t files < <(find "$sources/MPinCrypto" -name '*.swift' | LC_ALL=C sort)
    module MPinCrypto -Osize "${files[@]}"
    module MPinABI -Osize "$sources"/MPinABI/Crypto*.swift "$sources/MPinABI/Boundary.swift" "$here"/*.swift
}

# link FILE OPTION... FUNCTION...: one WebAssembly module that exports the functions.
link() {
    local file=$1 options=() name
    shift
    for name in "$@"; do
        case $name in -*) options+=("$name") ;; *) options+=("--export=$name") ;; esac
    done
    # All goes to link.out, because wasm-ld warns that the functions of system.c for large numbers have other types than their callers expect.
    "$swift/wasm-ld" --no-entry --gc-sections --stack-first -z stack-size=262144 "${options[@]}" \
        --export=mpin_wasm_alloc --export=mpin_wasm_free swift-objects/{BN254CX,MPinSecrets,MPinCrypto,MPinABI}.o \
        c-objects/*.o gmp.a -L/usr/lib/wasm32-wasi -lc "$builtins" -o "$file" 2>link.out || {
        cat link.out >&2
        return 1
    }
}

client=(random_generate hash_id map_to_g1 recombine_g1 pin_to_scalar extract_pin extract_factor restore_factor
    change_pin client_1 client_2 client get_y get_dvs_keypair get_dvs_public_key get_g1_multiple)

# The libraries are built once. Another GMP or libsodium needs a new folder.
[ -f gmp-build/configured ] || configure_gmp
[ -f gmp.a ] || build_gmp
[ -f c-objects/built ] || build_sodium
compile -c "$here/system.c" -o c-objects/system.o
build_swift
header=$sources/../include/mpin_crypto.h
mapfile -t all < <(sed -n 's/.*\b\(mpin_crypto_[a-z0-9_]*\)(.*/\1/p' "$header" | LC_ALL=C sort -u)
link mpin.wasm --strip-all "${client[@]/#/mpin_crypto_}"
link mpin-named.wasm "${client[@]/#/mpin_crypto_}"
link mpin-all.wasm --strip-all "${all[@]}"
gzip -9nkf mpin.wasm

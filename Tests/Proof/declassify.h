/* Wrappers that valgrind calls instead of two functions.
 *
 * The function `declassify` of the module BN254CX is the only place in the
 * library where a value that is derived from a secret becomes public. It
 * returns its argument, a mask that says whether an input or a proof is valid.
 * Memcheck calls the wrapper instead, so the library contains no code for
 * valgrind, and the tested binary is the released one (it must not be
 * stripped).
 *
 * A verdict is all ones or zero. The wrapper detects a function that would
 * publish more than one bit. */
#ifndef DECLASSIFY_H
#define DECLASSIFY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <valgrind/memcheck.h>
#include <valgrind/valgrind.h>

static unsigned declassified, no_verdicts, poisoned;

uint64_t I_WRAP_SONAME_FNNAME_ZZ(libmpinZdsoZd1,
                                 ZDs7BN254CX10declassifyyS2uF)(uint64_t mask);

/* The symbol is the mangled name of BN254CX.declassify(UInt) -> UInt. */
uint64_t I_WRAP_SONAME_FNNAME_ZZ(libmpinZdsoZd1,
                                 ZDs7BN254CX10declassifyyS2uF)(uint64_t mask)
{
    OrigFn original;
    uint64_t result;
    VALGRIND_GET_ORIG_FN(original);
    CALL_FN_W_W(result, original, mask);
    VALGRIND_MAKE_MEM_DEFINED(&result, sizeof result);
    declassified++;
    if (result != 0 && result != UINT64_MAX) {
        no_verdicts++;
        fprintf(stderr, "declassified more than one bit: %#llx\n",
                (unsigned long long)result);
    }
    return result;
}

/* Random numbers are secret, too: the master shares and x are made from them.
 */
void I_WRAP_SONAME_FNNAME_ZZ(libsodiumZdsoZa, randombytesZubuf)(void *bytes,
                                                                size_t size);

void I_WRAP_SONAME_FNNAME_ZZ(libsodiumZdsoZa, randombytesZubuf)(void *bytes,
                                                                size_t size)
{
    OrigFn original;
    VALGRIND_GET_ORIG_FN(original);
    CALL_FN_v_WW(original, bytes, size);
    VALGRIND_MAKE_MEM_UNDEFINED(bytes, size);
    poisoned++;
}

#endif

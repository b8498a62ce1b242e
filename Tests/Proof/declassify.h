/* Wrappers that valgrind calls instead of two functions.
 *
 * The first function is `declassify` of the module BN254CX. It is the only
 * place in the library at which something that depends on a secret becomes
 * public: a mask that says whether an input or a proof is valid. It returns
 * its argument. Its wrapper marks the result as defined for memcheck, so the
 * library itself contains nothing for valgrind, and the tested binary is the
 * released one (which must not be stripped).
 *
 * A mask must be all ones or zero. The wrapper reports a function that makes
 * more than one bit public. */
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

/* Wraps libsodium's random generator. Marks random numbers as secret, because
 * master shares and x, the client's random number in a login, are made from
 * them. */
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

/* What valgrind puts in the place of two functions.
 *
 * The library's one place where something derived from a secret becomes
 * public: `declassify` of the module BN254CX, an identity on a mask that says
 * whether an input or a proof is valid. Memcheck calls this wrapper instead,
 * so the library itself knows nothing of valgrind and the binary under test is
 * the one that is released (it must not be stripped).
 *
 * Only all ones and zero are verdicts; a function that publishes more than one
 * bit is found out here. */
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

/* Signatures of tokens (JWS, RFC 7515) by cjose, without linking it: the library is looked up before the first use. */
#ifndef MPIN_JOSE_H
#define MPIN_JOSE_H

#include <stddef.h>

/* libmpin exports all names that begin with "mpin_". These are not part of its interface, so they are hidden. */
#pragma GCC visibility push(hidden)

/* The file name of the library that is loaded. */
#define MPIN_JOSE_LIBRARY "libcjose.so.0"

enum mpin_jose_verdict {
    MPIN_JOSE_VALID,
    /* The signature is wrong, or the token or the key is malformed. */
    MPIN_JOSE_INVALID,
    /* cjose is not installed. */
    MPIN_JOSE_UNAVAILABLE,
};

/* Verifies the signature of a token in compact form by a public key, a JWK in JSON. The algorithm is the one in the
 * token's header; the caller must have checked that it is allowed and suits the key. Safe from every thread. */
enum mpin_jose_verdict mpin_jose_verify(const char *token, size_t token_len, const char *jwk, size_t jwk_len);

#pragma GCC visibility pop

#endif

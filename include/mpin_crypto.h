/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CRYPTO_H
#define MPIN_CRYPTO_H

/**
 * libmpin: the M-Pin primitives on the curve BN254CX (about 100 bits of
 * security). The names follow the old library: MPIN_CLIENT_1 is
 * mpin_crypto_client_1.
 *
 * Rules of every function in this header:
 *
 * Arguments: outputs, then inputs. An octet string is `const uint8_t *p,
 *   size_t p_len`; an output is `uint8_t *p, size_t p_len` with p_len exactly
 *   the size of what is written. An output or input that is marked optional
 *   may be NULL with length 0.
 *
 * Results: MPIN_CRYPTO_OK or one of the codes below. On failure no output is
 *   written, unless stated.
 *
 * Encodings: G1 point: 65 bytes, 04 || x || y. G2 point: 128 bytes,
 *   x.a || x.b || y.a || y.b. GT element: 384 bytes, the coefficients of w^0,
 *   w^3, w^1, w^4, w^2, w^5 over Fp2. Field elements and scalars: 32 bytes,
 *   big-endian. Decoding is strict: prefix, coordinates below p, on the curve,
 *   not infinity, and for G2 in the subgroup of order r.
 *
 * Time: functions that take a secret run in time that does not depend on it.
 *   Intermediate values are wiped.
 *
 * Threads: all functions may be called from any thread at any time; a
 *   mpin_crypto_server_context may be shared.
 */

#include "mpin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Results, with the numbers of the old library ------------------- */

#define MPIN_CRYPTO_OK 0
/** NULL, a wrong length, or a number out of range. */
#define MPIN_CRYPTO_WRONG_PARAMETER (-11)
/** Not the encoding of a point of the curve, or the result is infinity. */
#define MPIN_CRYPTO_INVALID_POINT (-14)
/** A point of the curve outside the subgroup of order r. */
#define MPIN_CRYPTO_WRONG_ORDER (-18)
/** The proof is wrong: another PIN, token, identity, date or server secret. */
#define MPIN_CRYPTO_BAD_PIN (-19)
/** The random generator of the system failed. */
#define MPIN_CRYPTO_RANDOM_FAILED (-32)
/** A stale or foreign server context. */
#define MPIN_CRYPTO_INVALID_HANDLE (-34)

/* ---- Sizes in bytes ------------------------------------------------- */

#define MPIN_G1_SIZE 65
#define MPIN_G2_SIZE 128
#define MPIN_GT_SIZE 384
#define MPIN_SCALAR_SIZE 32
#define MPIN_HASH_SIZE 32

MPIN_API size_t mpin_crypto_g1_size(void);
MPIN_API size_t mpin_crypto_g2_size(void);
MPIN_API size_t mpin_crypto_gt_size(void);
MPIN_API size_t mpin_crypto_scalar_size(void);
MPIN_API size_t mpin_crypto_hash_size(void);

/* ---- Identity ------------------------------------------------------- */

/** SHA-256 of a M-Pin ID. Out: hash (32). In: id (any length). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_hash_id(
    uint8_t *hash, size_t hash_len, const uint8_t *id, size_t id_len);

/** A hash to a point: x = hash mod p, counted up to the first x of the curve,
 * with the even y. Variable time: the identity is public.
 * Out: point (G1). In: hash (32). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_map_to_g1(
    uint8_t *point, size_t point_len, const uint8_t *hash, size_t hash_len);

/* ---- Trust authority ------------------------------------------------ */

/** A random scalar, 1 to r-1: a master secret share, x, or y.
 * Out: scalar (32). Returns also: MPIN_CRYPTO_RANDOM_FAILED. */
MPIN_API MPIN_CHECK int32_t
mpin_crypto_random_generate(uint8_t *scalar, size_t scalar_len);

/** s times the point of an identity. Out: secret (G1). In: s (scalar),
 * hash_id (32). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_client_secret(
    uint8_t *secret, size_t secret_len, const uint8_t *s, size_t s_len,
    const uint8_t *hash_id, size_t hash_id_len);

/** s times the generator of G2. Out: secret (G2). In: s (scalar). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_server_secret(
    uint8_t *secret, size_t secret_len, const uint8_t *s, size_t s_len);

/** The time permit of an identity for one day. Out: permit (G1).
 * In: date (days since 1970-01-01 UTC, above 0), s (scalar), hash_id (32). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_client_permit(
    uint8_t *permit, size_t permit_len, int32_t date, const uint8_t *s,
    size_t s_len, const uint8_t *hash_id, size_t hash_id_len);

/** The sum of two shares: client secret or time permit (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_recombine_g1(
    uint8_t *sum, size_t sum_len, const uint8_t *a, size_t a_len,
    const uint8_t *b, size_t b_len);

/** The sum of two shares of the server secret (G2). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_recombine_g2(
    uint8_t *sum, size_t sum_len, const uint8_t *a, size_t a_len,
    const uint8_t *b, size_t b_len);

/* ---- PIN ------------------------------------------------------------ */

/** The decimal number, below 10^6: 20 bits. For new tokens. */
#define MPIN_PIN_DECIMAL6 0
/** The decimal number mod 10^4: 14 bits. Tokens of the Trust native SDKs. */
#define MPIN_PIN_DECIMAL4 1
/** Java's string hash mod 10^4: 14 bits. Tokens of the old SDK core. */
#define MPIN_PIN_LEGACY_HASH 2
/** The remainder of a signed decimal number mod 10^4, its low 14 bits: what
 * the old library did with its integer argument. */
#define MPIN_PIN_LEGACY14 3

/** The number that a PIN stands for. Out: scalar (32), bits: its width, to be
 * handed on with it. In: mapping: one of MPIN_PIN_*; pin: 1 to 32 digits, not
 * NUL-terminated (MPIN_PIN_LEGACY14: 1 to 10 after an optional minus sign;
 * MPIN_PIN_LEGACY_HASH: any bytes). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_pin_to_scalar(
    uint8_t *scalar, size_t scalar_len, int32_t *bits, int32_t mapping,
    const uint8_t *pin, size_t pin_len);

/** The token: client secret minus PIN times the point of the identity.
 * Out: token (G1). In: id (any length), pin (scalar, below 2^pin_bits) and
 * pin_bits (14, 20 or 256), client_secret (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_extract_pin(
    uint8_t *token, size_t token_len, const uint8_t *id, size_t id_len,
    const uint8_t *pin, size_t pin_len, int32_t pin_bits,
    const uint8_t *client_secret, size_t client_secret_len);

/* ---- Client --------------------------------------------------------- */

/** Pass 1: U = x A, UT = x (A + D), sec = token + PIN A (+ permit).
 * Out: sec (G1, secret), u (G1), ut (G1; optional when date is 0).
 * In: date (0: no time permit), id, x (scalar), pin (scalar) and pin_bits,
 * token (G1), permit (G1; optional when date is 0). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_client_1(
    uint8_t *sec, size_t sec_len, uint8_t *u, size_t u_len, uint8_t *ut,
    size_t ut_len, int32_t date, const uint8_t *id, size_t id_len,
    const uint8_t *x, size_t x_len, const uint8_t *pin, size_t pin_len,
    int32_t pin_bits, const uint8_t *token, size_t token_len,
    const uint8_t *permit, size_t permit_len);

/** Pass 2: V = -(x + y) sec. Out: v (G1). In: x, y (scalars), sec (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_client_2(
    uint8_t *v, size_t v_len, const uint8_t *x, size_t x_len, const uint8_t *y,
    size_t y_len, const uint8_t *sec, size_t sec_len);

/* ---- Server --------------------------------------------------------- */

/** Pass 1: the points of an identity. Out: hid (G1) = A, htid (G1; optional
 * when date is 0) = A + D. In: date (0: no time permit), id. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_1(
    uint8_t *hid, size_t hid_len, uint8_t *htid, size_t htid_len, int32_t date,
    const uint8_t *id, size_t id_len);

/** The server secret with its line functions made once. */
typedef struct mpin_crypto_server_context mpin_crypto_server_context;

/** Out: context, released by mpin_crypto_server_context_free().
 * In: server_secret (G2). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_context_new(
    mpin_crypto_server_context **context, const uint8_t *server_secret,
    size_t server_secret_len);

/** Wipes and releases; NULL is allowed. */
MPIN_API void
mpin_crypto_server_context_free(mpin_crypto_server_context *context);

/** Pass 2: accepts if e(Q, V) e(sQ, UT + y (A + D)) = 1, without time permit
 * e(Q, V) e(sQ, U + y A) = 1.
 *
 * In: date (0: no time permit), id, u (G1: UT when date is above 0, else U),
 *   y (scalar), v (G1).
 * Returns: MPIN_CRYPTO_OK (right PIN), MPIN_CRYPTO_BAD_PIN, or an error. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_context_verify(
    mpin_crypto_server_context *context, int32_t date, const uint8_t *id,
    size_t id_len, const uint8_t *u, size_t u_len, const uint8_t *y,
    size_t y_len, const uint8_t *v, size_t v_len);

/** Pass 2 with the old arguments, which also tells how wrong a PIN was.
 *
 * Out: e, f (GT; optional, both or none): written with MPIN_CRYPTO_BAD_PIN
 *   only, for mpin_crypto_kangaroo().
 * In: date (0: no time permit), hid (G1), htid (G1; optional when date is 0),
 *   y (scalar), server_secret (G2), u (G1; optional when e and f are not
 *   wanted and date is above 0), ut (G1; optional when date is 0), v (G1).
 * Returns: MPIN_CRYPTO_OK (right PIN), MPIN_CRYPTO_BAD_PIN, or an error. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_2(
    uint8_t *e, size_t e_len, uint8_t *f, size_t f_len, int32_t date,
    const uint8_t *hid, size_t hid_len, const uint8_t *htid, size_t htid_len,
    const uint8_t *y, size_t y_len, const uint8_t *server_secret,
    size_t server_secret_len, const uint8_t *u, size_t u_len,
    const uint8_t *ut, size_t ut_len, const uint8_t *v, size_t v_len);

/** How far the entered PIN was from the registered one: E = F^-error. Finds
 * every error from -range to range. For tools: a server that uses it tells an
 * attacker too much.
 *
 * Out: error: entered minus registered; 0 if there is none within the range.
 * In: e, f (GT); range: 1 to 999999. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_kangaroo(
    int32_t *error, const uint8_t *e, size_t e_len, const uint8_t *f,
    size_t f_len, int32_t range);

/* ---- Pairing -------------------------------------------------------- */

/** The optimal ate pairing e(q, p). Out: e (GT). In: q (G2), p (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_pairing(
    uint8_t *e, size_t e_len, const uint8_t *q, size_t q_len, const uint8_t *p,
    size_t p_len);

/** e(q1, p1) e(q2, p2). Out: e (GT). In: q1, q2 (G2), p1, p2 (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_pairing_product(
    uint8_t *e, size_t e_len, const uint8_t *q1, size_t q1_len,
    const uint8_t *p1, size_t p1_len, const uint8_t *q2, size_t q2_len,
    const uint8_t *p2, size_t p2_len);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_CRYPTO_H
#define MPIN_CRYPTO_H

/**
 * libmpin: the M-Pin primitives on the curve BN254CX (about 100 bits of
 * security). The names follow the crypto library of the Milagro SDK core ("the
 * Milagro library"): MPIN_CLIENT_1 is mpin_crypto_client_1.
 *
 * Rules of every function in this header:
 *
 * Arguments: outputs come first, then inputs. An input is `const uint8_t *p,
 *   size_t p_len`. An output is `uint8_t *p, size_t p_len`, where p_len must be
 *   exactly the size that is written. An argument that is marked optional may
 *   be NULL with length 0.
 *
 * Results: MPIN_CRYPTO_OK or one of the codes below. On failure no output is
 *   written, unless stated.
 *
 * Encodings: a G1 point has 65 bytes, 04 || x || y. A G2 point has 128 bytes,
 *   x.a || x.b || y.a || y.b. A GT element has 384 bytes, the coefficients of
 *   w^0, w^3, w^1, w^4, w^2, w^5 over Fp2. Field elements and scalars have 32
 *   bytes, big-endian. Decoding is strict: it checks the prefix, that
 *   coordinates are below p and that a point is on the curve and not infinity,
 *   and for G2 and GT the subgroup of order r.
 *
 * Time: functions that take a secret run in a time that does not depend on it.
 *   Intermediate values are wiped.
 *
 * Threads: all functions may be called from any thread at any time. Threads may
 *   share a mpin_crypto_server_context.
 */

#include "mpin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Results, with the numbers of the Milagro library --------------- */

#define MPIN_CRYPTO_OK 0
/** An argument is NULL, an input has a wrong length, the buffer of an output is
 * larger than what would be written, or a number is out of range. */
#define MPIN_CRYPTO_WRONG_PARAMETER (-11)
/** The input is not the encoding of a point of the curve, or the result is the
 * point at infinity. */
#define MPIN_CRYPTO_INVALID_POINT (-14)
/** The input is a point of the curve or an element of Fp12, but outside of the
 * group of order r. */
#define MPIN_CRYPTO_WRONG_ORDER (-18)
/** The proof is wrong, because it was made with another PIN, token, identity or
 * date, or is checked with another server secret. */
#define MPIN_CRYPTO_BAD_PIN (-19)
/** The random generator of the system failed. */
#define MPIN_CRYPTO_RANDOM_FAILED (-32)
/** The buffer of an output is smaller than what would be written. */
#define MPIN_CRYPTO_BUFFER_TOO_SMALL (-33)
/** The handle is not that of a server context, or the context was freed. */
#define MPIN_CRYPTO_INVALID_HANDLE (-34)

/* ---- Sizes in bytes ------------------------------------------------- */

#define MPIN_G1_SIZE 65
#define MPIN_G2_SIZE 128
#define MPIN_GT_SIZE 384
#define MPIN_SCALAR_SIZE 32
#define MPIN_HASH_SIZE 32
/** The size of a key of M-Pin Full. */
#define MPIN_KEY_SIZE 16

MPIN_API size_t mpin_crypto_g1_size(void);
MPIN_API size_t mpin_crypto_g2_size(void);
MPIN_API size_t mpin_crypto_gt_size(void);
MPIN_API size_t mpin_crypto_scalar_size(void);
MPIN_API size_t mpin_crypto_hash_size(void);
MPIN_API size_t mpin_crypto_key_size(void);

/* ---- Identity ------------------------------------------------------- */

/** SHA-256 of an M-Pin ID. Out: hash (32). In: id (any length). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_hash_id(
    uint8_t *hash, size_t hash_len, const uint8_t *id, size_t id_len);

/** Maps a hash to a point: x starts at hash mod p and is incremented until it
 * belongs to a point of the curve; y is even. Variable time, because the
 * identity is public.
 * Out: point (G1). In: hash (32). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_map_to_g1(
    uint8_t *point, size_t point_len, const uint8_t *hash, size_t hash_len);

/* ---- Trust authority ------------------------------------------------ */

/** A random scalar, 1 to r-1, for use as a master secret share, x, y, r or w.
 * Out: scalar (32). Returns also: MPIN_CRYPTO_RANDOM_FAILED. */
MPIN_API MPIN_CHECK int32_t
mpin_crypto_random_generate(uint8_t *scalar, size_t scalar_len);

/** A share of the client secret: the master secret share s times the point of
 * an identity.
 * Out: secret (G1). In: s (scalar), hash_id (32). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_client_secret(
    uint8_t *secret, size_t secret_len, const uint8_t *s, size_t s_len,
    const uint8_t *hash_id, size_t hash_id_len);

/** A share of the server secret: the master secret share s times the generator
 * of G2.
 * Out: secret (G2). In: s (scalar). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_server_secret(
    uint8_t *secret, size_t secret_len, const uint8_t *s, size_t s_len);

/** A share of the time permit of an identity for one day: the master secret
 * share s times the point of the identity and the day. Out: permit (G1).
 * In: date (days since 1970-01-01 UTC, above 0), s (scalar), hash_id (32). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_client_permit(
    uint8_t *permit, size_t permit_len, int32_t date, const uint8_t *s,
    size_t s_len, const uint8_t *hash_id, size_t hash_id_len);

/** The sum of two shares of a client secret or of a time permit. Out: sum (G1).
 * In: a, b (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_recombine_g1(
    uint8_t *sum, size_t sum_len, const uint8_t *a, size_t a_len,
    const uint8_t *b, size_t b_len);

/** The sum of two shares of the server secret. Out: sum (G2). In: a, b (G2). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_recombine_g2(
    uint8_t *sum, size_t sum_len, const uint8_t *a, size_t a_len,
    const uint8_t *b, size_t b_len);

/* ---- PIN ------------------------------------------------------------ */

/** The decimal number mod 10^6: 20 bits. For new tokens. */
#define MPIN_PIN_DECIMAL6 0
/** The decimal number mod 10^4: 14 bits. For tokens of the native Trust SDKs.
 */
#define MPIN_PIN_DECIMAL4 1
/** Java's string hash of the PIN, then as MPIN_PIN_LEGACY14: 14 bits. For
 * tokens of the Milagro SDK core. */
#define MPIN_PIN_LEGACY_HASH 2
/** The low 14 bits of a signed decimal number's remainder by 10^4. The Milagro
 * library treated its integer argument in this way. */
#define MPIN_PIN_LEGACY14 3

/** Converts a PIN to the number that is used in its place.
 * Out: scalar (32); bits: the width of the scalar in bits, which other
 * functions need together with it. In: mapping: one of MPIN_PIN_*; pin: 1 to 32
 * digits, not NUL-terminated (MPIN_PIN_LEGACY14: 1 to 10 after an optional
 * minus sign; MPIN_PIN_LEGACY_HASH: any bytes). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_pin_to_scalar(
    uint8_t *scalar, size_t scalar_len, int32_t *bits, int32_t mapping,
    const uint8_t *pin, size_t pin_len);

/** The token: the client secret minus the PIN times the point of the identity.
 * Out: token (G1). In: id (any length), pin (scalar, below 2^pin_bits) and
 * pin_bits (14, 20 or 256), client_secret (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_extract_pin(
    uint8_t *token, size_t token_len, const uint8_t *id, size_t id_len,
    const uint8_t *pin, size_t pin_len, int32_t pin_bits,
    const uint8_t *client_secret, size_t client_secret_len);

/* ---- Factors -------------------------------------------------------- */

/** Subtracts a further factor from a token. The result is token minus factor
 * times the point of the identity. The order of several factors does not
 * matter, and each may have up to 256 bits.
 * Out: result (G1). In: id, factor (32 bytes, below 2^factor_bits) and
 * factor_bits (1 to 256; a PIN has 14 or 20), token (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_extract_factor(
    uint8_t *result, size_t result_len, const uint8_t *id, size_t id_len,
    const uint8_t *factor, size_t factor_len, int32_t factor_bits,
    const uint8_t *token, size_t token_len);

/** Adds a factor that mpin_crypto_extract_factor() has subtracted. The
 * arguments are the same. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_restore_factor(
    uint8_t *result, size_t result_len, const uint8_t *id, size_t id_len,
    const uint8_t *factor, size_t factor_len, int32_t factor_bits,
    const uint8_t *token, size_t token_len);

/** The token for a new PIN, without a server: token + (old PIN - new PIN) times
 * the point of the identity. The function cannot check the old PIN: log in with
 * it first. The mappings of the two PINs may differ.
 * Out: result (G1). In: id, old_pin and new_pin (32 bytes), each with its bits
 * (from mpin_crypto_pin_to_scalar()), token (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_change_pin(
    uint8_t *result, size_t result_len, const uint8_t *id, size_t id_len,
    const uint8_t *old_pin, size_t old_pin_len, int32_t old_pin_bits,
    const uint8_t *new_pin, size_t new_pin_len, int32_t new_pin_bits,
    const uint8_t *token, size_t token_len);

/* ---- Client --------------------------------------------------------- */

/** Pass 1: U = x A, UT = x (A + D), sec = token + PIN A, plus the permit if
 * there is one. A is the point of the identity, D the point of the identity and
 * the date.
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

/** Pass 1: the points A of an identity and A + D of the identity and a date.
 * Out: hid (G1) = A, htid (G1; optional when date is 0) = A + D. In: date (0:
 * no time permit), id. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_1(
    uint8_t *hid, size_t hid_len, uint8_t *htid, size_t htid_len, int32_t date,
    const uint8_t *id, size_t id_len);

/** A server secret sQ, prepared once for many checks: it contains the
 * precomputed line functions of the pairing. */
typedef struct mpin_crypto_server_context mpin_crypto_server_context;

/** Makes a server context.
 * Out: context, released by mpin_crypto_server_context_free().
 * In: server_secret (G2). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_context_new(
    mpin_crypto_server_context **context, const uint8_t *server_secret,
    size_t server_secret_len);

/** Wipes and releases a server context. NULL is allowed. */
MPIN_API void
mpin_crypto_server_context_free(mpin_crypto_server_context *context);

/** Pass 2: checks the proof V. It is right if e(Q, V) e(sQ, UT + y (A + D)) = 1
 * or, without time permit, e(Q, V) e(sQ, U + y A) = 1. Q is the generator of
 * G2.
 *
 * In: date (0: no time permit), id, u (G1: UT when date is above 0, else U),
 *   y (scalar), v (G1).
 * Returns: MPIN_CRYPTO_OK (right PIN), MPIN_CRYPTO_BAD_PIN, or an error. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_context_verify(
    mpin_crypto_server_context *context, int32_t date, const uint8_t *id,
    size_t id_len, const uint8_t *u, size_t u_len, const uint8_t *y,
    size_t y_len, const uint8_t *v, size_t v_len);

/** Pass 2 with the arguments of the Milagro library. It can also compute the
 * values from which mpin_crypto_kangaroo() tells how wrong a PIN was.
 *
 * Out: e, f (GT; optional, both or none): values for mpin_crypto_kangaroo(),
 *   written only with MPIN_CRYPTO_BAD_PIN.
 * In: date (0: no time permit), hid (G1), htid (G1; optional when date is 0), y
 *   (scalar), server_secret (G2), u (G1; optional when e and f are not wanted
 *   and date is above 0), ut (G1; optional when date is 0), v (G1).
 * Returns: MPIN_CRYPTO_OK (right PIN), MPIN_CRYPTO_BAD_PIN, or an error.
 */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_2(
    uint8_t *e, size_t e_len, uint8_t *f, size_t f_len, int32_t date,
    const uint8_t *hid, size_t hid_len, const uint8_t *htid, size_t htid_len,
    const uint8_t *y, size_t y_len, const uint8_t *server_secret,
    size_t server_secret_len, const uint8_t *u, size_t u_len,
    const uint8_t *ut, size_t ut_len, const uint8_t *v, size_t v_len);

/** Computes the difference between the entered PIN and the registered PIN,
 * which is the number `error` with e = f^-error. Finds every difference from
 * -range to range. Use this function in tools only: a server that tells users
 * the difference helps an attacker.
 *
 * Out: error: entered PIN minus registered PIN; 0 if no number within the range
 * fits.
 * In: e, f (GT); range: 1 to 999999.
 */
MPIN_API MPIN_CHECK int32_t mpin_crypto_kangaroo(
    int32_t *error, const uint8_t *e, size_t e_len, const uint8_t *f,
    size_t f_len, int32_t range);

/* ---- Key pair ------------------------------------------------------- */

/* An identity that signs (designated verifier signature) has a key pair: the
 * secret number z and the public key Pa = z^-1 Q, where Q is the generator of
 * G2. For such an identity, the id of every function is the M-Pin ID followed
 * by the 128 bytes of Pa, the client secret is z times the sum of its shares,
 * and Pa takes the place of Q when a proof is checked. */

/** Makes a key pair. Out: z (scalar, secret), public_key (G2).
 * Returns also: MPIN_CRYPTO_RANDOM_FAILED. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_dvs_keypair(
    uint8_t *z, size_t z_len, uint8_t *public_key, size_t public_key_len);

/** The public key of a given z. Out: public_key (G2). In: z (scalar). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_dvs_public_key(
    uint8_t *public_key, size_t public_key_len, const uint8_t *z, size_t z_len);

/** The product of the scalar x and a point. Use it for z times the sum of the
 * shares of a client secret, and for Z and T of M-Pin Full.
 * Out: product (G1). In: x (scalar), point (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_g1_multiple(
    uint8_t *product, size_t product_len, const uint8_t *x, size_t x_len,
    const uint8_t *point, size_t point_len);

/** Pass 2 for an identity with a key pair: checks the proof V, which is right
 * if e(Pa, V) e(sQ, U + y A) = 1. Pass the public key that was registered for
 * the M-Pin ID, and not a key that came with the proof.
 *
 * In: public_key (G2), id (the M-Pin ID, then the public key), u (G1),
 *   y (scalar), v (G1).
 * Returns: MPIN_CRYPTO_OK (right PIN), MPIN_CRYPTO_BAD_PIN, or an error. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_context_verify_dvs(
    mpin_crypto_server_context *context, const uint8_t *public_key,
    size_t public_key_len, const uint8_t *id, size_t id_len, const uint8_t *u,
    size_t u_len, const uint8_t *y, size_t y_len, const uint8_t *v,
    size_t v_len);

/* ---- One pass ------------------------------------------------------- */

/* A proof without a challenge from the server: y is computed from the time, the
 * commitment and a message, so the proof signs the message for the server. The
 * time is in seconds since 1970, 1 to 4294967295; any other number, for example
 * a time in milliseconds, gives MPIN_CRYPTO_WRONG_PARAMETER. The server must
 * decide how old a proof may be and must refuse a proof that was used before.
 */

/** y = SHA-256(time || U || message) mod r, with the time as four big-endian
 * bytes.
 * Out: y (scalar). In: time, u (G1: UT when there is a time permit), message
 * (any length). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_get_y(
    uint8_t *y, size_t y_len, int64_t time, const uint8_t *u, size_t u_len,
    const uint8_t *message, size_t message_len);

/** Makes the client's proof: U, UT and V of the two passes for this y.
 * Out: u (G1), ut (G1; optional when date is 0), v (G1).
 * In: date (0: no time permit), id, x (scalar; a new one for each proof), pin
 * (scalar) and pin_bits, token (G1), permit (G1; optional when date is 0),
 * time, message (any length). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_client(
    uint8_t *u, size_t u_len, uint8_t *ut, size_t ut_len, uint8_t *v,
    size_t v_len, int32_t date, const uint8_t *id, size_t id_len,
    const uint8_t *x, size_t x_len, const uint8_t *pin, size_t pin_len,
    int32_t pin_bits, const uint8_t *token, size_t token_len,
    const uint8_t *permit, size_t permit_len, int64_t time,
    const uint8_t *message, size_t message_len);

/** Checks a proof of mpin_crypto_client().
 *
 * Out: e, f (GT; optional, both or none) as in mpin_crypto_server_2().
 * In: date (0: no time permit), id, server_secret (G2), public_key (G2;
 *   optional: of an identity with a key pair), u (G1; optional when e and f are
 *   not wanted and date is above 0), ut (G1; optional when date is 0), v (G1),
 *   time, message (any length).
 * Returns: MPIN_CRYPTO_OK (right PIN and message), MPIN_CRYPTO_BAD_PIN, or an
 *   error. If you have a server context, call mpin_crypto_get_y() and then
 *   mpin_crypto_server_context_verify() or _verify_dvs() instead.
 */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server(
    uint8_t *e, size_t e_len, uint8_t *f, size_t f_len, int32_t date,
    const uint8_t *id, size_t id_len, const uint8_t *server_secret,
    size_t server_secret_len, const uint8_t *public_key, size_t public_key_len,
    const uint8_t *u, size_t u_len, const uint8_t *ut, size_t ut_len,
    const uint8_t *v, size_t v_len, int64_t time, const uint8_t *message,
    size_t message_len);

/* ---- M-Pin Full ----------------------------------------------------- */

/* In addition to the proof, both sides agree on a key. The client draws r and
 * sends Z = r A; the server draws w and sends T = w A, or w (A + D) when there
 * is a time permit. mpin_crypto_get_g1_multiple() computes both. The keys are
 * equal if the PIN is right. */

/** Computes what the client can compute before the PIN is known: g1 = e(Q,
 * token) and g2 = e(Q, A). g1 is as secret as the token. Q is the generator of
 * G2, A the point to which hash_id maps.
 * Out: g1, g2 (GT). In: token (G1), hash_id (32). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_precompute(
    uint8_t *g1, size_t g1_len, uint8_t *g2, size_t g2_len,
    const uint8_t *token, size_t token_len, const uint8_t *hash_id,
    size_t hash_id_len);

/** The client's key, derived from (g1 g2^PIN)^r and x T.
 * Out: key (16). In: g1, g2 (GT), pin (scalar) and pin_bits (as in every other
 * function; the Milagro library did not reduce the PIN here), r (scalar of Z; 0
 * is allowed, but then the key differs from the server's), x (scalar of U and
 * UT), t (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_client_key(
    uint8_t *key, size_t key_len, const uint8_t *g1, size_t g1_len,
    const uint8_t *g2, size_t g2_len, const uint8_t *pin, size_t pin_len,
    int32_t pin_bits, const uint8_t *r, size_t r_len, const uint8_t *x,
    size_t x_len, const uint8_t *t, size_t t_len);

/** The server's key, derived from e(sQ, Z) and w U (w UT with a time permit);
 * sQ is the server secret.
 * Out: key (16). In: z (G1), server_secret (G2), w (scalar of T), u (G1), ut
 * (G1; optional: NULL without a time permit). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_server_key(
    uint8_t *key, size_t key_len, const uint8_t *z, size_t z_len,
    const uint8_t *server_secret, size_t server_secret_len, const uint8_t *w,
    size_t w_len, const uint8_t *u, size_t u_len, const uint8_t *ut,
    size_t ut_len);

/* ---- Elligator squared ---------------------------------------------- */

/** Encodes a point as a string that looks random, except for six bits of its
 * first byte, which are 0. Each call gives another string. Variable time: use
 * it for public points only.
 * Out: encoded (65). In: point (G1).
 * Returns also: MPIN_CRYPTO_RANDOM_FAILED. */
MPIN_API MPIN_CHECK int32_t mpin_crypto_encoding(
    uint8_t *encoded, size_t encoded_len, const uint8_t *point,
    size_t point_len);

/** Decodes a string of mpin_crypto_encoding().
 * Out: point (G1). In: encoded (65; a first byte above 3 is
 * MPIN_CRYPTO_INVALID_POINT). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_decoding(
    uint8_t *point, size_t point_len, const uint8_t *encoded,
    size_t encoded_len);

/* ---- Pairing -------------------------------------------------------- */

/** The optimal ate pairing e(q, p). Out: e (GT). In: q (G2), p (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_pairing(
    uint8_t *e, size_t e_len, const uint8_t *q, size_t q_len, const uint8_t *p,
    size_t p_len);

/** The product e(q1, p1) e(q2, p2) of two pairings.
 * Out: e (GT). In: q1, q2 (G2), p1, p2 (G1). */
MPIN_API MPIN_CHECK int32_t mpin_crypto_pairing_product(
    uint8_t *e, size_t e_len, const uint8_t *q1, size_t q1_len,
    const uint8_t *p1, size_t p1_len, const uint8_t *q2, size_t q2_len,
    const uint8_t *p2, size_t p2_len);

#ifdef __cplusplus
}
#endif

#endif

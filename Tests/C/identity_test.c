/* Tests an identity with a key pair: registration, logins and signatures.
 * Also tests factors, a new PIN, the keys of M-Pin Full, and points that
 * look random. */
#include "check.h"

#include <mpin_crypto.h>

#define ARG(array) array, sizeof(array)
#define EQUAL(a, b) (sizeof(a) == sizeof(b) && memcmp(a, b, sizeof(a)) == 0)

enum { DATE = 20778, TIME = 1700000000 };

/* An M-Pin ID with room for the public key after it. */
static uint8_t id[5 + MPIN_G2_SIZE] = "alice";
static const size_t plain_size = 5;
static uint8_t s[MPIN_SCALAR_SIZE], z[MPIN_SCALAR_SIZE], x[MPIN_SCALAR_SIZE],
    y[MPIN_SCALAR_SIZE], server_secret[MPIN_G2_SIZE], public_key[MPIN_G2_SIZE],
    hash[MPIN_HASH_SIZE], token[MPIN_G1_SIZE];

struct pin {
    uint8_t scalar[MPIN_SCALAR_SIZE];
    int32_t bits;
};

static struct pin pin(const char *digits)
{
    struct pin pin;
    CHECK_STATUS(mpin_crypto_pin_to_scalar(
                     ARG(pin.scalar), &pin.bits, MPIN_PIN_DECIMAL6,
                     (const uint8_t *)digits, strlen(digits)), 0);
    return pin;
}

static void register_key_pair(void)
{
    uint8_t again[MPIN_G2_SIZE], secret[MPIN_G1_SIZE];
    struct pin registered = pin("123456");
    CHECK_STATUS(mpin_crypto_random_generate(ARG(s)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(x)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(y)), 0);
    CHECK_STATUS(mpin_crypto_get_server_secret(ARG(server_secret), ARG(s)), 0);
    CHECK_STATUS(mpin_crypto_get_dvs_keypair(ARG(z), ARG(public_key)), 0);
    CHECK_STATUS(mpin_crypto_get_dvs_public_key(ARG(again), ARG(z)), 0);
    CHECK(EQUAL(again, public_key), "the public key is not that of z");
    memcpy(id + plain_size, public_key, sizeof public_key);
    CHECK_STATUS(mpin_crypto_hash_id(ARG(hash), ARG(id)), 0);
    CHECK_STATUS(mpin_crypto_get_client_secret(ARG(secret), ARG(s), ARG(hash)),
                 0);
    CHECK_STATUS(mpin_crypto_get_g1_multiple(ARG(secret), ARG(z), ARG(secret)),
                 0);
    CHECK_STATUS(mpin_crypto_extract_pin(ARG(token), ARG(id),
                                         ARG(registered.scalar),
                                         registered.bits, ARG(secret)), 0);
}

/* Logs in with two passes. Returns the result of the server. */
static int32_t login(const uint8_t *t, const char *digits)
{
    uint8_t sec[MPIN_G1_SIZE], u[MPIN_G1_SIZE], v[MPIN_G1_SIZE];
    struct pin entered = pin(digits);
    mpin_crypto_server_context *context = NULL;
    CHECK_STATUS(mpin_crypto_client_1(ARG(sec), ARG(u), NULL, 0, 0, ARG(id),
                                      ARG(x), ARG(entered.scalar), entered.bits,
                                      t, MPIN_G1_SIZE, NULL, 0), 0);
    CHECK_STATUS(mpin_crypto_client_2(ARG(v), ARG(x), ARG(y), ARG(sec)), 0);
    CHECK_STATUS(mpin_crypto_server_context_new(&context, ARG(server_secret)),
                 0);
    CHECK_STATUS(mpin_crypto_server_context_verify(context, 0, ARG(id), ARG(u),
                                                   ARG(y), ARG(v)),
                 MPIN_CRYPTO_BAD_PIN);
    int32_t result = mpin_crypto_server_context_verify_dvs(
        context, ARG(public_key), ARG(id), ARG(u), ARG(y), ARG(v));
    mpin_crypto_server_context_free(context);
    return result;
}

static void factors(void)
{
    uint8_t without[MPIN_G1_SIZE], with[MPIN_G1_SIZE], changed[MPIN_G1_SIZE];
    uint8_t factor[32];
    memset(factor, 0xFF, sizeof factor);
    struct pin old = pin("123456"), new = pin("654321");
    CHECK_STATUS(mpin_crypto_extract_factor(ARG(without), ARG(id), ARG(factor),
                                            256, ARG(token)), 0);
    CHECK_STATUS(login(without, "123456"), MPIN_CRYPTO_BAD_PIN);
    CHECK_STATUS(mpin_crypto_restore_factor(ARG(with), ARG(id), ARG(factor), 256,
                                            ARG(without)), 0);
    CHECK(EQUAL(with, token), "the factor is not back");
    CHECK_STATUS(mpin_crypto_change_pin(ARG(changed), ARG(id), ARG(old.scalar),
                                        old.bits, ARG(new.scalar), new.bits,
                                        ARG(token)), 0);
    CHECK_STATUS(login(changed, "654321"), MPIN_CRYPTO_OK);
    CHECK_STATUS(login(changed, "123456"), MPIN_CRYPTO_BAD_PIN);
}

static void signatures(void)
{
    const uint8_t message[] = "I owe you one", other[] = "I owe you two";
    const struct {
        const char *digits;
        const uint8_t *message;
        int64_t time;
        int32_t expected;
    } cases[] = {{"123456", message, TIME, MPIN_CRYPTO_OK},
                 {"123457", message, TIME, MPIN_CRYPTO_BAD_PIN},
                 {"123456", other, TIME, MPIN_CRYPTO_BAD_PIN},
                 {"123456", message, TIME + 1, MPIN_CRYPTO_BAD_PIN}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t u[MPIN_G1_SIZE], v[MPIN_G1_SIZE], e[MPIN_GT_SIZE],
            f[MPIN_GT_SIZE];
        struct pin entered = pin(cases[i].digits);
        int32_t error = 0;
        CHECK_STATUS(mpin_crypto_client(
                         ARG(u), NULL, 0, ARG(v), 0, ARG(id), ARG(x),
                         ARG(entered.scalar), entered.bits, ARG(token), NULL, 0,
                         TIME, ARG(message)), 0);
        CHECK_STATUS(mpin_crypto_server(
                         ARG(e), ARG(f), 0, ARG(id), ARG(server_secret),
                         ARG(public_key), ARG(u), NULL, 0, ARG(v), cases[i].time,
                         cases[i].message, sizeof message), cases[i].expected);
        CHECK_STATUS(mpin_crypto_server(
                         NULL, 0, NULL, 0, 0, ARG(id), ARG(server_secret),
                         NULL, 0, ARG(u), NULL, 0, ARG(v), cases[i].time,
                         cases[i].message, sizeof message), MPIN_CRYPTO_BAD_PIN);
        if (i == 1) {
            CHECK_STATUS(mpin_crypto_kangaroo(&error, ARG(e), ARG(f), 9999), 0);
            CHECK(error == 1, "error %d", error);
        }
    }
}

/* Tests that client and server compute the same key, without a key pair,
 * with or without a date. */
static void keys(int32_t date, const char *entered)
{
    uint8_t secret[MPIN_G1_SIZE], permit[MPIN_G1_SIZE], plain[MPIN_G1_SIZE],
        sec[MPIN_G1_SIZE], u[MPIN_G1_SIZE], ut[MPIN_G1_SIZE], hid[MPIN_G1_SIZE],
        htid[MPIN_G1_SIZE], big_z[MPIN_G1_SIZE], t[MPIN_G1_SIZE];
    uint8_t g1[MPIN_GT_SIZE], g2[MPIN_GT_SIZE], r[MPIN_SCALAR_SIZE],
        w[MPIN_SCALAR_SIZE], client[MPIN_KEY_SIZE], server[MPIN_KEY_SIZE];
    struct pin right = pin("1234"), digits = pin(entered);
    size_t timed = date > 0 ? MPIN_G1_SIZE : 0;
    CHECK_STATUS(mpin_crypto_hash_id(ARG(hash), id, plain_size), 0);
    CHECK_STATUS(mpin_crypto_get_client_secret(ARG(secret), ARG(s), ARG(hash)),
                 0);
    CHECK_STATUS(mpin_crypto_get_client_permit(ARG(permit), DATE, ARG(s),
                                               ARG(hash)), 0);
    CHECK_STATUS(mpin_crypto_extract_pin(ARG(plain), id, plain_size,
                                         ARG(right.scalar), right.bits,
                                         ARG(secret)), 0);
    CHECK_STATUS(mpin_crypto_client_1(
                     ARG(sec), ARG(u), date > 0 ? ut : NULL, timed, date, id,
                     plain_size, ARG(x), ARG(digits.scalar), digits.bits,
                     ARG(plain), date > 0 ? permit : NULL, timed), 0);
    CHECK_STATUS(mpin_crypto_server_1(ARG(hid), date > 0 ? htid : NULL, timed,
                                      date, id, plain_size), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(r)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(w)), 0);
    CHECK_STATUS(mpin_crypto_get_g1_multiple(ARG(big_z), ARG(r), ARG(hid)), 0);
    CHECK_STATUS(mpin_crypto_get_g1_multiple(ARG(t), ARG(w),
                                             date > 0 ? htid : hid,
                                             MPIN_G1_SIZE), 0);
    CHECK_STATUS(mpin_crypto_precompute(ARG(g1), ARG(g2), ARG(plain), ARG(hash)),
                 0);
    CHECK_STATUS(mpin_crypto_client_key(ARG(client), ARG(g1), ARG(g2),
                                        ARG(digits.scalar), digits.bits, ARG(r),
                                        ARG(x), ARG(t)), 0);
    CHECK_STATUS(mpin_crypto_server_key(ARG(server), ARG(big_z),
                                        ARG(server_secret), ARG(w), ARG(u),
                                        date > 0 ? ut : NULL, timed), 0);
    int is_right = strcmp(entered, "1234") == 0;
    CHECK(EQUAL(client, server) == is_right, "date %d, PIN %s", date, entered);
}

static void encodings(void)
{
    uint8_t point[MPIN_G1_SIZE], first[65], second[65];
    CHECK_STATUS(mpin_crypto_encoding(ARG(first), ARG(token)), 0);
    CHECK_STATUS(mpin_crypto_encoding(ARG(second), ARG(token)), 0);
    CHECK(!EQUAL(first, second), "twice the same encoding");
    CHECK_STATUS(mpin_crypto_decoding(ARG(point), ARG(first)), 0);
    CHECK(EQUAL(point, token), "another point came back");
    first[0] = 4;
    CHECK_STATUS(mpin_crypto_decoding(ARG(point), ARG(first)),
                 MPIN_CRYPTO_INVALID_POINT);
}

int main(void)
{
    register_key_pair();
    CHECK_STATUS(login(token, "123456"), MPIN_CRYPTO_OK);
    CHECK_STATUS(login(token, "123455"), MPIN_CRYPTO_BAD_PIN);
    factors();
    signatures();
    keys(0, "1234");
    keys(DATE, "1234");
    keys(0, "1235");
    keys(DATE, "4321");
    encodings();
    return report("identity_test");
}

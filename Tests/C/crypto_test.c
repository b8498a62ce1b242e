/* Tests a registration and logins through mpin_crypto.h: against the test
 * vector of the wire protocol, and with new random values. */
#include "check.h"
#include "vector.h"

#include <mpin_crypto.h>

/* Declares an array of octets with a value of the vector, which is in hex. */
#define VALUE(name, hex)                                                       \
    uint8_t name[sizeof(hex) / 2];                                             \
    unhex(name, hex)

#define ARG(array) array, sizeof(array)
#define EQUAL(a, b) (sizeof(a) == sizeof(b) && memcmp(a, b, sizeof(a)) == 0)

static void trust_authorities(void)
{
    VALUE(s1, VECTOR_S1);
    VALUE(s2, VECTOR_S2);
    VALUE(id, VECTOR_MPIN_ID);
    VALUE(expected_hash, VECTOR_HASH_ID);
    uint8_t hash[MPIN_HASH_SIZE];
    CHECK_STATUS(mpin_crypto_hash_id(ARG(hash), ARG(id)), MPIN_CRYPTO_OK);
    CHECK(EQUAL(hash, expected_hash), "hash");

    VALUE(client_1, VECTOR_CLIENT_SHARE_1);
    VALUE(client_2, VECTOR_CLIENT_SHARE_2);
    VALUE(client, VECTOR_CLIENT_SECRET);
    VALUE(permit_1, VECTOR_PERMIT_SHARE_1);
    VALUE(permit_2, VECTOR_PERMIT_SHARE_2);
    VALUE(permit, VECTOR_PERMIT);
    uint8_t a[MPIN_G1_SIZE], b[MPIN_G1_SIZE], sum[MPIN_G1_SIZE];
    CHECK_STATUS(mpin_crypto_get_client_secret(ARG(a), ARG(s1), ARG(hash)), 0);
    CHECK_STATUS(mpin_crypto_get_client_secret(ARG(b), ARG(s2), ARG(hash)), 0);
    CHECK_STATUS(mpin_crypto_recombine_g1(ARG(sum), ARG(a), ARG(b)), 0);
    CHECK(EQUAL(a, client_1), "client secret share 1");
    CHECK(EQUAL(b, client_2), "client secret share 2");
    CHECK(EQUAL(sum, client), "client secret");
    CHECK_STATUS(mpin_crypto_get_client_permit(ARG(a), VECTOR_DATE, ARG(s1),
                                               ARG(hash)), 0);
    CHECK_STATUS(mpin_crypto_get_client_permit(ARG(b), VECTOR_DATE, ARG(s2),
                                               ARG(hash)), 0);
    CHECK(EQUAL(a, permit_1), "permit share 1");
    CHECK(EQUAL(b, permit_2), "permit share 2");
    /* Tests that an output may overlap an input. */
    CHECK_STATUS(mpin_crypto_recombine_g1(ARG(a), ARG(a), ARG(b)), 0);
    CHECK(EQUAL(a, permit), "permit");

    VALUE(server_1, VECTOR_SERVER_SHARE_1);
    VALUE(server_2, VECTOR_SERVER_SHARE_2);
    VALUE(server, VECTOR_SERVER_SECRET);
    uint8_t p[MPIN_G2_SIZE], q[MPIN_G2_SIZE];
    CHECK_STATUS(mpin_crypto_get_server_secret(ARG(p), ARG(s1)), 0);
    CHECK_STATUS(mpin_crypto_get_server_secret(ARG(q), ARG(s2)), 0);
    CHECK(EQUAL(p, server_1), "server secret share 1");
    CHECK(EQUAL(q, server_2), "server secret share 2");
    CHECK_STATUS(mpin_crypto_recombine_g2(ARG(p), ARG(p), ARG(q)), 0);
    CHECK(EQUAL(p, server), "server secret");
}

/* Maps a PIN to a number with the hash of Milagro's core, as the vector does. */
static void legacy_pin(uint8_t *scalar, const char *pin)
{
    int32_t bits = 0;
    CHECK_STATUS(mpin_crypto_pin_to_scalar(scalar, MPIN_SCALAR_SIZE, &bits,
                                           MPIN_PIN_LEGACY_HASH,
                                           (const uint8_t *)pin, strlen(pin)),
                 0);
    CHECK(bits == 14, "%d bits", bits);
}

static void client(void)
{
    VALUE(id, VECTOR_MPIN_ID);
    VALUE(client_secret, VECTOR_CLIENT_SECRET);
    VALUE(expected_token, VECTOR_TOKEN);
    uint8_t pin[MPIN_SCALAR_SIZE], token[MPIN_G1_SIZE];
    legacy_pin(pin, VECTOR_PIN);
    CHECK(pin[30] == VECTOR_PIN_VALUE / 256 && pin[31] == VECTOR_PIN_VALUE % 256,
          "PIN value %d", pin[30] * 256 + pin[31]);
    CHECK_STATUS(mpin_crypto_extract_pin(ARG(token), ARG(id), ARG(pin), 14,
                                         ARG(client_secret)), 0);
    CHECK(EQUAL(token, expected_token), "token");

    VALUE(x, VECTOR_X);
    VALUE(y, VECTOR_Y);
    VALUE(permit, VECTOR_PERMIT);
    VALUE(expected_u, VECTOR_U);
    VALUE(expected_ut, VECTOR_UT);
    VALUE(expected_v, VECTOR_V);
    VALUE(expected_v_plain, VECTOR_V_NO_PERMIT);
    VALUE(expected_v_wrong, VECTOR_V_WRONG_PIN);
    uint8_t sec[MPIN_G1_SIZE], u[MPIN_G1_SIZE], ut[MPIN_G1_SIZE],
        v[MPIN_G1_SIZE];
    CHECK_STATUS(mpin_crypto_client_1(ARG(sec), ARG(u), ARG(ut), VECTOR_DATE,
                                      ARG(id), ARG(x), ARG(pin), 14, ARG(token),
                                      ARG(permit)), 0);
    CHECK_STATUS(mpin_crypto_client_2(ARG(v), ARG(x), ARG(y), ARG(sec)), 0);
    CHECK(EQUAL(u, expected_u), "U");
    CHECK(EQUAL(ut, expected_ut), "UT");
    CHECK(EQUAL(v, expected_v), "V");

    CHECK_STATUS(mpin_crypto_client_1(ARG(sec), ARG(u), NULL, 0, 0, ARG(id),
                                      ARG(x), ARG(pin), 14, ARG(token), NULL,
                                      0), 0);
    CHECK_STATUS(mpin_crypto_client_2(ARG(v), ARG(x), ARG(y), ARG(sec)), 0);
    CHECK(EQUAL(v, expected_v_plain), "V without time permit");

    legacy_pin(pin, "1235");
    CHECK_STATUS(mpin_crypto_client_1(ARG(sec), ARG(u), ARG(ut), VECTOR_DATE,
                                      ARG(id), ARG(x), ARG(pin), 14, ARG(token),
                                      ARG(permit)), 0);
    CHECK_STATUS(mpin_crypto_client_2(ARG(v), ARG(x), ARG(y), ARG(sec)), 0);
    CHECK(EQUAL(v, expected_v_wrong), "V of a wrong PIN");
}

static void server(void)
{
    VALUE(id, VECTOR_MPIN_ID);
    VALUE(server_secret, VECTOR_SERVER_SECRET);
    VALUE(u, VECTOR_U);
    VALUE(ut, VECTOR_UT);
    VALUE(y, VECTOR_Y);
    VALUE(v, VECTOR_V);
    VALUE(v_wrong, VECTOR_V_WRONG_PIN);
    VALUE(v_plain, VECTOR_V_NO_PERMIT);
    const struct {
        const char *name;
        int32_t date;
        const uint8_t *u, *v;
        int32_t expected;
    } logins[] = {
        {"right PIN", VECTOR_DATE, ut, v, MPIN_CRYPTO_OK},
        {"wrong PIN", VECTOR_DATE, ut, v_wrong, MPIN_CRYPTO_BAD_PIN},
        {"the permit of yesterday", VECTOR_DATE + 1, ut, v, MPIN_CRYPTO_BAD_PIN},
        {"no permit", 0, u, v_plain, MPIN_CRYPTO_OK},
        {"no permit, proof with permit", 0, u, v, MPIN_CRYPTO_BAD_PIN},
    };
    mpin_crypto_server_context *context = NULL;
    CHECK_STATUS(mpin_crypto_server_context_new(&context, ARG(server_secret)), 0);
    for (size_t i = 0; i < sizeof(logins) / sizeof(logins[0]); i++) {
        int32_t date = logins[i].date;
        int32_t got = mpin_crypto_server_context_verify(
            context, date, ARG(id), logins[i].u, MPIN_G1_SIZE, ARG(y),
            logins[i].v, MPIN_G1_SIZE);
        CHECK(got == logins[i].expected, "%s gave %d", logins[i].name, got);

        uint8_t hid[MPIN_G1_SIZE], htid[MPIN_G1_SIZE];
        size_t n = date ? MPIN_G1_SIZE : 0;
        CHECK_STATUS(mpin_crypto_server_1(ARG(hid), n ? htid : NULL, n, date,
                                          ARG(id)), 0);
        got = mpin_crypto_server_2(NULL, 0, NULL, 0, date, ARG(hid),
                                   n ? htid : NULL, n, ARG(y),
                                   ARG(server_secret), ARG(u), n ? ut : NULL, n,
                                   logins[i].v, MPIN_G1_SIZE);
        CHECK(got == logins[i].expected, "%s by server_2 gave %d",
              logins[i].name, got);
    }
    mpin_crypto_server_context_free(context);
}

/* Logs in with new random values. Returns the server's result, and writes to
 * `pin_error` by how much the PIN was wrong. */
static int32_t login(const char *registered, const char *entered,
                     int32_t *pin_error)
{
    static const uint8_t id[] = "{\"userID\": \"bob@example.com\"}";
    uint8_t s[32], x[32], y[32], hash[32], pin[32];
    uint8_t secret[65], token[65], sec[65], u[65], v[65], hid[65], sst[128];
    uint8_t e[MPIN_GT_SIZE], f[MPIN_GT_SIZE];
    int32_t bits = 0;
    CHECK_STATUS(mpin_crypto_random_generate(ARG(s)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(x)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(y)), 0);
    CHECK(!EQUAL(x, y), "the generator repeats itself");
    CHECK_STATUS(mpin_crypto_hash_id(ARG(hash), ARG(id)), 0);
    CHECK_STATUS(mpin_crypto_map_to_g1(ARG(hid), ARG(hash)), 0);
    CHECK_STATUS(mpin_crypto_get_client_secret(ARG(secret), ARG(s), ARG(hash)),
                 0);
    CHECK_STATUS(mpin_crypto_get_server_secret(ARG(sst), ARG(s)), 0);
    CHECK_STATUS(mpin_crypto_pin_to_scalar(ARG(pin), &bits, MPIN_PIN_DECIMAL6,
                                           (const uint8_t *)registered,
                                           strlen(registered)), 0);
    CHECK_STATUS(mpin_crypto_extract_pin(ARG(token), ARG(id), ARG(pin), bits,
                                         ARG(secret)), 0);
    CHECK_STATUS(mpin_crypto_pin_to_scalar(ARG(pin), &bits, MPIN_PIN_DECIMAL6,
                                           (const uint8_t *)entered,
                                           strlen(entered)), 0);
    CHECK_STATUS(mpin_crypto_client_1(ARG(sec), ARG(u), NULL, 0, 0, ARG(id),
                                      ARG(x), ARG(pin), bits, ARG(token), NULL,
                                      0), 0);
    CHECK_STATUS(mpin_crypto_client_2(ARG(v), ARG(x), ARG(y), ARG(sec)), 0);
    int32_t result = mpin_crypto_server_2(
        ARG(e), ARG(f), 0, ARG(hid), NULL, 0, ARG(y), ARG(sst), ARG(u), NULL, 0,
        ARG(v));
    *pin_error = 0;
    if (result == MPIN_CRYPTO_BAD_PIN)
        CHECK_STATUS(mpin_crypto_kangaroo(pin_error, ARG(e), ARG(f), 999999), 0);
    return result;
}

static void round_trip(void)
{
    int32_t pin_error;
    CHECK_STATUS(login("123456", "123456", &pin_error), MPIN_CRYPTO_OK);
    CHECK_STATUS(login("0000", "0000", &pin_error), MPIN_CRYPTO_OK);
    CHECK_STATUS(login("1234", "1235", &pin_error), MPIN_CRYPTO_BAD_PIN);
    CHECK(pin_error == 1, "error %d", pin_error);
    CHECK_STATUS(login("123456", "23456", &pin_error), MPIN_CRYPTO_BAD_PIN);
    CHECK(pin_error == -100000, "error %d", pin_error);
}

static void pairings(void)
{
    VALUE(q, VECTOR_SERVER_SHARE_1);
    VALUE(p1, VECTOR_U);
    VALUE(p2, VECTOR_UT);
    uint8_t sum[65], one[384], product[384];
    CHECK_STATUS(mpin_crypto_recombine_g1(ARG(sum), ARG(p1), ARG(p2)), 0);
    CHECK_STATUS(mpin_crypto_pairing(ARG(one), ARG(q), ARG(sum)), 0);
    CHECK_STATUS(mpin_crypto_pairing_product(ARG(product), ARG(q), ARG(p1),
                                             ARG(q), ARG(p2)), 0);
    CHECK(EQUAL(one, product), "e(Q, A + B) is not e(Q, A) e(Q, B)");
}

int main(void)
{
    trust_authorities();
    client();
    server();
    round_trip();
    pairings();
    return report("crypto_test");
}

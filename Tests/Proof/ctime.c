/* Tests for constant time: every secret that goes through the C ABI is
 * marked as undefined, and valgrind's memcheck reports each branch and each
 * address that depends on it (Adam Langley's ctgrind). Runs on the release
 * build of the library:
 *
 *     valgrind --error-exitcode=42 ctime            all functions
 *     valgrind --error-exitcode=42 ctime control    two leaks, which must fail
 *
 * What a function returns to its caller is no secret, so outputs and results
 * are marked as defined before the test reads them. So are the one-bit
 * verdicts inside the library ("is this a scalar below r?"), which all pass
 * through one function; see declassify.h. */
#include "../C/check.h"
#include "declassify.h"

#include <mpin_crypto.h>
#include <stdint.h>
#include <stdlib.h>
#include <valgrind/memcheck.h>

#define ARG(array) array, sizeof(array)
#define SECRET(array) VALGRIND_MAKE_MEM_UNDEFINED(array, sizeof(array))
#define PUBLIC(array) VALGRIND_MAKE_MEM_DEFINED(array, sizeof(array))

enum { DATE = 20778 };

static const uint8_t id[] = "{\"userID\":\"alice@example.com\"}";
static uint8_t hash[MPIN_HASH_SIZE];
static uint8_t s1[MPIN_SCALAR_SIZE], s2[MPIN_SCALAR_SIZE];
static uint8_t x[MPIN_SCALAR_SIZE], y[MPIN_SCALAR_SIZE], pin[MPIN_SCALAR_SIZE];
static uint8_t share1[MPIN_G1_SIZE], share2[MPIN_G1_SIZE];
static uint8_t secret[MPIN_G1_SIZE], permit[MPIN_G1_SIZE], token[MPIN_G1_SIZE];
static uint8_t server1[MPIN_G2_SIZE], server2[MPIN_G2_SIZE];
static uint8_t server[MPIN_G2_SIZE];
static uint8_t sec[MPIN_G1_SIZE], u[MPIN_G1_SIZE], ut[MPIN_G1_SIZE];
static uint8_t v[MPIN_G1_SIZE], v_wrong[MPIN_G1_SIZE];
static uint8_t hid[MPIN_G1_SIZE], htid[MPIN_G1_SIZE];
static uint8_t gt[MPIN_GT_SIZE], gt2[MPIN_GT_SIZE];

/* Checks that a call has returned `expected`, and that memcheck has reported
 * no error in it: `before` is the number of errors before the call. */
static void finish(const char *name, unsigned before, int32_t got,
                   int32_t expected)
{
    unsigned errors = VALGRIND_COUNT_ERRORS - before;
    VALGRIND_MAKE_MEM_DEFINED(&got, sizeof got);
    CHECK(got == expected, "%s gave %d, not %d", name, got, expected);
    CHECK(errors == 0, "%s: %u errors", name, errors);
    printf("  %-28s %u errors\n", name, errors);
    fflush(stdout);
}

/* Makes a call whose secrets are already marked as undefined, and checks it. */
#define TIMELESS(name, expected, call)                                         \
    do {                                                                       \
        unsigned before = VALGRIND_COUNT_ERRORS;                               \
        int32_t got = (call);                                                  \
        finish(name, before, got, expected);                                   \
    } while (0)

static void everything_public(void)
{
    PUBLIC(s1), PUBLIC(s2), PUBLIC(x), PUBLIC(y), PUBLIC(pin);
    PUBLIC(share1), PUBLIC(share2), PUBLIC(secret), PUBLIC(permit);
    PUBLIC(token), PUBLIC(server1), PUBLIC(server2), PUBLIC(server);
    PUBLIC(sec), PUBLIC(u), PUBLIC(ut), PUBLIC(v), PUBLIC(gt);
    PUBLIC(gt2);
}

static void random_scalars(void)
{
    TIMELESS("random_generate", 0, mpin_crypto_random_generate(ARG(s1)));
    everything_public();
    CHECK_STATUS(mpin_crypto_random_generate(ARG(s2)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(x)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(y)), 0);
    everything_public();
}

static void trust_authority(void)
{
    CHECK_STATUS(mpin_crypto_hash_id(ARG(hash), ARG(id)), 0);
    SECRET(s1), SECRET(s2);
    TIMELESS("get_client_secret", 0,
             mpin_crypto_get_client_secret(ARG(share1), ARG(s1), ARG(hash)));
    TIMELESS("get_client_secret", 0,
             mpin_crypto_get_client_secret(ARG(share2), ARG(s2), ARG(hash)));
    TIMELESS("get_client_permit", 0,
             mpin_crypto_get_client_permit(ARG(permit), DATE, ARG(s1),
                                           ARG(hash)));
    TIMELESS("get_client_permit", 0,
             mpin_crypto_get_client_permit(ARG(token), DATE, ARG(s2),
                                           ARG(hash)));
    TIMELESS("get_server_secret", 0,
             mpin_crypto_get_server_secret(ARG(server1), ARG(s1)));
    TIMELESS("get_server_secret", 0,
             mpin_crypto_get_server_secret(ARG(server2), ARG(s2)));
    everything_public();
    SECRET(share1), SECRET(share2), SECRET(permit), SECRET(token);
    TIMELESS("recombine_g1", 0,
             mpin_crypto_recombine_g1(ARG(secret), ARG(share1), ARG(share2)));
    TIMELESS("recombine_g1 (permit)", 0,
             mpin_crypto_recombine_g1(ARG(permit), ARG(permit), ARG(token)));
    SECRET(server1), SECRET(server2);
    TIMELESS("recombine_g2", 0,
             mpin_crypto_recombine_g2(ARG(server), ARG(server1), ARG(server2)));
    everything_public();
}

static void pins(void)
{
    static const struct {
        const char *name, *text;
        int32_t mapping, bits, expected;
    } cases[] = {
        {"pin_to_scalar decimal6", "839174", MPIN_PIN_DECIMAL6, 20, 0},
        {"pin_to_scalar decimal4", "8391", MPIN_PIN_DECIMAL4, 14, 0},
        {"pin_to_scalar hash", "1234", MPIN_PIN_LEGACY_HASH, 14, 0},
        {"pin_to_scalar legacy14", "1234567890", MPIN_PIN_LEGACY14, 14, 0},
        {"pin_to_scalar no digit", "12a4", MPIN_PIN_DECIMAL6, 0,
         MPIN_CRYPTO_WRONG_PARAMETER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t digits[16];
        int32_t bits = 0;
        size_t n = strlen(cases[i].text);
        memcpy(digits, cases[i].text, n);
        SECRET(digits);
        TIMELESS(cases[i].name, cases[i].expected,
                 mpin_crypto_pin_to_scalar(ARG(pin), &bits, cases[i].mapping,
                                           digits, n));
        /* The width of a PIN in bits depends only on the mapping, which is
         * public. So memcheck must report no error when it is compared. */
        unsigned before = VALGRIND_COUNT_ERRORS;
        CHECK(bits == cases[i].bits, "%d bits", bits);
        CHECK(VALGRIND_COUNT_ERRORS == before, "the width is secret");
        everything_public();
    }
    uint8_t digits[] = {'8', '3', '9', '1', '7', '4'};
    int32_t bits;
    CHECK_STATUS(mpin_crypto_pin_to_scalar(ARG(pin), &bits, MPIN_PIN_DECIMAL6,
                                           ARG(digits)), 0);
}

static void client(void)
{
    SECRET(pin), SECRET(secret);
    TIMELESS("extract_pin", 0,
             mpin_crypto_extract_pin(ARG(token), ARG(id), ARG(pin), 20,
                                     ARG(secret)));
    everything_public();
    /* Takes a factor of 256 bits, the random number x, off the secret. */
    SECRET(x), SECRET(secret);
    TIMELESS("extract_pin (256 bits)", 0,
             mpin_crypto_extract_pin(ARG(sec), ARG(id), ARG(x), 256,
                                     ARG(secret)));
    everything_public();

    SECRET(x), SECRET(pin), SECRET(token), SECRET(permit);
    TIMELESS("client_1 (no permit)", 0,
             mpin_crypto_client_1(ARG(sec), ARG(u), NULL, 0, 0, ARG(id), ARG(x),
                                  ARG(pin), 20, ARG(token), NULL, 0));
    TIMELESS("client_1 (permit)", 0,
             mpin_crypto_client_1(ARG(sec), ARG(u), ARG(ut), DATE, ARG(id),
                                  ARG(x), ARG(pin), 20, ARG(token),
                                  ARG(permit)));
    everything_public();
    SECRET(x), SECRET(sec);
    TIMELESS("client_2", 0,
             mpin_crypto_client_2(ARG(v), ARG(x), ARG(y), ARG(sec)));
    everything_public();
    memcpy(v_wrong, u, sizeof u);
}

static void server_side(void)
{
    mpin_crypto_server_context *context = NULL;
    CHECK_STATUS(mpin_crypto_server_1(ARG(hid), ARG(htid), DATE, ARG(id)), 0);
    SECRET(server);
    TIMELESS("server_context_new", 0,
             mpin_crypto_server_context_new(&context, ARG(server)));
    TIMELESS("server_context_verify", 0,
             mpin_crypto_server_context_verify(context, DATE, ARG(id), ARG(ut),
                                               ARG(y), ARG(v)));
    TIMELESS("server_context_verify (wrong)", MPIN_CRYPTO_BAD_PIN,
             mpin_crypto_server_context_verify(context, DATE, ARG(id), ARG(ut),
                                               ARG(y), ARG(v_wrong)));
    TIMELESS("server_2", 0,
             mpin_crypto_server_2(NULL, 0, NULL, 0, DATE, ARG(hid), ARG(htid),
                                  ARG(y), ARG(server), NULL, 0, ARG(ut),
                                  ARG(v)));
    TIMELESS("server_2 (wrong, E and F)", MPIN_CRYPTO_BAD_PIN,
             mpin_crypto_server_2(ARG(gt), ARG(gt2), DATE, ARG(hid), ARG(htid),
                                  ARG(y), ARG(server), ARG(u), ARG(ut),
                                  ARG(v_wrong)));
    mpin_crypto_server_context_free(context);
    everything_public();
}

static void pairings(void)
{
    SECRET(server), SECRET(token), SECRET(secret);
    TIMELESS("pairing", 0,
             mpin_crypto_pairing(ARG(gt), ARG(server), ARG(token)));
    TIMELESS("pairing_product", 0,
             mpin_crypto_pairing_product(ARG(gt), ARG(server), ARG(token),
                                         ARG(server), ARG(secret)));
    everything_public();
}

static void key_pair(void)
{
    static uint8_t z[MPIN_SCALAR_SIZE], key[MPIN_G2_SIZE], new[MPIN_G1_SIZE];
    TIMELESS("get_dvs_keypair", 0,
             mpin_crypto_get_dvs_keypair(ARG(z), ARG(key)));
    PUBLIC(key);
    SECRET(z), SECRET(secret);
    TIMELESS("get_dvs_public_key", 0,
             mpin_crypto_get_dvs_public_key(ARG(key), ARG(z)));
    PUBLIC(key);
    TIMELESS("get_g1_multiple", 0,
             mpin_crypto_get_g1_multiple(ARG(new), ARG(z), ARG(secret)));
    SECRET(x), SECRET(pin), SECRET(token);
    TIMELESS("extract_factor", 0,
             mpin_crypto_extract_factor(ARG(new), ARG(id), ARG(x), 256,
                                        ARG(token)));
    TIMELESS("restore_factor", 0,
             mpin_crypto_restore_factor(ARG(new), ARG(id), ARG(pin), 20,
                                        ARG(token)));
    TIMELESS("change_pin", 0,
             mpin_crypto_change_pin(ARG(new), ARG(id), ARG(pin), 20, ARG(x),
                                    256, ARG(token)));
    everything_public();
    mpin_crypto_server_context *context = NULL;
    SECRET(server);
    CHECK_STATUS(mpin_crypto_server_context_new(&context, ARG(server)), 0);
    TIMELESS("server_context_verify_dvs", MPIN_CRYPTO_BAD_PIN,
             mpin_crypto_server_context_verify_dvs(context, ARG(key), ARG(id),
                                                   ARG(u), ARG(y), ARG(v)));
    mpin_crypto_server_context_free(context);
    everything_public();
}

static void one_pass(void)
{
    static uint8_t u1[MPIN_G1_SIZE], ut1[MPIN_G1_SIZE], v1[MPIN_G1_SIZE];
    SECRET(x), SECRET(pin), SECRET(token), SECRET(permit);
    TIMELESS("client", 0,
             mpin_crypto_client(ARG(u1), ARG(ut1), ARG(v1), DATE, ARG(id),
                                ARG(x), ARG(pin), 20, ARG(token), ARG(permit),
                                1700000000, ARG(id)));
    everything_public();
    PUBLIC(u1), PUBLIC(ut1), PUBLIC(v1);
    TIMELESS("get_y", 0,
             mpin_crypto_get_y(sec, MPIN_SCALAR_SIZE, 1700000000, ARG(u1), ARG(id)));
    SECRET(server);
    TIMELESS("server", 0,
             mpin_crypto_server(ARG(gt), ARG(gt2), DATE, ARG(id), ARG(server),
                                NULL, 0, ARG(u1), ARG(ut1), ARG(v1), 1700000000,
                                ARG(id)));
    TIMELESS("server (wrong, E and F)", MPIN_CRYPTO_BAD_PIN,
             mpin_crypto_server(ARG(gt), ARG(gt2), DATE, ARG(id), ARG(server),
                                NULL, 0, ARG(u1), ARG(ut1), ARG(v1), 1700000001,
                                ARG(id)));
    everything_public();
}

static void full(void)
{
    static uint8_t g1[MPIN_GT_SIZE], g2[MPIN_GT_SIZE], key[MPIN_KEY_SIZE];
    SECRET(token);
    TIMELESS("precompute", 0,
             mpin_crypto_precompute(ARG(g1), ARG(g2), ARG(token), ARG(hash)));
    PUBLIC(g2);
    SECRET(g1), SECRET(pin), SECRET(s1), SECRET(x);
    TIMELESS("client_key", 0,
             mpin_crypto_client_key(ARG(key), ARG(g1), ARG(g2), ARG(pin), 20,
                                    ARG(s1), ARG(x), ARG(hid)));
    everything_public();
    SECRET(server), SECRET(s1);
    TIMELESS("server_key", 0,
             mpin_crypto_server_key(ARG(key), ARG(hid), ARG(server), ARG(s1),
                                    ARG(u), ARG(ut)));
    everything_public();
}

/* Branches on one undefined byte, which memcheck must find in this program. */
__attribute__((noinline)) static int leaky(const volatile uint8_t *byte)
{
    if (*byte == '7')
        return puts("seven");
    return 0;
}

/* Checks that two leaks are found: the one in this program, and one inside
 * the library. For the latter, an identity is marked as secret: it is
 * public, so its hash to a point may take variable time. */
static int control(void)
{
    uint8_t byte[1] = {'8'};
    unsigned before = VALGRIND_COUNT_ERRORS, middle;
    SECRET(byte);
    leaky(byte);
    middle = VALGRIND_COUNT_ERRORS;
    CHECK_STATUS(mpin_crypto_hash_id(ARG(hash), ARG(id)), 0);
    SECRET(hash);
    int32_t got = mpin_crypto_map_to_g1(ARG(hid), ARG(hash));
    VALGRIND_MAKE_MEM_DEFINED(&got, sizeof got);
    CHECK(middle == before, "the branch of this program is seen");
    CHECK(VALGRIND_COUNT_ERRORS == middle, "the branch of the library is seen");
    CHECK_STATUS(got, 0);
    return report("control");
}

int main(int argc, char **argv)
{
    if (!RUNNING_ON_VALGRIND)
        return fputs("ctime: runs under valgrind only\n", stderr), 2;
    if (argc > 1 && strcmp(argv[1], "control") == 0)
        return control();
    random_scalars();
    trust_authority();
    pins();
    client();
    server_side();
    pairings();
    key_pair();
    one_pass();
    full();
    printf("  %u verdicts declassified\n", declassified);
    CHECK(poisoned > 0, "the random generator was not found");
    CHECK(declassified > 0, "the library's declassify was not found");
    CHECK(no_verdicts == 0, "%u of them were no verdicts", no_verdicts);
    return report("ctime");
}

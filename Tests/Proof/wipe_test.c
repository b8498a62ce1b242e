/* Tests that no secret is left in the memory of the process. After each call
 * the program wipes its own copies and searches (search.h) for PIN digits,
 * master share, x (the client's random scalar in a login), token, client
 * secret, server secret and sec (the sum of client secret and permit).
 *
 * usage: wipe_test ROUNDS
 *
 * A server context contains values that are computed from the server secret.
 * Its memory must be all zeros when it is freed. */
#define _DEFAULT_SOURCE

#include "search.h"

#include <malloc.h>

enum { DATE = 20778, DIGITS = 8 };

/* The inputs of the calls. All bytes of them are secret. */
struct secrets {
    uint8_t pin_text[DIGITS];
    uint8_t s[MPIN_SCALAR_SIZE], x[MPIN_SCALAR_SIZE], pin[MPIN_SCALAR_SIZE];
    uint8_t token[MPIN_G1_SIZE], secret[MPIN_G1_SIZE], sec[MPIN_G1_SIZE];
    uint8_t permit[MPIN_G1_SIZE], server[MPIN_G2_SIZE];
};

/* The secrets as the child process hands them over (search.h): masked, so
 * that the search does not find this copy. */
static struct secrets *masked;
static struct secrets secrets;
static const uint8_t id[] = "{\"userID\":\"alice@example.com\"}";
static uint8_t y[MPIN_SCALAR_SIZE], hash[MPIN_HASH_SIZE];

/* ---- The child: makes secrets and the data to search for ---------------- */

static void make_secrets(void)
{
    struct secrets *k = &secrets;
    uint8_t random[MPIN_SCALAR_SIZE], u[MPIN_G1_SIZE], ut[MPIN_G1_SIZE];
    int32_t bits;
    must(mpin_crypto_random_generate(ARG(random)));
    for (int i = 0; i < DIGITS; i++)
        k->pin_text[i] = (uint8_t)('0' + random[i + 8] % 10);
    must(mpin_crypto_random_generate(ARG(k->s)));
    must(mpin_crypto_random_generate(ARG(k->x)));
    must(mpin_crypto_pin_to_scalar(ARG(k->pin), &bits, MPIN_PIN_DECIMAL6,
                                   ARG(k->pin_text)));
    must(mpin_crypto_get_client_secret(ARG(k->secret), ARG(k->s), ARG(hash)));
    must(mpin_crypto_get_client_permit(ARG(k->permit), DATE, ARG(k->s),
                                       ARG(hash)));
    must(mpin_crypto_get_server_secret(ARG(k->server), ARG(k->s)));
    must(mpin_crypto_extract_pin(ARG(k->token), ARG(id), ARG(k->pin), bits,
                                 ARG(k->secret)));
    must(mpin_crypto_client_1(ARG(k->sec), ARG(u), ARG(ut), DATE, ARG(id),
                              ARG(k->x), ARG(k->pin), bits, ARG(k->token),
                              ARG(k->permit)));
    needles->count = 0;
    needle("PIN", k->pin_text);
    number("master share", k->s);
    number("x", k->x);
    g1("token", k->token);
    g1("client secret", k->secret);
    g1("sec", k->sec);
    for (int i = 0; i < 4; i++)
        coordinate("server secret", k->server + 32 * i);
    mask(masked, k, sizeof *k);
}

/* ---- Freed memory ------------------------------------------------------- */

void __libc_free(void *block);

static int is_watched;
static size_t large_blocks, dirty_bytes;

/* Replaces free() of the C library, also for the library under test. Counts
 * the large blocks that are freed (each server context has two) and the bytes
 * in them that are not zero. The last bytes of a block are left out, because
 * they may be padding. */
void free(void *block)
{
    const unsigned char *bytes = block;
    size_t size = block && is_watched ? malloc_usable_size(block) : 0;
    if (size >= 4096) {
        large_blocks++;
        for (size_t i = 0; i + 24 < size; i++)
            dirty_bytes += bytes[i] != 0;
    }
    __libc_free(block);
}

/* ---- The calls under test --------------------------------------------- */

/* The calls. A search follows each of them, because the next call would
 * overwrite what the last one has left. */
enum step {
    PIN_TO_SCALAR,
    GET_CLIENT_SECRET,
    GET_CLIENT_PERMIT,
    GET_SERVER_SECRET,
    RECOMBINE_G1,
    RECOMBINE_G2,
    EXTRACT_PIN,
    CLIENT_1,
    CLIENT_2,
    SERVER_CONTEXT_NEW,
    SERVER_CONTEXT_VERIFY,
    SERVER_CONTEXT_FREE,
    SERVER_2,
    PAIRING,
    STEPS
};

static mpin_crypto_server_context *context;
static uint8_t u[MPIN_G1_SIZE], ut[MPIN_G1_SIZE], v[MPIN_G1_SIZE];
static uint8_t hid[MPIN_G1_SIZE], htid[MPIN_G1_SIZE];
/* Outputs that are secret. The program wipes them with its other copies. */
static uint8_t out[MPIN_G2_SIZE], e[MPIN_GT_SIZE];

static int32_t run(enum step step)
{
    struct secrets *k = &secrets;
    int32_t bits;
    switch (step) {
    case PIN_TO_SCALAR:
        return mpin_crypto_pin_to_scalar(out, MPIN_SCALAR_SIZE, &bits,
                                         MPIN_PIN_DECIMAL6, ARG(k->pin_text));
    case GET_CLIENT_SECRET:
        return mpin_crypto_get_client_secret(out, MPIN_G1_SIZE, ARG(k->s),
                                             ARG(hash));
    case GET_CLIENT_PERMIT:
        return mpin_crypto_get_client_permit(out, MPIN_G1_SIZE, DATE,
                                             ARG(k->s), ARG(hash));
    case GET_SERVER_SECRET:
        return mpin_crypto_get_server_secret(ARG(out), ARG(k->s));
    case RECOMBINE_G1:
        return mpin_crypto_recombine_g1(out, MPIN_G1_SIZE, ARG(k->secret),
                                        ARG(k->token));
    case RECOMBINE_G2:
        return mpin_crypto_recombine_g2(ARG(out), ARG(k->server),
                                        ARG(k->server));
    case EXTRACT_PIN:
        return mpin_crypto_extract_pin(out, MPIN_G1_SIZE, ARG(id), ARG(k->pin),
                                       20, ARG(k->secret));
    case CLIENT_1:
        return mpin_crypto_client_1(out, MPIN_G1_SIZE, ARG(u), ARG(ut), DATE,
                                    ARG(id), ARG(k->x), ARG(k->pin), 20,
                                    ARG(k->token), ARG(k->permit));
    case CLIENT_2:
        return mpin_crypto_client_2(ARG(v), ARG(k->x), ARG(y), ARG(k->sec));
    case SERVER_CONTEXT_NEW:
        return mpin_crypto_server_context_new(&context, ARG(k->server));
    case SERVER_CONTEXT_VERIFY:
        return mpin_crypto_server_context_verify(context, DATE, ARG(id),
                                                 ARG(ut), ARG(y), ARG(v));
    case SERVER_CONTEXT_FREE:
        is_watched = 1;
        mpin_crypto_server_context_free(context);
        is_watched = 0;
        return 0;
    case SERVER_2:
        return mpin_crypto_server_2(NULL, 0, NULL, 0, DATE, ARG(hid),
                                    ARG(htid), ARG(y), ARG(k->server), NULL, 0,
                                    ARG(ut), ARG(v));
    case PAIRING:
        return mpin_crypto_pairing(ARG(e), ARG(k->server), ARG(k->token));
    case STEPS:
        break;
    }
    return -1;
}

static void *call(void *step)
{
    must(run(*(const enum step *)step));
    return NULL;
}

int main(int argc, char **argv)
{
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    const char *name = "";
    size_t found;
    if (rounds < 1)
        return fputs("usage: wipe_test ROUNDS\n", stderr), 2;
    needles = pages(sizeof *needles, MAP_SHARED);
    masked = pages(sizeof *masked, MAP_SHARED);
    void *stack = pages(STACK, MAP_PRIVATE);
    must(mpin_crypto_hash_id(ARG(hash), ARG(id)));
    must(mpin_crypto_random_generate(ARG(y)));
    must(mpin_crypto_server_1(ARG(hid), ARG(htid), DATE, ARG(id)));
    for (int round = 0; round < rounds; round++) {
        in_child(make_secrets);
        for (enum step step = 0; step < STEPS; step++) {
            mask(&secrets, masked, sizeof secrets);
            if (round == 0 && step == 0) {
                /* Checks that the search works: the octets of the secrets
                 * must be found. The values that the engine computes from
                 * them do not exist yet, so only a quarter of all needles is
                 * required. */
                found = search(&name);
                CHECK(found >= needles->count / 4, "only %zu of %zu are found",
                      found, needles->count);
            }
            on_thread(stack, call, &step);
            wipe(&secrets, sizeof secrets);
            wipe(ARG(out));
            wipe(ARG(e));
            found = search(&name);
            CHECK(found == 0, "round %d, call %d: %zu pieces, one of the %s",
                  round, step, found, name);
        }
    }
    CHECK(large_blocks >= (size_t)rounds, "%zu large blocks", large_blocks);
    CHECK(dirty_bytes == 0, "%zu bytes of contexts not wiped", dirty_bytes);
    return report("wipe_test");
}

/* Tests every octet string of every function of mpin_crypto.h as NULL and
 * with each wrong length, and every other parameter with values out of
 * range. The result must report it, and no output may be changed. */
#include "check.h"
#include "vector.h"

#include <mpin_crypto.h>
#include <stdlib.h>

/* The kinds of octet strings: outputs, inputs, inputs that may be NULL, and
 * inputs of any length. Without a date, further inputs and outputs may be
 * NULL, but all calls here have a date and request every output. */
enum kind { NONE, OUT, IN, OPTIONAL, ANY_LENGTH };

struct octets {
    enum kind kind;
    uint8_t *p;
    size_t n;
};

#define MAX 10
struct call {
    struct octets o[MAX];
    int32_t date, bits, mapping, range;
    int64_t time;
    int32_t *number;
    mpin_crypto_server_context *context;
};

static uint8_t id[200], hash[32], s[32], x[32], y[32], pin[32], digits[4];
static uint8_t client_secret[65], token[65], permit[65], sec[65], u[65], ut[65],
    v[65], hid[65], htid[65], server_secret[128], e[384], f[384];
/* r is the number 1, and generator the public key of the private key 1. v0 is
 * the V of a proof without a time permit, the values signed_... are a proof in
 * one pass, and encoded is u in octets that look random. */
static uint8_t r[32], generator[128], v0[65], signed_u[65], signed_ut[65],
    signed_v[65], encoded[65];
enum { TIME = 1700000000 };
static size_t id_size;
static uint8_t room[3][384];
static mpin_crypto_server_context *context;

#define O(k) c->o[k].p, c->o[k].n

static int32_t hash_id(const struct call *c)
{
    return mpin_crypto_hash_id(O(0), O(1));
}
static int32_t map_to_g1(const struct call *c)
{
    return mpin_crypto_map_to_g1(O(0), O(1));
}
static int32_t random_generate(const struct call *c)
{
    return mpin_crypto_random_generate(O(0));
}
static int32_t get_client_secret(const struct call *c)
{
    return mpin_crypto_get_client_secret(O(0), O(1), O(2));
}
static int32_t get_server_secret(const struct call *c)
{
    return mpin_crypto_get_server_secret(O(0), O(1));
}
static int32_t get_client_permit(const struct call *c)
{
    return mpin_crypto_get_client_permit(O(0), c->date, O(1), O(2));
}
static int32_t recombine_g1(const struct call *c)
{
    return mpin_crypto_recombine_g1(O(0), O(1), O(2));
}
static int32_t recombine_g2(const struct call *c)
{
    return mpin_crypto_recombine_g2(O(0), O(1), O(2));
}
static int32_t pin_to_scalar(const struct call *c)
{
    return mpin_crypto_pin_to_scalar(O(0), c->number, c->mapping, O(1));
}
static int32_t extract_pin(const struct call *c)
{
    return mpin_crypto_extract_pin(O(0), O(1), O(2), c->bits, O(3));
}
static int32_t client_1(const struct call *c)
{
    return mpin_crypto_client_1(O(0), O(1), O(2), c->date, O(3), O(4), O(5),
                                c->bits, O(6), O(7));
}
static int32_t client_2(const struct call *c)
{
    return mpin_crypto_client_2(O(0), O(1), O(2), O(3));
}
static int32_t server_1(const struct call *c)
{
    return mpin_crypto_server_1(O(0), O(1), c->date, O(2));
}
static int32_t context_new(const struct call *c)
{
    mpin_crypto_server_context *made = NULL;
    int32_t result = mpin_crypto_server_context_new(&made, O(0));
    CHECK((made == NULL) == (result != 0), "a handle came with %d", result);
    mpin_crypto_server_context_free(made);
    return result;
}
static int32_t context_verify(const struct call *c)
{
    return mpin_crypto_server_context_verify(c->context, c->date, O(0), O(1),
                                             O(2), O(3));
}
static int32_t server_2(const struct call *c)
{
    return mpin_crypto_server_2(O(0), O(1), c->date, O(2), O(3), O(4), O(5),
                                O(6), O(7), O(8));
}
static int32_t kangaroo(const struct call *c)
{
    return mpin_crypto_kangaroo(c->number, O(0), O(1), c->range);
}
static int32_t pairing(const struct call *c)
{
    return mpin_crypto_pairing(O(0), O(1), O(2));
}
static int32_t pairing_product(const struct call *c)
{
    return mpin_crypto_pairing_product(O(0), O(1), O(2), O(3), O(4));
}
static int32_t extract_factor(const struct call *c)
{
    return mpin_crypto_extract_factor(O(0), O(1), O(2), c->bits, O(3));
}
static int32_t restore_factor(const struct call *c)
{
    return mpin_crypto_restore_factor(O(0), O(1), O(2), c->bits, O(3));
}
static int32_t change_pin(const struct call *c)
{
    return mpin_crypto_change_pin(O(0), O(1), O(2), c->bits, O(3), 14, O(4));
}
static int32_t change_to_pin(const struct call *c)
{
    return mpin_crypto_change_pin(O(0), O(1), O(2), 14, O(3), c->bits, O(4));
}
static int32_t get_dvs_keypair(const struct call *c)
{
    return mpin_crypto_get_dvs_keypair(O(0), O(1));
}
static int32_t get_dvs_public_key(const struct call *c)
{
    return mpin_crypto_get_dvs_public_key(O(0), O(1));
}
static int32_t get_g1_multiple(const struct call *c)
{
    return mpin_crypto_get_g1_multiple(O(0), O(1), O(2));
}
static int32_t context_verify_dvs(const struct call *c)
{
    return mpin_crypto_server_context_verify_dvs(c->context, O(0), O(1), O(2),
                                                 O(3), O(4));
}
static int32_t get_y(const struct call *c)
{
    return mpin_crypto_get_y(O(0), c->time, O(1), O(2));
}
static int32_t client(const struct call *c)
{
    return mpin_crypto_client(O(0), O(1), O(2), c->date, O(3), O(4), O(5),
                              c->bits, O(6), O(7), c->time, O(8));
}
static int32_t server(const struct call *c)
{
    return mpin_crypto_server(O(0), O(1), c->date, O(2), O(3), O(4), O(5), O(6),
                              O(7), c->time, O(8));
}
static int32_t precompute(const struct call *c)
{
    return mpin_crypto_precompute(O(0), O(1), O(2), O(3));
}
static int32_t client_key(const struct call *c)
{
    return mpin_crypto_client_key(O(0), O(1), O(2), O(3), c->bits, O(4), O(5),
                                  O(6));
}
static int32_t server_key(const struct call *c)
{
    return mpin_crypto_server_key(O(0), O(1), O(2), O(3), O(4), O(5));
}
static int32_t encoding(const struct call *c)
{
    return mpin_crypto_encoding(O(0), O(1));
}
static int32_t decoding(const struct call *c)
{
    return mpin_crypto_decoding(O(0), O(1));
}

#define R(i, size) {OUT, room[i], size}
#define I(array) {IN, array, sizeof(array)}
#define MAYBE(array) {OPTIONAL, array, sizeof(array)}
#define ID {ANY_LENGTH, id, 0}

static const struct function {
    const char *name;
    int32_t (*call)(const struct call *);
    struct octets o[MAX];
    int has_date, has_bits, has_number;
} functions[] = {
    {"hash_id", hash_id, {R(0, 32), ID}, 0, 0, 0},
    {"map_to_g1", map_to_g1, {R(0, 65), I(hash)}, 0, 0, 0},
    {"random_generate", random_generate, {R(0, 32)}, 0, 0, 0},
    {"get_client_secret", get_client_secret, {R(0, 65), I(s), I(hash)}, 0, 0, 0},
    {"get_server_secret", get_server_secret, {R(0, 128), I(s)}, 0, 0, 0},
    {"get_client_permit", get_client_permit, {R(0, 65), I(s), I(hash)}, 1, 0, 0},
    {"recombine_g1", recombine_g1, {R(0, 65), I(u), I(ut)}, 0, 0, 0},
    {"recombine_g2", recombine_g2, {R(0, 128), I(server_secret),
     I(server_secret)}, 0, 0, 0},
    {"pin_to_scalar", pin_to_scalar, {R(0, 32), I(digits)}, 0, 0, 1},
    {"extract_pin", extract_pin, {R(0, 65), ID, I(pin), I(client_secret)}, 0, 1,
     0},
    {"client_1", client_1, {R(0, 65), R(1, 65), R(2, 65), ID, I(x), I(pin),
     I(token), I(permit)}, 1, 1, 0},
    {"client_2", client_2, {R(0, 65), I(x), I(y), I(sec)}, 0, 0, 0},
    {"server_1", server_1, {R(0, 65), R(1, 65), ID}, 1, 0, 0},
    {"server_context_new", context_new, {I(server_secret)}, 0, 0, 0},
    {"server_context_verify", context_verify, {ID, I(ut), I(y), I(v)}, 1, 0, 0},
    {"server_2", server_2, {R(0, 384), R(1, 384), I(hid), I(htid), I(y),
     I(server_secret), I(u), I(ut), I(v)}, 1, 0, 0},
    {"kangaroo", kangaroo, {I(e), I(f)}, 0, 0, 1},
    {"pairing", pairing, {R(0, 384), I(server_secret), I(u)}, 0, 0, 0},
    {"pairing_product", pairing_product, {R(0, 384), I(server_secret), I(u),
     I(server_secret), I(ut)}, 0, 0, 0},
    {"extract_factor", extract_factor, {R(0, 65), ID, I(pin), I(token)}, 0, 1,
     0},
    {"restore_factor", restore_factor, {R(0, 65), ID, I(pin), I(token)}, 0, 1,
     0},
    {"change_pin", change_pin, {R(0, 65), ID, I(pin), I(pin), I(token)}, 0, 1,
     0},
    {"change_pin (new bits)", change_to_pin, {R(0, 65), ID, I(pin), I(pin),
     I(token)}, 0, 1, 0},
    {"get_dvs_keypair", get_dvs_keypair, {R(0, 32), R(1, 128)}, 0, 0, 0},
    {"get_dvs_public_key", get_dvs_public_key, {R(0, 128), I(x)}, 0, 0, 0},
    {"get_g1_multiple", get_g1_multiple, {R(0, 65), I(x), I(u)}, 0, 0, 0},
    {"server_context_verify_dvs", context_verify_dvs, {I(generator), ID, I(u),
     I(y), I(v0)}, 0, 0, 0},
    {"get_y", get_y, {R(0, 32), I(u), ID}, 0, 0, 0},
    {"client", client, {R(0, 65), R(1, 65), R(2, 65), ID, I(x), I(pin),
     I(token), I(permit), ID}, 1, 1, 0},
    {"server", server, {R(0, 384), R(1, 384), ID, I(server_secret),
     MAYBE(generator), I(signed_u), I(signed_ut), I(signed_v), ID}, 1, 0, 0},
    {"precompute", precompute, {R(0, 384), R(1, 384), I(token), I(hash)}, 0, 0,
     0},
    {"client_key", client_key, {R(0, 16), I(e), I(f), I(pin), I(r), I(x),
     I(u)}, 0, 1, 0},
    {"server_key", server_key, {R(0, 16), I(u), I(server_secret), I(x), I(u),
     MAYBE(ut)}, 0, 0, 0},
    {"encoding", encoding, {R(0, 65), I(u)}, 0, 0, 0},
    {"decoding", decoding, {R(0, 65), I(encoded)}, 0, 0, 0},
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static int32_t number;

/* Returns a call in which every argument is right. */
static struct call good(const struct function *function)
{
    struct call c;
    memset(&c, 0, sizeof c);
    memcpy(c.o, function->o, sizeof c.o);
    for (int i = 0; i < MAX; i++)
        if (c.o[i].p == id)
            c.o[i].n = id_size;
    c.date = VECTOR_DATE;
    c.bits = 14;
    c.mapping = MPIN_PIN_DECIMAL6;
    c.range = 9999;
    c.time = TIME;
    c.number = &number;
    c.context = context;
    return c;
}

static void fails(const struct function *function, const struct call *c,
                  int32_t expected, const char *what, int index)
{
    memset(room, 0xA5, sizeof room);
    number = -77;
    int32_t got = function->call(c);
    CHECK(got == expected, "%s: %s of argument %d gave %d, not %d",
          function->name, what, index, got, expected);
    int touched = number != -77;
    for (size_t i = 0; i < sizeof room; i++)
        touched |= ((uint8_t *)room)[i] != 0xA5;
    CHECK(!touched, "%s: %s of argument %d wrote an output", function->name,
          what, index);
}

static void wrong_octets(const struct function *function)
{
    const int32_t wrong = MPIN_CRYPTO_WRONG_PARAMETER;
    for (int i = 0; i < MAX && function->o[i].kind != NONE; i++) {
        struct call c = good(function);
        struct octets *o = &c.o[i];
        const struct octets right = *o;
        o->p = NULL;
        fails(function, &c, wrong, "NULL", i);
        o->n = SIZE_MAX;
        fails(function, &c, wrong, "NULL with SIZE_MAX", i);
        o->n = 0;
        if (right.kind != OPTIONAL)
            fails(function, &c, wrong, "NULL with 0", i);
        *o = right;
        o->n = SIZE_MAX;
        fails(function, &c, wrong, "length SIZE_MAX", i);
        o->n = SIZE_MAX / 2 + 1;
        fails(function, &c, wrong, "length SIZE_MAX / 2 + 1", i);
        if (right.kind == ANY_LENGTH || right.p == digits)
            continue;
        const int32_t shorter =
            right.kind == OUT ? MPIN_CRYPTO_BUFFER_TOO_SMALL : wrong;
        o->n = right.n - 1;
        fails(function, &c, shorter, "length - 1", i);
        o->n = right.n + 1;
        fails(function, &c, wrong, "length + 1", i);
        o->n = 0;
        fails(function, &c, shorter, "length 0", i);
    }
}

static void wrong_numbers(const struct function *function)
{
    const int32_t wrong = MPIN_CRYPTO_WRONG_PARAMETER;
    const int32_t dates[] = {-1, INT32_MIN}, bits[] = {-1, 0, 13, 257, INT32_MIN,
                                                       INT32_MAX};
    struct call c = good(function);
    for (size_t i = 0; function->has_date && i < 2; i++) {
        c.date = dates[i];
        fails(function, &c, wrong, "date", dates[i]);
    }
    c = good(function);
    for (size_t i = 0; function->has_bits && i < 6; i++) {
        c.bits = bits[i];
        fails(function, &c, wrong, "bits", bits[i]);
    }
    c = good(function);
    c.number = NULL;
    if (function->has_number)
        fails(function, &c, wrong, "NULL number", 0);
}

/* Tests octets of the right length that are not points or scalars. */
static void wrong_content(const struct function *function)
{
    for (int i = 0; i < MAX && function->o[i].kind != NONE; i++) {
        uint8_t bad[384];
        struct call c = good(function);
        struct octets *o = &c.o[i];
        size_t n = o->n;
        if ((o->kind != IN && o->kind != OPTIONAL) || o->p == hash ||
            o->p == digits)
            continue;
        memset(bad, 0xFF, sizeof bad);
        o->p = bad;
        int is_scalar = n == 32 && function->o[i].p != pin;
        if (is_scalar)
            fails(function, &c, MPIN_CRYPTO_WRONG_PARAMETER, "FF...", i);
        if (n == 65 || n == 128 || n == 384)
            fails(function, &c, MPIN_CRYPTO_INVALID_POINT, "FF...", i);
        memset(bad, 0, sizeof bad);
        if (n == 384)
            fails(function, &c, MPIN_CRYPTO_WRONG_ORDER, "00...", i);
        /* The input r may be 0. The input encoded may consist of zeros,
         * because they encode a point. */
        if (function->o[i].p == r || function->o[i].p == encoded)
            continue;
        if (is_scalar)
            fails(function, &c, MPIN_CRYPTO_WRONG_PARAMETER, "00...", i);
        if (n == 65 || n == 128)
            fails(function, &c, MPIN_CRYPTO_INVALID_POINT, "00...", i);
    }
}

/* Changes single bits of each input. The function may then return any result
 * that the header names for wrong contents, but it must not crash. */
static void turned_bits(const struct function *function, int turns)
{
    static uint32_t seed = 1;
    for (int i = 0; i < MAX && function->o[i].kind != NONE; i++) {
        for (int k = 0; function->o[i].kind != OUT && k < turns; k++) {
            uint8_t turned[384];
            struct call c = good(function);
            memcpy(turned, c.o[i].p, c.o[i].n);
            seed = seed * 1664525 + 1013904223;
            size_t bit = (seed >> 8) % (8 * c.o[i].n);
            turned[bit / 8] ^= (uint8_t)(1 << bit % 8);
            c.o[i].p = turned;
            int32_t got = function->call(&c);
            CHECK(got == 0 || got == -11 || got == -14 || got == -18 ||
                      got == -19,
                  "%s: bit %zu of argument %d gave %d", function->name, bit, i,
                  got);
        }
    }
}

static void special_numbers(void)
{
    const int32_t wrong = MPIN_CRYPTO_WRONG_PARAMETER;
    const int32_t ranges[] = {0, -1, INT32_MIN, 1000000, INT32_MAX},
                  mappings[] = {-1, 4, INT32_MIN, INT32_MAX};
    const int64_t times[] = {0, -1, 4294967296, 1700000000000, INT64_MIN,
                             INT64_MAX};
    for (size_t k = 0; k < FUNCTIONS; k++) {
        struct call c = good(&functions[k]);
        for (size_t i = 0; functions[k].call == kangaroo && i < 5; i++) {
            c.range = ranges[i];
            fails(&functions[k], &c, wrong, "range", ranges[i]);
        }
        for (size_t i = 0; functions[k].call == pin_to_scalar && i < 4; i++) {
            c.mapping = mappings[i];
            fails(&functions[k], &c, wrong, "mapping", mappings[i]);
        }
        int has_time = functions[k].call == get_y ||
                       functions[k].call == client ||
                       functions[k].call == server;
        for (size_t i = 0; has_time && i < 6; i++) {
            c.time = times[i];
            fails(&functions[k], &c, wrong, "time", (int)i);
        }
    }
    const char *pins[] = {"", "12a4", "-123", " 123", "0123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++) {
        uint8_t scalar[32];
        int32_t bits;
        CHECK_STATUS(mpin_crypto_pin_to_scalar(
                         scalar, sizeof scalar, &bits, MPIN_PIN_DECIMAL6,
                         (const uint8_t *)pins[i], strlen(pins[i])), wrong);
    }
}

static void handles(void)
{
    const int32_t invalid = MPIN_CRYPTO_INVALID_HANDLE;
    mpin_crypto_server_context *stale = NULL, *next = NULL;
    mpin_sdk *sdk = NULL;
    CHECK_STATUS(mpin_crypto_server_context_new(&stale, server_secret, 128), 0);
    mpin_crypto_server_context_free(stale);
    CHECK_STATUS(mpin_crypto_server_context_new(&next, server_secret, 128), 0);
    CHECK(next != stale, "a handle came back");
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    mpin_crypto_server_context *wrong[] = {
        NULL, stale, (mpin_crypto_server_context *)sdk,
        (mpin_crypto_server_context *)(uintptr_t)1,
        (mpin_crypto_server_context *)UINTPTR_MAX,
        (mpin_crypto_server_context *)(void *)hash};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK_STATUS(mpin_crypto_server_context_verify(
                         wrong[i], VECTOR_DATE, id, id_size, ut, 65, y, 32, v,
                         65), invalid);
        mpin_crypto_server_context_free(wrong[i]);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK_STATUS(mpin_crypto_server_context_verify_dvs(
                         wrong[i], generator, 128, id, id_size, u, 65, y, 32,
                         v0, 65), invalid);
    CHECK_STATUS(mpin_crypto_server_context_new(NULL, server_secret, 128),
                 MPIN_CRYPTO_WRONG_PARAMETER);
    CHECK_STATUS(mpin_crypto_server_context_verify(next, VECTOR_DATE, id,
                                                   id_size, ut, 65, y, 32, v,
                                                   65), 0);
    mpin_crypto_server_context_free(next);
    mpin_crypto_server_context_free(next);
    mpin_sdk_free(sdk);
}

/* Computes the values that the tests need and the vector does not contain. */
static void prepare(void)
{
    uint8_t bad[65];
    int32_t bits;
    memcpy(digits, VECTOR_PIN, 4);
    id_size = unhex(id, VECTOR_MPIN_ID);
    unhex(hash, VECTOR_HASH_ID);
    unhex(s, VECTOR_S1);
    unhex(x, VECTOR_X);
    unhex(y, VECTOR_Y);
    unhex(client_secret, VECTOR_CLIENT_SECRET);
    unhex(token, VECTOR_TOKEN);
    unhex(permit, VECTOR_PERMIT);
    unhex(u, VECTOR_U);
    unhex(ut, VECTOR_UT);
    unhex(v, VECTOR_V);
    unhex(bad, VECTOR_V_WRONG_PIN);
    unhex(server_secret, VECTOR_SERVER_SECRET);
    unhex(sec, VECTOR_CLIENT_SECRET);
    CHECK_STATUS(mpin_crypto_pin_to_scalar(pin, 32, &bits, MPIN_PIN_LEGACY_HASH,
                                           digits, 4), 0);
    CHECK_STATUS(mpin_crypto_server_1(hid, 65, htid, 65, VECTOR_DATE, id,
                                      id_size), 0);
    CHECK_STATUS(mpin_crypto_server_2(e, 384, f, 384, VECTOR_DATE, hid, 65,
                                      htid, 65, y, 32, server_secret, 128, u,
                                      65, ut, 65, bad, 65),
                 MPIN_CRYPTO_BAD_PIN);
    CHECK_STATUS(mpin_crypto_server_context_new(&context, server_secret, 128),
                 0);
    r[31] = 1;
    unhex(v0, VECTOR_V_NO_PERMIT);
    CHECK_STATUS(mpin_crypto_get_dvs_public_key(generator, 128, r, 32), 0);
    CHECK_STATUS(mpin_crypto_client(signed_u, 65, signed_ut, 65, signed_v, 65,
                                    VECTOR_DATE, id, id_size, x, 32, pin, 32, 14,
                                    token, 65, permit, 65, TIME, id, id_size),
                 0);
    CHECK_STATUS(mpin_crypto_encoding(encoded, 65, u, 65), 0);
}

int main(int argc, char **argv)
{
    const int turns = argc > 1 ? atoi(argv[1]) : 16;
    prepare();
    for (size_t i = 0; i < FUNCTIONS; i++) {
        struct call c = good(&functions[i]);
        int32_t got = functions[i].call(&c);
        CHECK(got == MPIN_CRYPTO_OK, "%s gave %d for good arguments",
              functions[i].name, got);
        wrong_octets(&functions[i]);
        wrong_numbers(&functions[i]);
        wrong_content(&functions[i]);
        turned_bits(&functions[i], turns);
    }
    special_numbers();
    handles();
    mpin_crypto_server_context_free(context);
    printf("functions with octet strings: %zu\n", FUNCTIONS);
    return report("crypto_misuse_test");
}

/* Tests the negative vectors through the C ABI. Every function that takes an
 * input of the vector's kind must refuse it with the code of the vector, and
 * write nothing.
 *
 * usage: negative_test VECTORS.json */
#include "../C/check.h"

#include <jansson.h>
#include <mpin_crypto.h>
#include <stdint.h>
#include <stdlib.h>

#define ARG(array) array, sizeof(array)
#define IN(octets) (octets).bytes, (octets).size

enum { DATE = 20778, UNTOUCHED = 0xA5 };

/* An input of a vector; NULL and 0 if it is absent. The bytes are at the end
 * of their own allocation, so that valgrind and sanitizers detect a read
 * behind them. */
typedef struct {
    uint8_t *bytes;
    size_t size;
} octets;

/* ---- What is right beside the one wrong input --------------------------- */

static const uint8_t id[] = "alice@example.com";
static uint8_t hash[MPIN_HASH_SIZE], scalar[MPIN_SCALAR_SIZE];
static uint8_t pin[MPIN_SCALAR_SIZE], g1[MPIN_G1_SIZE], g2[MPIN_G2_SIZE];
static uint8_t gt[MPIN_GT_SIZE];
static mpin_crypto_server_context *context;

/* ---- Outputs, all of which must stay as they were ----------------------- */

static uint8_t out1[MPIN_G1_SIZE], out2[MPIN_G1_SIZE], out3[MPIN_G1_SIZE];
static uint8_t out_g2[MPIN_G2_SIZE], e[MPIN_GT_SIZE], f[MPIN_GT_SIZE];
static uint8_t out_scalar[MPIN_SCALAR_SIZE];
static int32_t out_number;

static int untouched(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != UNTOUCHED)
            return 0;
    return 1;
}

static void fill(void)
{
    memset(out1, UNTOUCHED, sizeof out1);
    memset(out2, UNTOUCHED, sizeof out2);
    memset(out3, UNTOUCHED, sizeof out3);
    memset(out_g2, UNTOUCHED, sizeof out_g2);
    memset(e, UNTOUCHED, sizeof e);
    memset(f, UNTOUCHED, sizeof f);
    memset(out_scalar, UNTOUCHED, sizeof out_scalar);
    memset(&out_number, UNTOUCHED, sizeof out_number);
}

static int all_untouched(void)
{
    return untouched(ARG(out1)) && untouched(ARG(out2)) &&
           untouched(ARG(out3)) && untouched(ARG(out_g2)) &&
           untouched(ARG(e)) && untouched(ARG(f)) &&
           untouched(ARG(out_scalar)) &&
           untouched((const uint8_t *)&out_number, sizeof out_number);
}

/* The vector that is being tested. */
static const char *name, *reason;
static int32_t code;

#define REFUSED(call)                                                          \
    do {                                                                       \
        fill();                                                                \
        int32_t got = (call);                                                  \
        CHECK(got == code, "%s (%s) gave %d, not %d", name, reason, got,       \
              code);                                                           \
        CHECK(all_untouched(), "%s (%s): an output was written", name,         \
              reason);                                                         \
    } while (0)

/* ---- Reading ------------------------------------------------------------ */

static int digit(char c)
{
    return c >= 'a' ? c - 'a' + 10 : c - '0';
}

static octets unhex(const char *hex)
{
    octets result = {NULL, 0};
    if (!hex)
        return result;
    result.size = strlen(hex) / 2;
    result.bytes = malloc(result.size ? result.size : 1);
    if (!result.bytes)
        perror("negative_test"), exit(2);
    for (size_t i = 0; i < result.size; i++)
        result.bytes[i] =
            (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    return result;
}

static octets get(const json_t *in, const char *key)
{
    return unhex(json_string_value(json_object_get(in, key)));
}

static int32_t number(const json_t *in, const char *key)
{
    return (int32_t)json_integer_value(json_object_get(in, key));
}

/* Returns the size of the output `key` if the vector requests it, else 0. */
static size_t wanted(const json_t *in, const char *key)
{
    return json_is_true(json_object_get(in, key)) ? MPIN_G1_SIZE : 0;
}

/* ---- Decoders: a wrong octet string in every place where it may stand ---- */

static void g1_decode(octets p)
{
    REFUSED(mpin_crypto_recombine_g1(ARG(out1), IN(p), ARG(g1)));
    REFUSED(mpin_crypto_recombine_g1(ARG(out1), ARG(g1), IN(p)));
    REFUSED(mpin_crypto_extract_pin(ARG(out1), ARG(id), ARG(pin), 20, IN(p)));
    REFUSED(mpin_crypto_client_1(ARG(out1), ARG(out2), NULL, 0, 0, ARG(id),
                                 ARG(scalar), ARG(pin), 20, IN(p), NULL, 0));
    REFUSED(mpin_crypto_client_1(ARG(out1), ARG(out2), ARG(out3), DATE, ARG(id),
                                 ARG(scalar), ARG(pin), 20, ARG(g1), IN(p)));
    REFUSED(mpin_crypto_client_2(ARG(out1), ARG(scalar), ARG(scalar), IN(p)));
    REFUSED(mpin_crypto_server_context_verify(context, 0, ARG(id), IN(p),
                                              ARG(scalar), ARG(g1)));
    REFUSED(mpin_crypto_server_context_verify(context, DATE, ARG(id), ARG(g1),
                                              ARG(scalar), IN(p)));
    REFUSED(mpin_crypto_server_2(ARG(e), ARG(f), DATE, IN(p), ARG(g1),
                                 ARG(scalar), ARG(g2), ARG(g1), ARG(g1),
                                 ARG(g1)));
    REFUSED(mpin_crypto_server_2(ARG(e), ARG(f), DATE, ARG(g1), IN(p),
                                 ARG(scalar), ARG(g2), ARG(g1), ARG(g1),
                                 ARG(g1)));
    REFUSED(mpin_crypto_server_2(ARG(e), ARG(f), DATE, ARG(g1), ARG(g1),
                                 ARG(scalar), ARG(g2), IN(p), ARG(g1),
                                 ARG(g1)));
    REFUSED(mpin_crypto_server_2(ARG(e), ARG(f), DATE, ARG(g1), ARG(g1),
                                 ARG(scalar), ARG(g2), ARG(g1), IN(p),
                                 ARG(g1)));
    REFUSED(mpin_crypto_server_2(ARG(e), ARG(f), DATE, ARG(g1), ARG(g1),
                                 ARG(scalar), ARG(g2), ARG(g1), ARG(g1),
                                 IN(p)));
    REFUSED(mpin_crypto_pairing(ARG(e), ARG(g2), IN(p)));
    REFUSED(mpin_crypto_pairing_product(ARG(e), ARG(g2), IN(p), ARG(g2),
                                        ARG(g1)));
    REFUSED(mpin_crypto_pairing_product(ARG(e), ARG(g2), ARG(g1), ARG(g2),
                                        IN(p)));
}

static void g2_decode(octets q)
{
    mpin_crypto_server_context *none = NULL;
    REFUSED(mpin_crypto_recombine_g2(ARG(out_g2), IN(q), ARG(g2)));
    REFUSED(mpin_crypto_recombine_g2(ARG(out_g2), ARG(g2), IN(q)));
    REFUSED(mpin_crypto_server_context_new(&none, IN(q)));
    CHECK(none == NULL, "%s (%s): a context was made", name, reason);
    REFUSED(mpin_crypto_server_2(ARG(e), ARG(f), 0, ARG(g1), NULL, 0,
                                 ARG(scalar), IN(q), ARG(g1), NULL, 0,
                                 ARG(g1)));
    REFUSED(mpin_crypto_pairing(ARG(e), IN(q), ARG(g1)));
    REFUSED(mpin_crypto_pairing_product(ARG(e), IN(q), ARG(g1), ARG(g2),
                                        ARG(g1)));
    REFUSED(mpin_crypto_pairing_product(ARG(e), ARG(g2), ARG(g1), IN(q),
                                        ARG(g1)));
}

static void gt_decode(octets value)
{
    REFUSED(mpin_crypto_kangaroo(&out_number, IN(value), ARG(gt), 10));
    REFUSED(mpin_crypto_kangaroo(&out_number, ARG(gt), IN(value), 10));
}

static void scalar_decode(octets s)
{
    REFUSED(mpin_crypto_get_client_secret(ARG(out1), IN(s), ARG(hash)));
    REFUSED(mpin_crypto_get_server_secret(ARG(out_g2), IN(s)));
    REFUSED(mpin_crypto_get_client_permit(ARG(out1), DATE, IN(s), ARG(hash)));
    REFUSED(mpin_crypto_client_1(ARG(out1), ARG(out2), NULL, 0, 0, ARG(id),
                                 IN(s), ARG(pin), 20, ARG(g1), NULL, 0));
    REFUSED(mpin_crypto_client_2(ARG(out1), IN(s), ARG(scalar), ARG(g1)));
    REFUSED(mpin_crypto_client_2(ARG(out1), ARG(scalar), IN(s), ARG(g1)));
    REFUSED(mpin_crypto_server_context_verify(context, 0, ARG(id), ARG(g1),
                                              IN(s), ARG(g1)));
    REFUSED(mpin_crypto_server_2(ARG(e), ARG(f), 0, ARG(g1), NULL, 0, IN(s),
                                 ARG(g2), ARG(g1), NULL, 0, ARG(g1)));
}

static void pin_scalar(octets s, int32_t bits)
{
    REFUSED(mpin_crypto_extract_pin(ARG(out1), ARG(id), IN(s), bits, ARG(g1)));
    REFUSED(mpin_crypto_client_1(ARG(out1), ARG(out2), NULL, 0, 0, ARG(id),
                                 ARG(scalar), IN(s), bits, ARG(g1), NULL, 0));
}

/* ---- Functions whose arguments do not fit each other --------------------- */

static void client_1(const json_t *in, octets token, octets permit)
{
    octets who = get(in, "id"), x = get(in, "x"), digits = get(in, "pin");
    size_t ut = wanted(in, "ut");
    REFUSED(mpin_crypto_client_1(ARG(out1), ARG(out2), ut ? out3 : NULL, ut,
                                 number(in, "date"), IN(who), IN(x), IN(digits),
                                 20, IN(token), IN(permit)));
    free(who.bytes), free(x.bytes), free(digits.bytes);
}

static void server_1(const json_t *in, octets who)
{
    size_t htid = wanted(in, "htid");
    REFUSED(mpin_crypto_server_1(ARG(out1), htid ? out2 : NULL, htid,
                                 number(in, "date"), IN(who)));
}

static int is(const char *left, const char *right)
{
    return strcmp(left, right) == 0;
}

/* Calls every function that must refuse the inputs of a vector with this
 * operation. Returns 0 for an unknown operation. */
static int run(const char *op, const json_t *in)
{
    octets bytes = get(in, "bytes"), a = get(in, "a"), b = get(in, "b");
    octets s = get(in, "s"), digest = get(in, "hash"), who = get(in, "id");
    octets x = get(in, "x"), y = get(in, "y"), digits = get(in, "pin");
    octets sec = get(in, "sec"), secret = get(in, "secret");
    octets token = get(in, "token"), permit = get(in, "permit");
    int known = 1;
    if (is(op, "g1_decode"))
        g1_decode(bytes);
    else if (is(op, "g2_decode"))
        g2_decode(bytes);
    else if (is(op, "gt_decode"))
        gt_decode(bytes);
    else if (is(op, "scalar"))
        scalar_decode(bytes);
    else if (is(op, "pin_scalar"))
        pin_scalar(bytes, number(in, "bits"));
    else if (is(op, "pin"))
        REFUSED(mpin_crypto_pin_to_scalar(ARG(out_scalar), &out_number,
                                          number(in, "mapping"), IN(bytes)));
    else if (is(op, "client_1"))
        client_1(in, token, permit);
    else if (is(op, "get_client_permit"))
        REFUSED(mpin_crypto_get_client_permit(ARG(out1), number(in, "date"),
                                              IN(s), IN(digest)));
    else if (is(op, "server_1"))
        server_1(in, who);
    else if (is(op, "map_to_g1"))
        REFUSED(mpin_crypto_map_to_g1(ARG(out1), IN(digest)));
    else if (is(op, "kangaroo"))
        REFUSED(mpin_crypto_kangaroo(&out_number, ARG(gt), ARG(gt),
                                     number(in, "range")));
    else if (is(op, "verify"))
        REFUSED(mpin_crypto_server_context_verify(context, number(in, "date"),
                                                  ARG(id), ARG(g1), ARG(scalar),
                                                  ARG(g1)));
    else if (is(op, "recombine_g1"))
        REFUSED(mpin_crypto_recombine_g1(ARG(out1), IN(a), IN(b)));
    else if (is(op, "recombine_g2"))
        REFUSED(mpin_crypto_recombine_g2(ARG(out_g2), IN(a), IN(b)));
    else if (is(op, "extract_pin"))
        REFUSED(mpin_crypto_extract_pin(ARG(out1), IN(who), IN(digits), 20,
                                        IN(secret)));
    else if (is(op, "client_2"))
        REFUSED(mpin_crypto_client_2(ARG(out1), IN(x), IN(y), IN(sec)));
    else
        known = 0;
    octets all[] = {bytes, a, b, s, digest, who, x, y, digits, sec, secret,
                    token, permit};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i].bytes);
    return known;
}

/* Computes right values for the arguments that are not from a vector. If a
 * function refused these, its refusals of vectors would prove nothing. */
static void prepare(void)
{
    pin[31] = 7;
    CHECK_STATUS(mpin_crypto_hash_id(ARG(hash), ARG(id)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(scalar)), 0);
    CHECK_STATUS(mpin_crypto_get_client_secret(ARG(g1), ARG(scalar), ARG(hash)),
                 0);
    CHECK_STATUS(mpin_crypto_get_server_secret(ARG(g2), ARG(scalar)), 0);
    CHECK_STATUS(mpin_crypto_random_generate(ARG(scalar)), 0);
    CHECK_STATUS(mpin_crypto_pairing(ARG(gt), ARG(g2), ARG(g1)), 0);
    CHECK_STATUS(mpin_crypto_kangaroo(&out_number, ARG(gt), ARG(gt), 10), 0);
    CHECK_STATUS(mpin_crypto_server_context_new(&context, ARG(g2)), 0);
    CHECK_STATUS(mpin_crypto_server_context_verify(context, 0, ARG(id), ARG(g1),
                                                   ARG(scalar), ARG(g1)),
                 MPIN_CRYPTO_BAD_PIN);
    CHECK_STATUS(mpin_crypto_client_1(ARG(out1), ARG(out2), ARG(out3), DATE,
                                      ARG(id), ARG(scalar), ARG(pin), 20,
                                      ARG(g1), ARG(g1)), 0);
    CHECK_STATUS(mpin_crypto_client_2(ARG(out1), ARG(scalar), ARG(scalar),
                                      ARG(g1)), 0);
    CHECK_STATUS(mpin_crypto_server_2(ARG(e), ARG(f), DATE, ARG(g1), ARG(g1),
                                      ARG(scalar), ARG(g2), ARG(g1), ARG(g1),
                                      ARG(g1)), MPIN_CRYPTO_BAD_PIN);
}

int main(int argc, char **argv)
{
    json_error_t error;
    size_t index;
    json_t *vector;
    if (argc != 2)
        return fputs("usage: negative_test VECTORS.json\n", stderr), 2;
    json_t *file = json_load_file(argv[1], 0, &error);
    if (!file)
        return fprintf(stderr, "negative_test: %s\n", error.text), 2;
    prepare();
    json_t *vectors = json_object_get(file, "vectors");
    json_array_foreach(vectors, index, vector)
    {
        name = json_string_value(json_object_get(vector, "id"));
        reason = json_string_value(json_object_get(vector, "reason"));
        code = number(vector, "code");
        const char *op = json_string_value(json_object_get(vector, "op"));
        CHECK(name && reason && op, "vector %zu is not complete", index);
        if (name && reason && op)
            CHECK(run(op, json_object_get(vector, "in")), "%s: unknown", op);
    }
    CHECK(index >= 500 && (int32_t)index == number(file, "count"),
          "%zu vectors", index);
    printf("  %zu vectors\n", index);
    json_decref(file);
    mpin_crypto_server_context_free(context);
    return report("negative_test");
}

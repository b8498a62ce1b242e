/* libFuzzer target: sequences of mpin_crypto_* calls. A byte says which
 * function, more bytes say for each argument whether it is right, wrong by a
 * byte, of another length, from the input, or NULL. What a call gives is an
 * input of later calls. Every buffer is an allocation of its own, so that the
 * address sanitizer sees one byte too many.
 *
 * Checked: the result is a documented one; a call that fails writes nothing;
 * an output that was written is one that the decoders accept. */
#include <mpin_crypto.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(what)                                                             \
    (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, what), abort())
#define EXPECT(condition) ((condition) ? (void)0 : FAIL(#condition))

enum { UNTOUCHED = 0xA5, SLOTS = 4, KINDS = 5 };
enum kind { G1, G2, GT, SCALAR, HASH };

static const size_t sizes[KINDS] = {MPIN_G1_SIZE, MPIN_G2_SIZE, MPIN_GT_SIZE,
                                    MPIN_SCALAR_SIZE, MPIN_HASH_SIZE};

/* Right values of each kind; results replace them. */
static uint8_t pool[KINDS][SLOTS][MPIN_GT_SIZE];

/* ---- The input --------------------------------------------------------- */

static const uint8_t *cursor;
static size_t left;

static uint8_t byte(void)
{
    return left ? left--, *cursor++ : 0;
}

static int32_t word(void)
{
    uint32_t result = 0;
    for (int i = 0; i < 4; i++)
        result = result << 8 | byte();
    return (int32_t)result;
}

/* ---- Arguments ----------------------------------------------------------- */

/* Everything that one call owns. */
static void *owned[32];
static size_t owned_count;

static uint8_t *own(size_t size)
{
    uint8_t *result = malloc(size ? size : 1);
    if (!result || owned_count == sizeof owned / sizeof owned[0])
        FAIL("out of memory");
    owned[owned_count++] = result;
    return result;
}

typedef struct {
    const uint8_t *bytes;
    size_t size;
} in;

static in from_input(size_t size)
{
    uint8_t *bytes = own(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte();
    return (in){bytes, size};
}

static in argument(enum kind kind)
{
    uint8_t mode = byte();
    size_t size = sizes[kind];
    uint8_t *bytes;
    switch (mode & 15) {
    case 0:
        return (in){NULL, 0};
    case 1:
        return (in){NULL, size};
    case 2:
        return from_input(byte());
    case 3:
        return from_input(size);
    case 4:
        bytes = own(size);
        return (in){bytes, SIZE_MAX - byte()};
    case 5:
        size += mode & 16 ? 1 : (size_t)-1;
        break;
    }
    bytes = own(size);
    memcpy(bytes, pool[kind][mode >> 5 & (SLOTS - 1)],
           size < sizes[kind] ? size : sizes[kind]);
    if ((mode & 15) == 6)
        bytes[byte() % size] ^= byte();
    return (in){bytes, size};
}

/* Any bytes: a M-Pin ID, a PIN. */
static in octets(void)
{
    uint8_t size = byte();
    return size == 255 ? (in){NULL, byte()} : from_input(size & 63);
}

typedef struct {
    uint8_t *bytes;
    size_t size;
    enum kind kind;
} out;

static out output(enum kind kind)
{
    uint8_t mode = byte();
    size_t size = sizes[kind];
    if (mode == 0)
        return (out){NULL, 0, kind};
    if (mode == 1)
        return (out){NULL, size, kind};
    if (mode == 2)
        size += byte() & 1 ? 1 : (size_t)-1;
    out result = {own(size), size, kind};
    memset(result.bytes, UNTOUCHED, size);
    return result;
}

#define OF(argument) (argument).bytes, (argument).size

/* ---- Results ----------------------------------------------------------- */

static int accepts(const uint8_t *value, enum kind kind)
{
    uint8_t room[MPIN_G2_SIZE];
    int32_t number;
    const uint8_t *one = pool[SCALAR][0];
    switch (kind) {
    case G1:
        return mpin_crypto_client_2(room, 65, one, 32, one, 32, value, 65) == 0;
    case G2:
        return mpin_crypto_recombine_g2(room, 128, value, 128, value,
                                        128) == 0;
    case GT:
        return mpin_crypto_kangaroo(&number, value, 384, value, 384, 1) == 0;
    case SCALAR:
        return 1;
    case HASH:
        return mpin_crypto_map_to_g1(room, 65, value, 32) == 0;
    }
    return 0;
}

/* Written if and only if it should be; then the pool keeps it. */
static void result(out value, int written)
{
    if (!value.bytes)
        return;
    if (!written) {
        for (size_t i = 0; i < value.size; i++)
            EXPECT(value.bytes[i] == UNTOUCHED);
        return;
    }
    EXPECT(value.size == sizes[value.kind]);
    EXPECT(accepts(value.bytes, value.kind));
    memcpy(pool[value.kind][1 + value.bytes[value.size - 1] % (SLOTS - 1)],
           value.bytes, value.size);
}

static int documented(int32_t code)
{
    switch (code) {
    case MPIN_CRYPTO_OK:
    case MPIN_CRYPTO_WRONG_PARAMETER:
    case MPIN_CRYPTO_INVALID_POINT:
    case MPIN_CRYPTO_WRONG_ORDER:
    case MPIN_CRYPTO_BAD_PIN:
    case MPIN_CRYPTO_RANDOM_FAILED:
    case MPIN_CRYPTO_INVALID_HANDLE:
        return 1;
    }
    return 0;
}

/* ---- Calls ------------------------------------------------------------- */

static mpin_crypto_server_context *contexts[SLOTS];

/* A live context, one that was freed, or a number. */
static mpin_crypto_server_context *context(void)
{
    uint8_t mode = byte();
    if (mode < 250)
        return contexts[mode % SLOTS];
    uint64_t number = (uint64_t)(uint32_t)word() << 32 | (uint32_t)word();
    return (mpin_crypto_server_context *)(uintptr_t)number;
}

static void one_output(out o, int32_t code)
{
    EXPECT(documented(code));
    result(o, code == 0);
}

static void client_1(void)
{
    out sec = output(G1), u = output(G1), ut = output(G1);
    int32_t date = byte() & 1 ? word() : 0, bits = byte();
    in id = octets(), x = argument(SCALAR), pin = argument(SCALAR);
    in token = argument(G1), permit = argument(G1);
    bits = bits == 255 ? word() : bits;
    int32_t code = mpin_crypto_client_1(OF(sec), OF(u), OF(ut), date, OF(id),
                                        OF(x), OF(pin), bits, OF(token),
                                        OF(permit));
    EXPECT(documented(code));
    result(sec, code == 0);
    result(u, code == 0);
    result(ut, code == 0);
}

static void server_2(void)
{
    out e = output(GT), f = output(GT);
    int32_t date = byte() & 1 ? word() : 0;
    in hid = argument(G1), htid = argument(G1), y = argument(SCALAR);
    in secret = argument(G2), u = argument(G1), ut = argument(G1);
    in v = argument(G1);
    int32_t code = mpin_crypto_server_2(OF(e), OF(f), date, OF(hid), OF(htid),
                                        OF(y), OF(secret), OF(u), OF(ut),
                                        OF(v));
    EXPECT(documented(code));
    result(e, code == MPIN_CRYPTO_BAD_PIN);
    result(f, code == MPIN_CRYPTO_BAD_PIN);
}

static void server_1(void)
{
    out hid = output(G1), htid = output(G1);
    int32_t date = byte() & 1 ? word() : 0;
    in id = octets();
    int32_t code = mpin_crypto_server_1(OF(hid), OF(htid), date, OF(id));
    EXPECT(documented(code));
    result(hid, code == 0);
    result(htid, code == 0);
}

static void pin_to_scalar(void)
{
    out scalar = output(SCALAR);
    int32_t bits = -1, mapping = (int8_t)byte();
    in pin = octets();
    int32_t code = mpin_crypto_pin_to_scalar(OF(scalar), byte() ? &bits : NULL,
                                             mapping, OF(pin));
    EXPECT(documented(code));
    EXPECT(code == 0 ? bits == 14 || bits == 20 : bits == -1);
    /* A PIN may be 0, which is no scalar for the other functions. */
    if (code != 0)
        result(scalar, 0);
}

static void new_context(void)
{
    uint8_t slot = byte() % SLOTS;
    mpin_crypto_server_context *handle = NULL;
    in secret = argument(G2);
    int32_t code = mpin_crypto_server_context_new(byte() ? &handle : NULL,
                                                  OF(secret));
    EXPECT(documented(code));
    EXPECT((code == 0) == (handle != NULL));
    if (handle) {
        mpin_crypto_server_context_free(contexts[slot]);
        contexts[slot] = handle;
    }
}

static void verify(void)
{
    mpin_crypto_server_context *handle = context();
    int32_t date = byte() & 1 ? word() : 0;
    in id = octets(), u = argument(G1), y = argument(SCALAR), v = argument(G1);
    EXPECT(documented(mpin_crypto_server_context_verify(
        handle, date, OF(id), OF(u), OF(y), OF(v))));
}

static void kangaroo(void)
{
    int32_t error = 0x55555555;
    in e = argument(GT), f = argument(GT);
    int32_t range = byte() & 7 ? byte() : word();
    int32_t code = mpin_crypto_kangaroo(byte() ? &error : NULL, OF(e), OF(f),
                                        range);
    EXPECT(documented(code));
    EXPECT(code == 0 ? error <= range && error >= -range : error == 0x55555555);
}

static void extract_pin(void)
{
    out token = output(G1);
    in id = octets(), pin = argument(SCALAR), secret = argument(G1);
    int32_t bits = byte();
    bits = bits == 255 ? word() : bits == 254 ? 256 : bits;
    one_output(token, mpin_crypto_extract_pin(OF(token), OF(id), OF(pin), bits,
                                              OF(secret)));
}

static void call(void)
{
    uint8_t op = byte() % 19;
    out o;
    in a, b, c, d;
    switch (op) {
    case 0:
        o = output(HASH), a = octets();
        one_output(o, mpin_crypto_hash_id(OF(o), OF(a)));
        break;
    case 1:
        o = output(G1), a = argument(HASH);
        one_output(o, mpin_crypto_map_to_g1(OF(o), OF(a)));
        break;
    case 2:
        o = output(SCALAR);
        one_output(o, mpin_crypto_random_generate(OF(o)));
        break;
    case 3:
        o = output(G1), a = argument(SCALAR), b = argument(HASH);
        one_output(o, mpin_crypto_get_client_secret(OF(o), OF(a), OF(b)));
        break;
    case 4:
        o = output(G2), a = argument(SCALAR);
        one_output(o, mpin_crypto_get_server_secret(OF(o), OF(a)));
        break;
    case 5:
        o = output(G1), a = argument(SCALAR), b = argument(HASH);
        one_output(o, mpin_crypto_get_client_permit(OF(o), word(), OF(a),
                                                    OF(b)));
        break;
    case 6:
        o = output(G1), a = argument(G1), b = argument(G1);
        one_output(o, mpin_crypto_recombine_g1(OF(o), OF(a), OF(b)));
        break;
    case 7:
        o = output(G2), a = argument(G2), b = argument(G2);
        one_output(o, mpin_crypto_recombine_g2(OF(o), OF(a), OF(b)));
        break;
    case 8:
        pin_to_scalar();
        break;
    case 9:
        extract_pin();
        break;
    case 10:
        client_1();
        break;
    case 11:
        o = output(G1), a = argument(SCALAR), b = argument(SCALAR);
        c = argument(G1);
        one_output(o, mpin_crypto_client_2(OF(o), OF(a), OF(b), OF(c)));
        break;
    case 12:
        server_1();
        break;
    case 13:
        new_context();
        break;
    case 14:
        mpin_crypto_server_context_free(context());
        break;
    case 15:
        verify();
        break;
    case 16:
        server_2();
        break;
    case 17:
        kangaroo();
        break;
    case 18:
        o = output(GT), a = argument(G2), b = argument(G1);
        if (byte() & 1) {
            one_output(o, mpin_crypto_pairing(OF(o), OF(a), OF(b)));
        } else {
            c = argument(G2), d = argument(G1);
            one_output(o, mpin_crypto_pairing_product(OF(o), OF(a), OF(b),
                                                      OF(c), OF(d)));
        }
        break;
    }
    while (owned_count)
        free(owned[--owned_count]);
}

/* The same right values for every input: a finding can be repeated. */
static void fill_pool(void)
{
    static uint8_t start[KINDS][SLOTS][MPIN_GT_SIZE];
    static int is_made;
    for (uint8_t i = 0; i < SLOTS && !is_made; i++) {
        uint8_t *s = start[SCALAR][i], *hash = start[HASH][i];
        s[31] = (uint8_t)(i + 1);
        if (i == 3)
            memset(s + 1, 0x5A, MPIN_SCALAR_SIZE - 1);
        EXPECT(mpin_crypto_hash_id(hash, MPIN_HASH_SIZE, s,
                                   MPIN_SCALAR_SIZE) == 0);
        EXPECT(mpin_crypto_get_client_secret(start[G1][i], MPIN_G1_SIZE, s,
                                             MPIN_SCALAR_SIZE, hash,
                                             MPIN_HASH_SIZE) == 0);
        EXPECT(mpin_crypto_get_server_secret(start[G2][i], MPIN_G2_SIZE, s,
                                             MPIN_SCALAR_SIZE) == 0);
        EXPECT(mpin_crypto_pairing(start[GT][i], MPIN_GT_SIZE, start[G2][i],
                                   MPIN_G2_SIZE, start[G1][i],
                                   MPIN_G1_SIZE) == 0);
    }
    is_made = 1;
    memcpy(pool, start, sizeof pool);
    for (int i = 0; i < SLOTS; i++)
        mpin_crypto_server_context_free(contexts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cursor = data;
    left = size;
    fill_pool();
    for (int calls = 0; left && calls < 16; calls++)
        call();
    return 0;
}

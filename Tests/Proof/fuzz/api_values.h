/* The values for the calls of api.c: bytes of the input, arguments and
 * outputs, and the checks of each result. */
#ifndef API_VALUES_H
#define API_VALUES_H

#include <mpin_crypto.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(what)                                                             \
    (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, what), abort())
#define EXPECT(condition) ((condition) ? (void)0 : FAIL(#condition))

enum { UNTOUCHED = 0xA5, SLOTS = 4, KINDS = 7 };
enum kind { G1, G2, GT, SCALAR, HASH, KEY, ENCODED };

static const size_t sizes[KINDS] = {
    MPIN_G1_SIZE,   MPIN_G2_SIZE,  MPIN_GT_SIZE, MPIN_SCALAR_SIZE,
    MPIN_HASH_SIZE, MPIN_KEY_SIZE, MPIN_G1_SIZE};

/* Right values of each kind, for arguments. Results of calls replace them. */
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

/* Returns a date: any number, or 0 for none. */
static int32_t day(void)
{
    return byte() & 1 ? word() : 0;
}

/* Returns the width of a PIN or of another factor in bits. */
static int32_t width(void)
{
    uint8_t bits = byte();
    return bits == 255 ? word() : bits == 254 ? 256 : bits;
}

/* Returns a time in seconds, or a number that needs more than 32 bits. */
static int64_t seconds(void)
{
    int64_t low = byte() & 1 ? 1700000000 : word();
    return byte() & 7 ? low : (int64_t)((uint64_t)low ^ (uint64_t)word() << 32);
}

/* ---- Arguments ----------------------------------------------------------- */

/* The memory that is allocated for one call. */
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

/* Returns any bytes, for an M-Pin ID, a PIN or a message. */
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
    case KEY:
        return 1;
    case HASH:
        return mpin_crypto_map_to_g1(room, 65, value, 32) == 0;
    case ENCODED:
        return mpin_crypto_decoding(room, 65, value, 65) == 0;
    }
    return 0;
}

/* Checks that the output was written if and only if it should be, and keeps
 * it as an argument for later calls. */
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
    case MPIN_CRYPTO_BUFFER_TOO_SMALL:
    case MPIN_CRYPTO_INVALID_HANDLE:
        return 1;
    }
    return 0;
}

static void one_output(out o, int32_t code)
{
    EXPECT(documented(code));
    result(o, code == 0);
}

#endif

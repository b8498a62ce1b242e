/* No secret stays in the memory of the process: after each call the program
 * wipes its own copies and looks through everything that it can write,
 * heap, data and stacks, for eight bytes in a row of
 *
 *     PIN digits, master share, x, token, client secret, server secret, sec
 *
 * as octets, as limbs (the octets reversed), and for coordinates as limbs in
 * Montgomery form, which is how the engine holds them.
 *
 *     wipe_test ROUNDS
 *
 * A server context, which holds what is derived from the server secret, must
 * be nothing but zeros when its memory is freed.
 *
 * The secrets are made in a child process, which hands them over masked, so
 * that this process has no copy but the ones under test. The calls run on a
 * thread whose stack stays as they left it. */
#define _DEFAULT_SOURCE

#include "../C/check.h"

#include <fcntl.h>
#include <gmp.h>
#include <malloc.h>
#include <mpin_crypto.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARG(array) array, sizeof(array)
#define MASK UINT64_C(0x5555555555555555)

enum { DATE = 20778, DIGITS = 8, NEEDLES = 256, CHUNK = 1 << 20 };
enum { STACK = 1 << 20 };

/* What the calls take; every byte is secret. */
struct secrets {
    uint8_t pin_text[DIGITS];
    uint8_t s[MPIN_SCALAR_SIZE], x[MPIN_SCALAR_SIZE], pin[MPIN_SCALAR_SIZE];
    uint8_t token[MPIN_G1_SIZE], secret[MPIN_G1_SIZE], sec[MPIN_G1_SIZE];
    uint8_t permit[MPIN_G1_SIZE], server[MPIN_G2_SIZE];
};

/* Shared with the child: everything masked. */
struct shared {
    struct secrets masked;
    struct {
        uint64_t value;
        const char *name;
    } needles[NEEDLES];
    size_t count;
};

static struct shared *shared;
static struct secrets secrets;
static const uint8_t id[] = "{\"userID\":\"alice@example.com\"}";
static uint8_t y[MPIN_SCALAR_SIZE], hash[MPIN_HASH_SIZE];

static void mask(void *to, const void *from, size_t size)
{
    volatile uint8_t *out = to;
    const volatile uint8_t *in = from;
    for (size_t i = 0; i < size; i++)
        out[i] = in[i] ^ 0x55;
}

static void wipe(void *bytes, size_t size)
{
    volatile uint8_t *p = bytes;
    while (size--)
        *p++ = 0;
}

/* ---- The child: makes secrets and what to look for ---------------------- */

static void needle(const char *name, const uint8_t *octets)
{
    uint64_t value;
    memcpy(&value, octets, sizeof value);
    /* Padding of a small number is no secret. */
    if (value >> 32 == 0 || (value & UINT32_MAX) == 0)
        return;
    if (shared->count == NEEDLES)
        fputs("wipe_test: too many needles\n", stderr), _exit(2);
    shared->needles[shared->count].value = value ^ MASK;
    shared->needles[shared->count++].name = name;
}

/* 32 octets, big-endian: as they are and as limbs. */
static void number(const char *name, const uint8_t *octets)
{
    uint8_t reversed[32];
    for (int i = 0; i < 32; i++)
        reversed[i] = octets[31 - i];
    for (int i = 0; i < 32; i += 8) {
        needle(name, octets + i);
        needle(name, reversed + i);
    }
}

/* A coordinate: the octets, the limbs, and the limbs of a 2^320 mod p. */
static void coordinate(const char *name, const uint8_t *octets)
{
    mpz_t a, p, u;
    uint8_t montgomery[32] = {0};
    size_t size = 0;
    /* p = 36u^4 - 36u^3 + 24u^2 - 6u + 1 for u = |x| of the curve. */
    mpz_inits(a, p, u, NULL);
    mpz_set_str(u, "4000000003C012B1", 16);
    mpz_mul_ui(p, u, 36), mpz_sub_ui(p, p, 36);
    mpz_mul(p, p, u), mpz_add_ui(p, p, 24);
    mpz_mul(p, p, u), mpz_sub_ui(p, p, 6);
    mpz_mul(p, p, u), mpz_add_ui(p, p, 1);
    mpz_import(a, 32, 1, 1, 0, 0, octets);
    mpz_mul_2exp(a, a, 320), mpz_mod(a, a, p);
    mpz_export(montgomery, &size, -1, 1, 0, 0, a);
    for (int i = 0; i < 32; i += 8)
        needle(name, montgomery + i);
    mpz_clears(a, p, u, NULL);
    number(name, octets);
}

static void g1(const char *name, const uint8_t *point)
{
    coordinate(name, point + 1);
    coordinate(name, point + 33);
}

static void must(int32_t code)
{
    if (code != 0)
        fprintf(stderr, "wipe_test: a call gave %d\n", code), _exit(2);
}

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
    shared->count = 0;
    needle("PIN", k->pin_text);
    number("master share", k->s);
    number("x", k->x);
    g1("token", k->token);
    g1("client secret", k->secret);
    g1("sec", k->sec);
    for (int i = 0; i < 4; i++)
        coordinate("server secret", k->server + 32 * i);
    mask(&shared->masked, k, sizeof *k);
}

/* ---- The search --------------------------------------------------------- */

static uint8_t is_candidate[1 << 16];

static void look(const uint8_t *bytes, size_t size, const char **found)
{
    for (size_t i = 0; i + 8 <= size; i++) {
        uint64_t value;
        memcpy(&value, bytes + i, sizeof value);
        value ^= MASK;
        if (!is_candidate[value & 0xFFFF])
            continue;
        for (size_t n = 0; n < shared->count; n++)
            if (shared->needles[n].value == value)
                found[n] = shared->needles[n].name;
    }
}

/* How many needles are anywhere in writable memory. With `name` it tells which
 * secret one of them belongs to. */
static size_t search(const char **name)
{
    /* Outside the search: it would find itself. */
    static uint8_t buffer[CHUNK];
    static const char *found[NEEDLES];
    char line[512];
    unsigned long start, end;
    int memory = open("/proc/self/mem", O_RDONLY);
    FILE *maps = fopen("/proc/self/maps", "r");
    memset(found, 0, sizeof found);
    memset(is_candidate, 0, sizeof is_candidate);
    for (size_t n = 0; n < shared->count; n++)
        is_candidate[shared->needles[n].value & 0xFFFF] = 1;
    while (maps && fgets(line, sizeof line, maps)) {
        char access[8];
        if (sscanf(line, "%lx-%lx %7s", &start, &end, access) != 3 ||
            strncmp(access, "rw", 2) != 0)
            continue;
        for (unsigned long at = start; at < end; at += CHUNK - 8) {
            size_t size = end - at < CHUNK ? end - at : CHUNK;
            ssize_t n = pread(memory, buffer, size, (off_t)at);
            if (n > 0)
                look(buffer, (size_t)n, found);
            memset(buffer, 0, sizeof buffer);
        }
    }
    if (maps)
        fclose(maps);
    close(memory);
    size_t count = 0;
    for (size_t n = 0; n < shared->count; n++)
        if (found[n])
            count++, *name = found[n];
    return count;
}

/* ---- What is freed ------------------------------------------------------ */

void __libc_free(void *block);

static int is_watched;
static size_t large_blocks, dirty_bytes;

/* Stands before the free of the C library, for the library under test, too. A
 * context has two large blocks; the last bytes of a block may be padding. */
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

/* One call each: the next one would write over what the last one left. */
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
/* Outputs that are secrets; wiped with the rest. */
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

static void on_thread(void *stack, enum step step)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstack(&attributes, stack, STACK) != 0 ||
        pthread_create(&thread, &attributes, call, &step) != 0 ||
        pthread_join(thread, NULL) != 0)
        perror("wipe_test"), exit(2);
    pthread_attr_destroy(&attributes);
}

static void *pages(size_t size, int visibility)
{
    void *result = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        visibility | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED)
        perror("wipe_test"), exit(2);
    return result;
}

static void in_child(void (*work)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        fputs("wipe_test: no secrets\n", stderr), exit(2);
}

int main(int argc, char **argv)
{
    int rounds = argc == 2 ? atoi(argv[1]) : 0;
    const char *name = "";
    size_t found;
    if (rounds < 1)
        return fputs("usage: wipe_test ROUNDS\n", stderr), 2;
    shared = pages(sizeof *shared, MAP_SHARED);
    void *stack = pages(STACK, MAP_PRIVATE);
    must(mpin_crypto_hash_id(ARG(hash), ARG(id)));
    must(mpin_crypto_random_generate(ARG(y)));
    must(mpin_crypto_server_1(ARG(hid), ARG(htid), DATE, ARG(id)));
    for (int round = 0; round < rounds; round++) {
        in_child(make_secrets);
        for (int step = 0; step < STEPS; step++) {
            mask(&secrets, &shared->masked, sizeof secrets);
            if (round == 0 && step == 0) {
                /* The octets; what the engine makes of them comes later. */
                found = search(&name);
                CHECK(found >= shared->count / 4, "only %zu of %zu are found",
                      found, shared->count);
            }
            on_thread(stack, (enum step)step);
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

/* Searches for secrets in all memory that this process can write: heap, data
 * and stacks. Only a child process knows the secrets. It hands over in masked
 * form what to search for, so that the only copies in this process are those
 * that the calls under test have left.
 *
 * It searches for eight consecutive bytes of a secret: as octets, as limbs
 * (the octets reversed) and as hex digits; coordinates also as limbs in
 * Montgomery form, as the engine has them. It also searches for the digits
 * of PINs, but not between two hex digits: six digits of a PIN occur by chance
 * in the thousands of hex digits that a client sends and receives. */
#ifndef SEARCH_H
#define SEARCH_H

#include "../C/check.h"

#include <fcntl.h>
#include <gmp.h>
#include <mpin_crypto.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARG(array) array, sizeof(array)
#define MASK UINT64_C(0x5555555555555555)

enum { NEEDLES = 512, CHUNK = 1 << 20, STACK = 1 << 20 };

/* What to search for ("needles"), in memory that is shared with the child. */
static struct needles {
    struct {
        /* `value` is the first `size` of eight bytes, XORed with MASK. `bits`
         * has ones at the bits that are compared. */
        uint64_t value, bits;
        size_t size;
        const char *name;
    } list[NEEDLES];
    size_t count;
} *needles;

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

/* ---- The data to search for ---------------------------------------- */

static void add_needle(const char *name, uint64_t value, size_t size)
{
    const uint64_t bits = UINT64_MAX >> (64 - 8 * size);
    if (needles->count == NEEDLES)
        fputs("search.h: too many needles\n", stderr), _exit(2);
    needles->list[needles->count].value = (value ^ MASK) & bits;
    needles->list[needles->count].bits = bits;
    needles->list[needles->count].size = size;
    needles->list[needles->count++].name = name;
}

static void needle(const char *name, const uint8_t *octets)
{
    uint64_t value;
    memcpy(&value, octets, sizeof value);
    /* Leaves out values with zeros in one half, because they are the padding
     * of small numbers, which is not secret. */
    if (value >> 32 != 0 && (value & UINT32_MAX) != 0)
        add_needle(name, value, sizeof value);
}

/* Adds a text of one to eight characters. */
static inline void short_text(const char *name, const char *text)
{
    uint64_t value = 0;
    const size_t size = strlen(text);
    memcpy(&value, text, size);
    add_needle(name, value, size);
}

/* Adds a number of 32 octets (big-endian), as octets and as limbs. */
static inline void number(const char *name, const uint8_t *octets)
{
    uint8_t reversed[32];
    for (int i = 0; i < 32; i++)
        reversed[i] = octets[31 - i];
    for (int i = 0; i < 32; i += 8) {
        needle(name, octets + i);
        needle(name, reversed + i);
    }
}

/* Adds a coordinate x: as octets, as limbs, and as the limbs of its
 * Montgomery form, x 2^320 mod p. */
static inline void coordinate(const char *name, const uint8_t *octets)
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

static inline void g1(const char *name, const uint8_t *point)
{
    coordinate(name, point + 1);
    coordinate(name, point + 33);
}

/* Adds octets as lower-case hex. */
static inline void digits(const char *name, const uint8_t *octets, size_t size)
{
    char text[9];
    for (size_t i = 0; i + 4 <= size; i += 4) {
        snprintf(text, sizeof text, "%02x%02x%02x%02x", octets[i],
                 octets[i + 1], octets[i + 2], octets[i + 3]);
        needle(name, (const uint8_t *)text);
    }
}

static void must(int32_t code)
{
    if (code != 0)
        fprintf(stderr, "search.h: a call gave %d\n", code), _exit(2);
}

/* ---- The search --------------------------------------------------------- */

static uint8_t is_candidate[1 << 16];

/* No function of libc, because `look` must not call one: it would save its
 * registers on the stack, where the search would find the secrets whose masks
 * they have taken off. */
static inline int is_hex(uint8_t c)
{
    return (uint8_t)(c - '0') < 10 || (uint8_t)(c - 'a') < 6;
}

static void look(const uint8_t *bytes, size_t size, const char **found)
{
    for (size_t i = 0; i + 8 <= size; i++) {
        uint64_t value;
        memcpy(&value, bytes + i, sizeof value);
        value ^= MASK;
        if (!is_candidate[value & 0xFFFF])
            continue;
        for (size_t n = 0; n < needles->count; n++)
            if (needles->list[n].value == (value & needles->list[n].bits) &&
                !(needles->list[n].size < 8 && i > 0 && is_hex(bytes[i - 1]) &&
                  is_hex(bytes[i + needles->list[n].size])))
                found[n] = needles->list[n].name;
    }
}

/* Returns how many needles with the name `kind` are found in writable
 * memory; NULL means all needles. If any is found, `name` gets the name of
 * one. */
static size_t search_for(const char *kind, const char **name)
{
    /* The buffer is cleared after each use, so that the search does not find
     * its own copies in it. */
    static uint8_t buffer[CHUNK];
    static const char *found[NEEDLES];
    char line[512];
    unsigned long start, end;
    int memory = open("/proc/self/mem", O_RDONLY);
    FILE *maps = fopen("/proc/self/maps", "r");
    memset(found, 0, sizeof found);
    memset(is_candidate, 0, sizeof is_candidate);
    for (size_t n = 0; n < needles->count; n++)
        is_candidate[needles->list[n].value & 0xFFFF] = 1;
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
    for (size_t n = 0; n < needles->count; n++)
        if (found[n] && (!kind || strcmp(kind, found[n]) == 0))
            count++, *name = found[n];
    return count;
}

static size_t search(const char **name)
{
    return search_for(NULL, name);
}

/* ---- Processes and threads ------------------------------------------ */

static void *pages(size_t size, int visibility)
{
    void *result = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        visibility | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED)
        perror("search.h"), exit(2);
    return result;
}

/* Runs a call on a thread whose stack is kept as the call has left it. */
static void on_thread(void *stack, void *(*call)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstack(&attributes, stack, STACK) != 0 ||
        pthread_create(&thread, &attributes, call, argument) != 0 ||
        pthread_join(thread, NULL) != 0)
        perror("search.h"), exit(2);
    pthread_attr_destroy(&attributes);
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
        fputs("search.h: no secrets\n", stderr), exit(2);
}

#endif

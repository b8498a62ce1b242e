/* The operations of operations.js in libmpin.so. For each line on standard
 * input, which is a number of runs, it prints the mean microseconds of each
 * operation.
 *
 * usage: bench_native ID SHARE SHARE Y, all hex. */
#define _POSIX_C_SOURCE 200809L

#include <mpin_crypto.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 20 };

#define ARG(array) array, sizeof(array)

static uint8_t id[4096], y[MPIN_SCALAR_SIZE], x[MPIN_SCALAR_SIZE];
static uint8_t share_1[MPIN_G1_SIZE], share_2[MPIN_G1_SIZE];
static uint8_t token[MPIN_G1_SIZE], sec[MPIN_G1_SIZE];
static uint8_t pin[MPIN_SCALAR_SIZE];
static size_t id_len;
static int32_t bits;
static const uint8_t digits[] = {'1', '2', '3', '4', '5', '6'};

static void check(int32_t code)
{
    if (code != MPIN_CRYPTO_OK)
        fprintf(stderr, "bench_native: result %d\n", code), exit(2);
}

static void number(void)
{
    check(mpin_crypto_pin_to_scalar(ARG(pin), &bits, MPIN_PIN_DECIMAL6,
                                    ARG(digits)));
}

static void client_1(void)
{
    uint8_t u[MPIN_G1_SIZE];
    check(mpin_crypto_client_1(ARG(sec), ARG(u), NULL, 0, 0, id, id_len, ARG(x),
                               ARG(pin), bits, ARG(token), NULL, 0));
}

static void client_2(void)
{
    uint8_t v[MPIN_G1_SIZE];
    check(mpin_crypto_client_2(ARG(v), ARG(x), ARG(y), ARG(sec)));
}

static void enroll(void)
{
    uint8_t z[MPIN_SCALAR_SIZE], public_key[MPIN_G2_SIZE];
    uint8_t sum[MPIN_G1_SIZE], secret[MPIN_G1_SIZE];
    number();
    check(mpin_crypto_get_dvs_keypair(ARG(z), ARG(public_key)));
    check(mpin_crypto_recombine_g1(ARG(sum), ARG(share_1), ARG(share_2)));
    check(mpin_crypto_get_g1_multiple(ARG(secret), ARG(z), ARG(sum)));
    check(mpin_crypto_extract_pin(ARG(token), id, id_len, ARG(pin), bits,
                                  ARG(secret)));
}

static void login(void)
{
    check(mpin_crypto_random_generate(ARG(x)));
    number();
    client_1();
    client_2();
}

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* The fastest of BATCHES batches, because others use the processor, too. */
static void time_one(const char *name, void (*operation)(void), int runs)
{
    double fastest = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        double began = microseconds();
        for (int i = 0; i < runs; i++)
            operation();
        double mean = (microseconds() - began) / runs;
        if (batch == 0 || mean < fastest)
            fastest = mean;
    }
    printf(" %s %.3f", name, fastest);
}

static size_t unhex(uint8_t *out, size_t room, const char *hex)
{
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size && i < room; i++)
        if (sscanf(hex + 2 * i, "%2hhx", &out[i]) != 1)
            exit(2);
    return size;
}

int main(int argc, char **argv)
{
    int runs;
    if (argc != 5)
        return 2;
    id_len = unhex(ARG(id), argv[1]);
    unhex(ARG(share_1), argv[2]);
    unhex(ARG(share_2), argv[3]);
    unhex(ARG(y), argv[4]);
    enroll();
    login();
    while (scanf("%d", &runs) == 1) {
        time_one("client_1", client_1, runs);
        time_one("client_2", client_2, runs);
        time_one("register", enroll, runs);
        time_one("login", login, runs);
        putchar('\n');
        fflush(stdout);
    }
    return 0;
}

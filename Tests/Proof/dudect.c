/* Tests for constant time by measuring: a function is called with a fixed
 * secret and with random ones, in random order. Welch's t-test shows whether
 * the times of the two classes differ (Reparaz, Balasch, Verbauwhede, "Dude,
 * is my code constant time?", DATE 2017).
 *
 * usage: dudect SAMPLES
 *
 * The fixed secrets are extreme, PIN 0 and scalar 1, because a loop that
 * skips zeros differs most for them. Slow outliers come from the machine, so
 * the test is done with all times, and again with the times below each of
 * ten percentiles. |t| above 10 is a leak. The control, a comparison that
 * stops at the first difference, must be far above 10. */
#define _POSIX_C_SOURCE 200809L

#include "../C/check.h"

#include <math.h>
#include <mpin_crypto.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define ARG(array) array, sizeof(array)

enum { CROPS = 10, WARM_UP = 100 };
static const double leak = 10;

static const uint8_t id[] = "{\"userID\":\"alice@example.com\"}";
static uint8_t hash[MPIN_HASH_SIZE], x[MPIN_SCALAR_SIZE];
static uint8_t client_secret[MPIN_G1_SIZE];

/* Returns a time in clock ticks, or in nanoseconds on a processor without a
 * counter. */
static uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
#endif
}

/* splitmix64, a simple random generator. It chooses the class and the PINs,
 * for which it is good enough. */
static uint64_t next(void)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* ---- The measured functions: each takes one secret of 32 bytes ------- */

static int extract_pin(const uint8_t *pin)
{
    uint8_t token[MPIN_G1_SIZE];
    return mpin_crypto_extract_pin(ARG(token), ARG(id), pin, MPIN_SCALAR_SIZE,
                                   20, ARG(client_secret));
}

static int client_1(const uint8_t *pin)
{
    uint8_t sec[MPIN_G1_SIZE], u[MPIN_G1_SIZE];
    return mpin_crypto_client_1(ARG(sec), ARG(u), NULL, 0, 0, ARG(id), ARG(x),
                                pin, MPIN_SCALAR_SIZE, 20, ARG(client_secret),
                                NULL, 0);
}

/* Uses y = 1, so that the scalar of the multiplication, x + y, is extreme. */
static int client_2(const uint8_t *scalar)
{
    static const uint8_t y[MPIN_SCALAR_SIZE] = {[31] = 1};
    uint8_t v[MPIN_G1_SIZE];
    return mpin_crypto_client_2(ARG(v), scalar, MPIN_SCALAR_SIZE, ARG(y),
                                ARG(client_secret));
}

static int get_client_secret(const uint8_t *scalar)
{
    uint8_t share[MPIN_G1_SIZE];
    return mpin_crypto_get_client_secret(ARG(share), scalar, MPIN_SCALAR_SIZE,
                                         ARG(hash));
}

static int get_server_secret(const uint8_t *scalar)
{
    uint8_t share[MPIN_G2_SIZE];
    return mpin_crypto_get_server_secret(ARG(share), scalar, MPIN_SCALAR_SIZE);
}

/* The control. Its time depends on the number of right bytes. */
__attribute__((noinline)) static int leaky(const uint8_t *guess)
{
    static volatile uint8_t secret[MPIN_SCALAR_SIZE] = {[31] = 1};
    for (int round = 0; round < 100; round++)
        for (int i = 0; i < MPIN_SCALAR_SIZE; i++)
            if (secret[i] != guess[i])
                break;
    return 0;
}

/* ---- Secrets ---------------------------------------------------------- */

static void random_pin(uint8_t *pin)
{
    uint32_t value = (uint32_t)(next() % 1000000);
    memset(pin, 0, MPIN_SCALAR_SIZE);
    for (int i = 0; i < 4; i++)
        pin[31 - i] = (uint8_t)(value >> (8 * i));
}

static void random_scalar(uint8_t *scalar)
{
    if (mpin_crypto_random_generate(scalar, MPIN_SCALAR_SIZE) != 0)
        fputs("dudect: no random numbers\n", stderr), exit(2);
}

/* ---- Statistics --------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Returns |t| of Welch's t-test for the times of the two classes that are not
 * above `limit`. */
static double welch(const uint64_t *times, const uint8_t *classes, size_t n,
                    uint64_t limit)
{
    double count[2] = {0}, mean[2] = {0}, square[2] = {0};
    for (size_t i = 0; i < n; i++) {
        int c = classes[i];
        double delta = (double)times[i] - mean[c];
        if (times[i] > limit)
            continue;
        count[c]++;
        mean[c] += delta / count[c];
        square[c] += delta * ((double)times[i] - mean[c]);
    }
    if (count[0] < 100 || count[1] < 100)
        return 0;
    double variance = square[0] / (count[0] - 1) / count[0] +
                      square[1] / (count[1] - 1) / count[1];
    return variance > 0 ? fabs(mean[0] - mean[1]) / sqrt(variance) : 0;
}

/* Returns the largest |t| of several tests: one with all times, and one for
 * each percentile with only the times below it. */
static double largest_t(const uint64_t *times, const uint8_t *classes, size_t n)
{
    uint64_t *sorted = malloc(n * sizeof *sorted);
    double largest = welch(times, classes, n, UINT64_MAX);
    if (!sorted)
        return perror("dudect"), exit(2), 0;
    memcpy(sorted, times, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    for (int crop = 1; crop <= CROPS; crop++) {
        double part = 1 - pow(0.5, crop);
        double t = welch(times, classes, n, sorted[(size_t)(part * (double)n)]);
        largest = t > largest ? t : largest;
    }
    free(sorted);
    return largest;
}

static double measure(int (*function)(const uint8_t *),
                      void (*random_secret)(uint8_t *), uint8_t fixed, size_t n)
{
    uint8_t *secrets = malloc(n * MPIN_SCALAR_SIZE), *classes = malloc(n);
    uint64_t *times = malloc(n * sizeof *times);
    int results = 0;
    if (!secrets || !classes || !times)
        return perror("dudect"), exit(2), 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t *secret = secrets + i * MPIN_SCALAR_SIZE;
        /* Makes a random secret even if the fixed one is used instead, so
         * that the caches are in the same state for both classes. */
        random_secret(secret);
        classes[i] = next() & 1;
        if (classes[i] == 0) {
            memset(secret, 0, MPIN_SCALAR_SIZE);
            secret[31] = fixed;
        }
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t start = ticks();
        results |= function(secrets + i * MPIN_SCALAR_SIZE);
        times[i] = ticks() - start;
    }
    CHECK(results == 0, "a call failed");
    double t = largest_t(times + WARM_UP, classes + WARM_UP, n - WARM_UP);
    free(secrets);
    free(classes);
    free(times);
    return t;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*function)(const uint8_t *);
        void (*random_secret)(uint8_t *);
        uint8_t fixed;
    } functions[] = {
        {"extract_pin (PIN)", extract_pin, random_pin, 0},
        {"client_1 (PIN)", client_1, random_pin, 0},
        {"client_2 (x)", client_2, random_scalar, 1},
        {"get_client_secret (s)", get_client_secret, random_scalar, 1},
        {"get_server_secret (s)", get_server_secret, random_scalar, 1},
    };
    long samples = argc == 2 ? atol(argv[1]) : 0;
    if (samples < 1000)
        return fputs("usage: dudect SAMPLES (1000 or more)\n", stderr), 2;
    CHECK_STATUS(mpin_crypto_hash_id(ARG(hash), ARG(id)), 0);
    random_scalar(x);
    CHECK_STATUS(mpin_crypto_get_client_secret(ARG(client_secret), ARG(x),
                                               ARG(hash)), 0);
    double t = measure(leaky, random_scalar, 1, (size_t)samples);
    printf("  %-24s max |t| %8.2f\n", "control, leaky", t);
    CHECK(t > leak, "the control was not caught");
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        t = measure(functions[i].function, functions[i].random_secret,
                    functions[i].fixed, (size_t)samples);
        printf("  %-24s max |t| %8.2f\n", functions[i].name, t);
        fflush(stdout);
        CHECK(t < leak, "%s leaks", functions[i].name);
    }
    return report("dudect");
}

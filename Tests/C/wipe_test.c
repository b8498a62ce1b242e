/* No PIN and no factor leaves a copy in the memory of the process: not in the
 * heap, not on the stack, not in the library's data.
 *
 *     wipe_test URL */
#define _DEFAULT_SOURCE

#include "check.h"
#include "store.h"

#include <fcntl.h>
#include <mpin.h>

enum { DIGITS = 6, MASK = 0x55, CHUNK = 1 << 20 };

/* The PINs 839174 and 506283 and the factor 947150, masked so that this
 * program itself holds no copy. */
enum { PIN, NEW_PIN, FACTOR, SECRETS };
static const unsigned char masked[SECRETS][DIGITS] = {
    {'8' ^ MASK, '3' ^ MASK, '9' ^ MASK, '1' ^ MASK, '7' ^ MASK, '4' ^ MASK},
    {'5' ^ MASK, '0' ^ MASK, '6' ^ MASK, '2' ^ MASK, '8' ^ MASK, '3' ^ MASK},
    {'9' ^ MASK, '4' ^ MASK, '7' ^ MASK, '1' ^ MASK, '5' ^ MASK, '0' ^ MASK}};
static char secrets[SECRETS][DIGITS + 1];

static void show_secrets(void)
{
    for (int s = 0; s < SECRETS; s++)
        for (int i = 0; i < DIGITS; i++)
            secrets[s][i] = (char)(masked[s][i] ^ MASK);
}

static void wipe_secrets(void)
{
    volatile char *p = secrets[0];
    for (size_t i = 0; i < sizeof secrets; i++)
        p[i] = 0;
}

static int count_in(const unsigned char *bytes, size_t size)
{
    int found = 0;
    for (size_t i = 0; i + DIGITS <= size; i++)
        for (int s = 0; s < SECRETS; s++) {
            int k = 0;
            while (k < DIGITS && (bytes[i + (size_t)k] ^ MASK) == masked[s][k])
                k++;
            found += k == DIGITS;
        }
    return found;
}

/* How often one of them occurs in what the process can write. The buffer of the
 * search is outside: it would find itself. */
static int copies(void)
{
    static unsigned char buffer[CHUNK];
    int found = 0, memory = open("/proc/self/mem", O_RDONLY);
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long start, end;
    while (maps && fgets(line, sizeof line, maps)) {
        char access[8];
        if (sscanf(line, "%lx-%lx %7s", &start, &end, access) != 3 ||
            strncmp(access, "rw", 2) != 0)
            continue;
        for (unsigned long at = start; at < end; at += CHUNK - DIGITS) {
            size_t size = end - at < CHUNK ? end - at : CHUNK;
            ssize_t n = pread(memory, buffer, size, (off_t)at);
            if (n > 0)
                found += count_in(buffer, (size_t)n);
            memset(buffer, 0, sizeof buffer);
        }
    }
    if (maps)
        fclose(maps);
    close(memory);
    return found;
}

/* Runs calls that are told secrets, and looks for what they have left. */
#define LEAVES_NOTHING(what, calls)                                            \
    do {                                                                       \
        show_secrets();                                                        \
        calls;                                                                 \
        wipe_secrets();                                                        \
        CHECK(copies() == 0, "%d copies after " what, copies());               \
    } while (0)

static void factor(mpin_sdk *sdk, mpin_user *user)
{
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, secrets[FACTOR]), MPIN_OK);
}

static void logins(mpin_sdk *sdk, mpin_user *user)
{
    mpin_otp otp;
    otp.size = sizeof otp;
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    LEAVES_NOTHING("a wrong PIN", factor(sdk, user);
                   CHECK_STATUS(mpin_sdk_finish_authentication(
                                    sdk, user, NULL, NULL, secrets[NEW_PIN]),
                                MPIN_INCORRECT_PIN));
    LEAVES_NOTHING("a login", factor(sdk, user);
                   CHECK_STATUS(mpin_sdk_finish_authentication(
                                    sdk, user, NULL, NULL, secrets[PIN]),
                                MPIN_OK));
    LEAVES_NOTHING("the change of the PIN", factor(sdk, user);
                   CHECK_STATUS(mpin_sdk_change_pin(sdk, user, secrets[PIN],
                                                    secrets[NEW_PIN]),
                                MPIN_OK));
    CHECK_STATUS(mpin_sdk_start_authentication_otp(sdk, user), MPIN_OK);
    LEAVES_NOTHING("a one-time password", factor(sdk, user);
                   CHECK_STATUS(mpin_sdk_finish_authentication_otp(
                                    sdk, user, &otp, secrets[NEW_PIN]),
                                MPIN_OK));
    LEAVES_NOTHING("a factor that nobody used", factor(sdk, user);
                   CHECK_STATUS(mpin_sdk_delete_user(sdk, user), MPIN_OK));
}

int main(int argc, char **argv)
{
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    mpin_config config = {0};
    if (argc != 2)
        return fputs("usage: wipe_test URL\n", stderr), 2;
    if (store_open() != 0)
        return perror("wipe_test"), 1;
    show_secrets();
    CHECK(copies() >= SECRETS, "the search does not find what is there");
    wipe_secrets();
    CHECK(copies() == 0, "the search finds its own traces");

    config.size = sizeof config;
    config.storage_path = store_path("store");
    config.backend = argv[1];
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "wanda", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL), MPIN_OK);
    LEAVES_NOTHING("the registration", factor(sdk, user); CHECK_STATUS(
        mpin_sdk_finish_registration(sdk, user, secrets[PIN]), MPIN_OK));
    logins(sdk, user);
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    store_close();
    return report("wipe_test");
}

/* A PIN leaves no copy in the memory of the process: not in the heap, not on
 * the stack, not in the library's data.
 *
 *     wipe_test URL */
#define _DEFAULT_SOURCE

#include "check.h"
#include "store.h"

#include <fcntl.h>
#include <mpin.h>

enum { DIGITS = 6, MASK = 0x55, CHUNK = 1 << 20 };

/* The PIN 839174, masked so that this program itself holds no copy. */
static const unsigned char masked[DIGITS] = {
    '8' ^ MASK, '3' ^ MASK, '9' ^ MASK, '1' ^ MASK, '7' ^ MASK, '4' ^ MASK};
static char pin[DIGITS + 1];

static void show_pin(void)
{
    for (int i = 0; i < DIGITS; i++)
        pin[i] = (char)(masked[i] ^ MASK);
}

static void wipe_pin(void)
{
    volatile char *p = pin;
    for (int i = 0; i < DIGITS; i++)
        p[i] = 0;
}

static int count_in(const unsigned char *bytes, size_t size)
{
    int found = 0;
    for (size_t i = 0; i + DIGITS <= size; i++) {
        int k = 0;
        while (k < DIGITS && (bytes[i + (size_t)k] ^ MASK) == masked[k])
            k++;
        found += k == DIGITS;
    }
    return found;
}

/* How often the PIN occurs in what the process can write. The buffer of the
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

int main(int argc, char **argv)
{
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    mpin_config config = {0};
    if (argc != 2)
        return fputs("usage: wipe_test URL\n", stderr), 2;
    if (store_open() != 0)
        return perror("wipe_test"), 1;
    show_pin();
    CHECK(copies() >= 1, "the search does not find the PIN that is there");
    wipe_pin();
    CHECK(copies() == 0, "the search finds its own traces");

    config.size = sizeof config;
    config.storage_path = store_path("store");
    config.backend = argv[1];
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "wanda", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL), MPIN_OK);
    show_pin();
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, pin), MPIN_OK);
    wipe_pin();
    CHECK(copies() == 0, "%d copies after the registration", copies());

    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    show_pin();
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, NULL, NULL, pin),
                 MPIN_OK);
    wipe_pin();
    CHECK(copies() == 0, "%d copies after the login", copies());
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    store_close();
    return report("wipe_test");
}

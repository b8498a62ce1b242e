/* Makes an error inside the library that a sanitizer must find, to prove
 * that the sanitizer watches the library:
 *
 * usage: control_test address    the library reads freed memory
 *        control_test thread     two threads let the library write to one place
 *
 * The sanitizer must end the program. If the program ends normally, the
 * library was not watched. */
#define _DEFAULT_SOURCE

#include "check.h"
#include "loopback.h"
#include "store.h"

#include <mpin.h>

static mpin_user *user;
static int32_t state;

static void read_freed_memory(mpin_sdk *sdk)
{
    mpin_config *config = calloc(1, sizeof *config);
    uintptr_t address = (uintptr_t)config;
    free(config);
    mpin_status status = mpin_sdk_init(sdk, (const mpin_config *)address);
    printf("not noticed: %s\n", mpin_status_name(status));
}

static void *write_state(void *unused)
{
    for (int i = 0; i < 10000; i++)
        if (mpin_user_get_state(user, &state) != MPIN_OK)
            return unused;
    return NULL;
}

static void write_to_one_place(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, write_state, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    struct loopback server;
    mpin_sdk *sdk = NULL;
    mpin_config config = {0};
    if (argc != 2)
        return fputs("usage: control_test address|thread\n", stderr), 2;
    if (store_open() != 0 || loopback_start(&server, CLIENT_SETTINGS) != 0)
        return perror("control_test"), 2;
    config.size = sizeof config;
    config.storage_path = store_path("store");
    config.backend = server.url;
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "alice", NULL), MPIN_OK);
    store_close();
    if (strcmp(argv[1], "thread") == 0)
        write_to_one_place();
    else
        read_freed_memory(sdk);
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    loopback_stop(&server);
    return report("control_test");
}

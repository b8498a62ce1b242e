/* Tests that the library installs no signal handlers when it is loaded, used or
 * unloaded. It also tests that SIGPIPE does not end the program when a server
 * closes a connection.
 *
 *     signals_test              the library is linked
 *     signals_test LIBRARY      it is loaded by dlopen, 100 times
 *
 * The second form is compiled with -DLOADED and not linked to the library. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <dlfcn.h>
#include <mpin.h>
#include <signal.h>

enum { SIGNALS = 65 };

static void (*handlers[SIGNALS])(int);

static void record(void)
{
    struct sigaction action;
    for (int i = 1; i < SIGNALS; i++)
        handlers[i] = sigaction(i, NULL, &action) == 0 ? action.sa_handler
                                                       : SIG_ERR;
}

static void compare(const char *when)
{
    struct sigaction action;
    for (int i = 1; i < SIGNALS; i++) {
        void (*handler)(int) =
            sigaction(i, NULL, &action) == 0 ? action.sa_handler : SIG_ERR;
        CHECK(handler == handlers[i], "signal %d has another handler %s", i,
              when);
    }
}

#ifdef LOADED

typedef mpin_status (*self_test_function)(void);

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL, "%s", dlerror());
    if (library == NULL)
        return;
    compare("after dlopen");
    self_test_function self_test;
    *(void **)&self_test = dlsym(library, "mpin_sdk_self_test");
    CHECK(self_test != NULL, "no mpin_sdk_self_test");
    if (self_test)
        CHECK_STATUS(self_test(), MPIN_OK);
    compare("after a call");
    CHECK(dlsym(library, "swift_retain") == NULL, "the Swift runtime shows");
    CHECK(dlclose(library) == 0, "%s", dlerror());
    compare("after dlclose");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fputs("usage: signals_test LIBRARY\n", stderr), 2;
    record();
    for (int i = 0; i < 100; i++)
        load(argv[1]);
    return report("signals_test (dlopen)");
}

#else

#include "loopback.h"
#include "store.h"

int main(void)
{
    struct loopback server;
    mpin_sdk *sdk = NULL;
    mpin_config config = {0};
    record();
    for (int i = 1; i < SIGNALS; i++)
        CHECK(handlers[i] == SIG_DFL || handlers[i] == SIG_IGN ||
                  handlers[i] == SIG_ERR,
              "signal %d has a handler at the start", i);
    if (store_open() != 0 || loopback_start(&server, CLIENT_SETTINGS) != 0)
        return perror("signals_test"), 1;
    CHECK_STATUS(mpin_sdk_self_test(), MPIN_OK);
    config.size = sizeof config;
    config.storage_path = store_path("store");
    config.backend = server.url;
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    compare("after calls");
    mpin_sdk_free(sdk);
    loopback_stop(&server);
    store_close();
    compare("at the end");
    return report("signals_test");
}

#endif

/* Tests what a program must be able to do with the library: fork after using
 * it, and run with closed standard streams. The library must not change
 * errno or the locale. */
#define _DEFAULT_SOURCE

#include "check.h"
#include "loopback.h"
#include "store.h"

#include <errno.h>
#include <locale.h>
#include <mpin.h>
#include <sys/wait.h>

static struct loopback server;

static mpin_sdk *open_sdk(const char *store)
{
    mpin_sdk *sdk = NULL;
    mpin_config config = {0};
    config.size = sizeof config;
    config.storage_path = store_path(store);
    config.backend = server.url;
    if (mpin_sdk_new(&sdk) != MPIN_OK || mpin_sdk_init(sdk, &config) != MPIN_OK)
        return NULL;
    return sdk;
}

/* Makes calls of every kind. Returns how many failed. */
static int use(mpin_sdk *sdk)
{
    mpin_user *user = NULL;
    size_t n = 0;
    int bad = mpin_sdk_self_test() != MPIN_OK;
    bad += mpin_sdk_set_backend(sdk, server.url, NULL) != MPIN_OK;
    bad += mpin_sdk_make_new_user(sdk, &user, "alice", NULL) != MPIN_OK;
    bad += mpin_sdk_list_all_users(sdk, NULL, &n) != MPIN_OK;
    bad += mpin_sdk_start_registration(sdk, user, NULL, NULL) !=
           MPIN_RESPONSE_PARSE_ERROR;
    mpin_user_free(user);
    return bad;
}

/* Runs `work` in a child process, for at most 10 seconds. */
static void in_child(const char *what, int (*work)(mpin_sdk *), mpin_sdk *sdk)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(work(sdk));
    }
    CHECK(waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "%s: the child ended with %x", what, (unsigned)status);
}

/* Closes the standard streams, so that files which the library opens get the
 * numbers 0 to 2. */
static int without_streams(mpin_sdk *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        close(i);
    mpin_sdk *sdk = open_sdk("closed");
    int bad = sdk == NULL ? 1 : use(sdk);
    mpin_sdk_free(sdk);
    sdk = open_sdk("closed");
    bad += sdk == NULL;
    mpin_sdk_free(sdk);
    return bad;
}

static int use_and_free(mpin_sdk *sdk)
{
    int bad = use(sdk);
    mpin_sdk_free(sdk);
    return bad + (mpin_sdk_cancel(sdk) != MPIN_INVALID_HANDLE);
}

static void errno_stays(mpin_sdk *sdk)
{
    mpin_sdk *other = NULL;
    mpin_config config = {0};
    config.size = sizeof config;
    config.storage_path = "/nowhere/at/all";
    errno = 77;
    CHECK(use(sdk) == 0, "a call failed");
    CHECK(errno == 77, "errno is %d", errno);
    CHECK_STATUS(mpin_sdk_new(&other), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(other, &config), MPIN_STORAGE_ERROR);
    CHECK(errno == 77, "after a failure errno is %d", errno);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "http://127.0.0.1:1", NULL),
                 MPIN_NETWORK_ERROR);
    mpin_sdk_free(other);
    CHECK(errno == 77, "after a free errno is %d", errno);
}

int main(void)
{
    if (store_open() != 0 || loopback_start(&server, CLIENT_SETTINGS) != 0)
        return perror("process_test"), 1;
    mpin_sdk *sdk = open_sdk("store");
    CHECK(use(sdk) == 0, "a call failed");
    CHECK(strcmp(setlocale(LC_ALL, NULL), "C") == 0, "another locale");
    for (int i = 0; i < 5; i++) {
        in_child("after use", use, sdk);
        CHECK(use(sdk) == 0, "a call failed after a fork");
    }
    in_child("a free in the child", use_and_free, sdk);
    CHECK(use(sdk) == 0, "the child has freed the parent's");
    in_child("closed streams", without_streams, NULL);
    errno_stays(sdk);
    mpin_sdk_free(sdk);
    loopback_stop(&server);
    store_close();
    return report("process_test");
}

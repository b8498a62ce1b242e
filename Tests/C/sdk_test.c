/* Tests the conventions of mpin.h: text outputs, lists, errors, time. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include "loopback.h"
#include "store.h"

#include <mpin.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static struct loopback server;
static mpin_sdk *sdk;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Gets a text with every kind of buffer: none, too small, large enough. */
static void text_output(mpin_status (*get)(char *out, size_t *len),
                        const char *expected)
{
    const size_t size = strlen(expected) + 1;
    char text[256];
    size_t n = 0;
    CHECK_STATUS(get(NULL, &n), MPIN_OK);
    CHECK(n == size, "the size is %zu, not %zu", n, size);
    for (size_t room = 0; room < size; room++) {
        memset(text, 0xA5, sizeof text);
        n = room;
        CHECK_STATUS(get(text, &n), MPIN_BUFFER_TOO_SMALL);
        CHECK(n == size, "the size is %zu, not %zu", n, size);
        CHECK((unsigned char)text[0] == 0xA5, "the buffer was written");
    }
    const size_t rooms[] = {size, sizeof text, SIZE_MAX};
    for (int i = 0; i < 3; i++) {
        memset(text, 0xA5, sizeof text);
        n = rooms[i];
        CHECK_STATUS(get(text, &n), MPIN_OK);
        CHECK(n == size, "the size is %zu, not %zu", n, size);
        CHECK(strcmp(text, expected) == 0, "the text is %s", text);
        CHECK((unsigned char)text[size] == 0xA5, "more was written");
    }
    CHECK_STATUS(get(text, NULL), MPIN_INVALID_ARGUMENT);
}

static mpin_user *user;

static mpin_status get_id(char *out, size_t *len)
{
    return mpin_user_get_id(user, out, len);
}
static mpin_status get_backend(char *out, size_t *len)
{
    return mpin_user_get_backend(user, out, len);
}
static mpin_status get_mpin_id(char *out, size_t *len)
{
    return mpin_user_get_mpin_id(user, out, len);
}
static mpin_status get_auth_data(char *out, size_t *len)
{
    return mpin_sdk_get_auth_data(sdk, user, out, len);
}
static mpin_status get_app_id(char *out, size_t *len)
{
    return mpin_sdk_get_client_param(sdk, out, len, "appID");
}
static mpin_status get_number(char *out, size_t *len)
{
    return mpin_sdk_get_client_param(sdk, out, len, "number");
}
static mpin_status get_umlaut(char *out, size_t *len)
{
    return mpin_sdk_get_client_param(sdk, out, len, "text");
}
static mpin_status get_nothing(char *out, size_t *len)
{
    return mpin_sdk_get_client_param(sdk, out, len, "none");
}

static void text_outputs(void)
{
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "alice@example.com", NULL),
                 MPIN_OK);
    text_output(get_id, "alice@example.com");
    text_output(get_backend, server.url);
    text_output(get_mpin_id, "");
    text_output(get_auth_data, "");
    text_output(get_app_id, "c0ffee");
    text_output(get_number, "7");
    text_output(get_umlaut, "\xc3\xa4");
    text_output(get_nothing, "");
    mpin_user_free(user);
}

static void users(void)
{
    mpin_user *a = NULL, *b = NULL, *found = NULL;
    int32_t state = -1;
    size_t n = 99;
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &a, "a", "phone"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &b, "a", NULL), MPIN_OK);
    CHECK(a != b, "two handles are one");
    mpin_user_free(a);
    CHECK_STATUS(mpin_user_get_state(b, &state), MPIN_OK);
    CHECK(state == MPIN_USER_INVALID, "state %d", state);
    CHECK_STATUS(mpin_sdk_get_user(sdk, &found, "nobody"), MPIN_OK);
    CHECK(found == NULL, "nobody was found");
    CHECK_STATUS(mpin_sdk_list_users(sdk, NULL, &n), MPIN_OK);
    CHECK(n == 0, "%zu users", n);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &a, "", NULL), MPIN_OK);
    mpin_user_free(a);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, b, "1234"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, b), MPIN_FLOW_ERROR);
    mpin_user_free(b);
}

static const char *last_error(void)
{
    static char text[512];
    size_t n = sizeof text;
    CHECK_STATUS(mpin_sdk_last_error(sdk, text, &n), MPIN_OK);
    return text;
}

static void *other_thread(void *result)
{
    *(size_t *)result = strlen(last_error());
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "ftp://example.com", NULL),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    return NULL;
}

static void errors(void)
{
    pthread_t thread;
    size_t length = 99;
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "ftp://example.com", NULL),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    CHECK(*last_error() != '\0', "no text");
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "http://example.com", NULL),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "http://127.0.0.1:1", NULL),
                 MPIN_NETWORK_ERROR);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, NULL, NULL), MPIN_INVALID_ARGUMENT);
    CHECK(strcmp(last_error(), "url is NULL or not UTF-8") == 0, "%s",
          last_error());
    /* Reads the last error in two threads, one after the other. Often the
     * second one has the same thread id as the first one, but it must not get
     * the error of the first one. */
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, other_thread, &length);
        pthread_join(thread, NULL);
        CHECK(length == 0, "a thread sees the error of another");
    }
    /* After the mpin_sdk_set_backend that has failed above, the previous
     * backend must still be in use. */
    text_output(get_app_id, "c0ffee");
}

/* Tests that a call ends in time if the server never answers. */
static void deadline(void)
{
    struct loopback silent;
    mpin_sdk *hasty = NULL;
    mpin_config config = {0};
    config.size = sizeof config;
    config.storage_path = store_path("hasty");
    config.timeout_ms = 300;
    CHECK_STATUS(loopback_start(&silent, NULL), 0);
    CHECK_STATUS(mpin_sdk_new(&hasty), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(hasty, &config), MPIN_OK);
    double start = now();
    CHECK_STATUS(mpin_sdk_set_backend(hasty, silent.url, NULL), MPIN_TIMED_OUT);
    double took = now() - start;
    CHECK(took > 0.25 && took < 10, "it took %.3f s", took);
    mpin_sdk_free(hasty);
    loopback_stop(&silent);
}

/* Checks which files mpin_sdk_init creates, and that a second call of it does
 * nothing. */
static void files(void)
{
    mpin_sdk *keeper = NULL;
    mpin_config config = {0};
    struct stat info;
    config.size = sizeof config;
    config.storage_path = store_path("kept");
    CHECK_STATUS(mpin_sdk_new(&keeper), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(keeper, &config), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(keeper, &config), MPIN_OK);
    CHECK(stat(store_path("kept.key"), &info) == 0, "no key file");
    CHECK((info.st_mode & 0777) == 0600, "its mode is %o", info.st_mode & 0777);
    mpin_sdk_free(keeper);

    config.storage_path = "/nowhere/at/all";
    CHECK_STATUS(mpin_sdk_new(&keeper), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(keeper, &config), MPIN_STORAGE_ERROR);
    mpin_sdk_free(keeper);
}

int main(void)
{
    mpin_config config = {0};
    if (store_open() != 0 || loopback_start(&server, CLIENT_SETTINGS) != 0)
        return perror("sdk_test"), 1;
    config.size = sizeof config;
    config.storage_path = store_path("store");
    config.backend = server.url;
    CHECK_STATUS(mpin_sdk_self_test(), MPIN_OK);
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    text_outputs();
    users();
    errors();
    deadline();
    files();
    mpin_sdk_free(sdk);
    loopback_stop(&server);
    store_close();
    return report("sdk_test");
}

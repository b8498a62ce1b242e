/* Tests registration and login with a real server that confirms each
 * registration at once.
 *
 *     flow_test URL */
#define _DEFAULT_SOURCE

#include "check.h"
#include "store.h"

#include <mpin.h>

static const char *backend;

static mpin_sdk *open_sdk(const char *store)
{
    mpin_sdk *sdk = NULL;
    mpin_config config = {0};
    config.size = sizeof config;
    config.storage_path = store_path(store);
    config.backend = backend;
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    return sdk;
}

static int32_t state_of(mpin_user *user)
{
    int32_t state = -1;
    CHECK_STATUS(mpin_user_get_state(user, &state), MPIN_OK);
    return state;
}

/* Registers a user. Each step is also tried in the wrong order. */
static mpin_user *registered(mpin_sdk *sdk, const char *id)
{
    mpin_user *user = NULL;
    char mpin_id[1024];
    size_t n = sizeof mpin_id;
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, id, "phone"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_restart_registration(sdk, user, NULL),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, "data"), MPIN_OK);
    CHECK(state_of(user) == MPIN_USER_ACTIVATED, "state %d", state_of(user));
    CHECK_STATUS(mpin_user_get_mpin_id(user, mpin_id, &n), MPIN_OK);
    CHECK(n > 100 && n % 2 == 1, "the M-Pin ID has %zu bytes", n);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, NULL),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, ""),
                 MPIN_PIN_INPUT_CANCELED);
    const char *bad[] = {"123", "1234567", "12a4", " 1234", "-1234",
                         "\xd9\xa1\xd9\xa2\xd9\xa3\xd9\xa4"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, bad[i]),
                     MPIN_PIN_INVALID);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"), MPIN_OK);
    CHECK(state_of(user) == MPIN_USER_REGISTERED, "state %d", state_of(user));
    return user;
}

static void logins(mpin_sdk *sdk, mpin_user *user)
{
    char data[1024], again[1024];
    size_t n = sizeof data, m = sizeof again;
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, data, &n, "1234"),
                 MPIN_OK);
    CHECK(n == strlen(data) + 1 && data[0] == '{', "the answer is %s", data);
    CHECK_STATUS(mpin_sdk_get_auth_data(sdk, user, again, &m), MPIN_OK);
    CHECK(strcmp(data, again) == 0, "then it is %s", again);

    /* If the buffer is too small, nothing is written, but the login has
     * succeeded, and mpin_sdk_get_auth_data gives the text. */
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    memset(data, 0xA5, sizeof data);
    m = 1;
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, data, &m, "1234"),
                 MPIN_BUFFER_TOO_SMALL);
    CHECK(m > 1 && (unsigned char)data[0] == 0xA5, "%zu bytes, written", m);
    CHECK_STATUS(mpin_sdk_get_auth_data(sdk, user, data, &m), MPIN_OK);

    m = 0;
    memset(data, 0xA5, sizeof data);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, data, NULL, "1234"),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, data, &m, "4321"),
                 MPIN_INCORRECT_PIN);
    CHECK((unsigned char)data[0] == 0xA5 && m == 0, "an output was written");
    CHECK(state_of(user) == MPIN_USER_REGISTERED, "state %d", state_of(user));
}

static void lists(mpin_sdk *sdk, mpin_user *alice, mpin_user *bob)
{
    mpin_user *found[4] = {NULL, NULL, NULL, NULL};
    size_t n = 0;
    CHECK_STATUS(mpin_sdk_list_users(sdk, NULL, &n), MPIN_OK);
    CHECK(n == 2, "%zu users", n);
    n = 1;
    CHECK_STATUS(mpin_sdk_list_users(sdk, found, &n), MPIN_BUFFER_TOO_SMALL);
    CHECK(n == 2 && found[0] == NULL, "%zu users, written", n);
    n = 4;
    CHECK_STATUS(mpin_sdk_list_all_users(sdk, found, &n), MPIN_OK);
    CHECK(n == 2 && found[2] == NULL, "%zu users", n);
    for (size_t i = 0; i < n; i++) {
        char id[32];
        size_t size = sizeof id;
        CHECK_STATUS(mpin_user_get_id(found[i], id, &size), MPIN_OK);
        CHECK(strcmp(id, i ? "bob" : "alice") == 0, "user %zu is %s", i, id);
        mpin_user_free(found[i]);
    }
    CHECK_STATUS(mpin_sdk_get_user(sdk, &found[0], "bob"), MPIN_OK);
    CHECK(state_of(found[0]) == MPIN_USER_REGISTERED, "another bob");
    CHECK_STATUS(mpin_sdk_delete_user(sdk, bob), MPIN_OK);
    CHECK(state_of(found[0]) == MPIN_USER_INVALID, "bob is still there");
    mpin_user_free(found[0]);
    n = 4;
    CHECK_STATUS(mpin_sdk_list_users(sdk, NULL, &n), MPIN_OK);
    CHECK(n == 1, "%zu users", n);
    CHECK(state_of(alice) == MPIN_USER_REGISTERED, "alice is gone, too");
}

/* Logs in with another sdk on the same store, as after a restart. */
static void restart(void)
{
    mpin_sdk *sdk = open_sdk("store");
    mpin_user *user = NULL;
    CHECK_STATUS(mpin_sdk_get_user(sdk, &user, "alice"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"),
                 MPIN_OK);

    /* A user handle from before mpin_sdk_destroy() can still be used: it
     * gives an error. */
    CHECK_STATUS(mpin_sdk_destroy(sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_FLOW_ERROR);
    mpin_user_free(user);
    mpin_sdk_free(sdk);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fputs("usage: flow_test URL\n", stderr), 2;
    backend = argv[1];
    if (store_open() != 0)
        return perror("flow_test"), 1;
    mpin_sdk *sdk = open_sdk("store");
    mpin_user *bob = registered(sdk, "bob");
    mpin_user *alice = registered(sdk, "alice");
    logins(sdk, alice);
    lists(sdk, alice, bob);
    mpin_user_free(alice);
    mpin_user_free(bob);
    mpin_sdk_free(sdk);
    restart();
    store_close();
    return report("flow_test");
}

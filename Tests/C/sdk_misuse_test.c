/* Every parameter of every function of mpin.h, once with each kind of wrong
 * value: the result says so and no output is touched. */
#define _DEFAULT_SOURCE

#include "check.h"
#include "loopback.h"
#include "store.h"

#include <mpin_crypto.h>

/* What a function takes. */
enum {
    SDK = 1,      /* an sdk, before all others */
    USER = 2,     /* a user */
    OUT = 4,      /* a text output */
    NEW = 8,      /* a pointer to a handle that is made */
    COUNT = 16,   /* a pointer to a number of users */
    STATE = 32,   /* a pointer to a state */
    CONFIG = 64,  /* a configuration */
    NETWORK = 128 /* it is not called with good arguments here */
};

struct call {
    mpin_sdk *sdk;
    mpin_user *user;
    const char *text[2];
    char *out;
    size_t *out_len;
    mpin_user **new_user;
    mpin_user **users;
    size_t *count;
    int32_t *state;
    const mpin_config *config;
};

static mpin_status init(const struct call *c)
{
    return mpin_sdk_init(c->sdk, c->config);
}
static mpin_status destroy(const struct call *c)
{
    return mpin_sdk_destroy(c->sdk);
}
static mpin_status clear_users(const struct call *c)
{
    return mpin_sdk_clear_users(c->sdk);
}
static mpin_status cancel(const struct call *c)
{
    return mpin_sdk_cancel(c->sdk);
}
static mpin_status last_error(const struct call *c)
{
    return mpin_sdk_last_error(c->sdk, c->out, c->out_len);
}
static mpin_status test_backend(const struct call *c)
{
    return mpin_sdk_test_backend(c->sdk, c->text[0], c->text[1]);
}
static mpin_status set_backend(const struct call *c)
{
    return mpin_sdk_set_backend(c->sdk, c->text[0], c->text[1]);
}
static mpin_status get_client_param(const struct call *c)
{
    return mpin_sdk_get_client_param(c->sdk, c->out, c->out_len, c->text[0]);
}
static mpin_status make_new_user(const struct call *c)
{
    return mpin_sdk_make_new_user(c->sdk, c->new_user, c->text[0], c->text[1]);
}
static mpin_status get_user(const struct call *c)
{
    return mpin_sdk_get_user(c->sdk, c->new_user, c->text[0]);
}
static mpin_status list_users(const struct call *c)
{
    return mpin_sdk_list_users(c->sdk, c->users, c->count);
}
static mpin_status list_all_users(const struct call *c)
{
    return mpin_sdk_list_all_users(c->sdk, c->users, c->count);
}
static mpin_status delete_user(const struct call *c)
{
    return mpin_sdk_delete_user(c->sdk, c->user);
}
static mpin_status get_id(const struct call *c)
{
    return mpin_user_get_id(c->user, c->out, c->out_len);
}
static mpin_status get_backend(const struct call *c)
{
    return mpin_user_get_backend(c->user, c->out, c->out_len);
}
static mpin_status get_mpin_id(const struct call *c)
{
    return mpin_user_get_mpin_id(c->user, c->out, c->out_len);
}
static mpin_status get_state(const struct call *c)
{
    return mpin_user_get_state(c->user, c->state);
}
static mpin_status start_registration(const struct call *c)
{
    return mpin_sdk_start_registration(c->sdk, c->user, c->text[0], c->text[1]);
}
static mpin_status restart_registration(const struct call *c)
{
    return mpin_sdk_restart_registration(c->sdk, c->user, c->text[0]);
}
static mpin_status confirm_registration(const struct call *c)
{
    return mpin_sdk_confirm_registration(c->sdk, c->user, c->text[0]);
}
static mpin_status finish_registration(const struct call *c)
{
    return mpin_sdk_finish_registration(c->sdk, c->user, c->text[0]);
}
static mpin_status start_authentication(const struct call *c)
{
    return mpin_sdk_start_authentication(c->sdk, c->user);
}
static mpin_status finish_authentication(const struct call *c)
{
    return mpin_sdk_finish_authentication(c->sdk, c->user, c->out, c->out_len,
                                          c->text[0]);
}
static mpin_status get_auth_data(const struct call *c)
{
    return mpin_sdk_get_auth_data(c->sdk, c->user, c->out, c->out_len);
}

/* `texts`: for each text R (required), O (optional) or P (a PIN). */
static const struct function {
    const char *name;
    mpin_status (*call)(const struct call *);
    int takes;
    const char *texts;
} functions[] = {
    {"destroy", destroy, SDK | NETWORK, ""},
    {"init", init, SDK | CONFIG | NETWORK, ""},
    {"clear_users", clear_users, SDK | NETWORK, ""},
    {"cancel", cancel, SDK, ""},
    {"last_error", last_error, SDK | OUT, ""},
    {"test_backend", test_backend, SDK | NETWORK, "RO"},
    {"set_backend", set_backend, SDK | NETWORK, "RO"},
    {"get_client_param", get_client_param, SDK | OUT, "R"},
    {"make_new_user", make_new_user, SDK | NEW, "RO"},
    {"get_user", get_user, SDK | NEW, "R"},
    {"list_users", list_users, SDK | COUNT, ""},
    {"list_all_users", list_all_users, SDK | COUNT, ""},
    {"delete_user", delete_user, SDK | USER | NETWORK, ""},
    {"user_get_id", get_id, USER | OUT, ""},
    {"user_get_backend", get_backend, USER | OUT, ""},
    {"user_get_mpin_id", get_mpin_id, USER | OUT, ""},
    {"user_get_state", get_state, USER | STATE, ""},
    {"start_registration", start_registration, SDK | USER | NETWORK, "OO"},
    {"restart_registration", restart_registration, SDK | USER | NETWORK, "O"},
    {"confirm_registration", confirm_registration, SDK | USER | NETWORK, "O"},
    {"finish_registration", finish_registration, SDK | USER | NETWORK, "P"},
    {"start_authentication", start_authentication, SDK | USER | NETWORK, ""},
    {"finish_authentication", finish_authentication,
     SDK | USER | OUT | NETWORK, "P"},
    {"get_auth_data", get_auth_data, SDK | USER | OUT, ""},
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct loopback server;
static mpin_sdk *sdk, *other_sdk, *stale_sdk;
static mpin_user *user, *other_user, *stale_user, *orphan;
static mpin_config config;

static char room[64];
static size_t room_size;
static mpin_user *new_user, *users[4];
static size_t count;
static int32_t state;

static struct call good(void)
{
    struct call c = {sdk, user, {"alice", NULL}, room, &room_size, &new_user,
                     users, &count, &state, &config};
    return c;
}

static void fails(const struct function *function, const struct call *c,
                  mpin_status expected, const char *what)
{
    memset(room, 0xA5, sizeof room);
    room_size = sizeof room;
    new_user = users[0] = (mpin_user *)&room;
    count = LENGTH(users);
    state = -77;
    mpin_status got = function->call(c);
    CHECK(got == expected, "%s: %s gave %s", function->name, what,
          mpin_status_name(got));
    int touched = room_size != sizeof room || count != LENGTH(users) ||
                  state != -77 || new_user != (mpin_user *)&room ||
                  users[0] != (mpin_user *)&room;
    for (size_t i = 0; i < sizeof room; i++)
        touched |= (unsigned char)room[i] != 0xA5;
    CHECK(!touched, "%s: %s wrote an output", function->name, what);
}

static void wrong_handles(const struct function *function)
{
    struct call c = good();
    mpin_sdk *sdks[] = {NULL, stale_sdk, (mpin_sdk *)user, (mpin_sdk *)room,
                        (mpin_sdk *)(uintptr_t)1, (mpin_sdk *)UINTPTR_MAX,
                        (mpin_sdk *)((uintptr_t)sdk ^ 1 << 27)};
    mpin_user *others[] = {NULL, stale_user, orphan, (mpin_user *)sdk,
                           (mpin_user *)room, (mpin_user *)(uintptr_t)1,
                           (mpin_user *)UINTPTR_MAX};
    for (size_t i = 0; function->takes & SDK && i < LENGTH(sdks); i++) {
        c.sdk = sdks[i];
        fails(function, &c, MPIN_INVALID_HANDLE, "a wrong sdk");
    }
    c = good();
    for (size_t i = 0; function->takes & USER && i < LENGTH(others); i++) {
        c.user = others[i];
        fails(function, &c, MPIN_INVALID_HANDLE, "a wrong user");
    }
    c.user = other_user;
    if (function->takes & USER && function->takes & SDK)
        fails(function, &c, MPIN_INVALID_HANDLE, "a user of another sdk");
}

static void wrong_texts(const struct function *function)
{
    const char *not_utf8[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\xaf"};
    for (size_t i = 0; function->texts[i]; i++) {
        struct call c = good();
        c.text[i] = NULL;
        if (function->texts[i] != 'O')
            fails(function, &c, MPIN_INVALID_ARGUMENT, "a NULL text");
        for (size_t k = 0; function->texts[i] != 'P' && k < LENGTH(not_utf8);
             k++) {
            c.text[i] = not_utf8[k];
            fails(function, &c, MPIN_INVALID_ARGUMENT, "a text not UTF-8");
        }
    }
}

static void wrong_pointers(const struct function *function)
{
    struct call c = good();
    c.out_len = NULL;
    if (function->takes & OUT)
        fails(function, &c, MPIN_INVALID_ARGUMENT, "a NULL size");
    c = good();
    c.new_user = NULL;
    if (function->takes & NEW)
        fails(function, &c, MPIN_INVALID_ARGUMENT, "a NULL handle pointer");
    c = good();
    c.count = NULL;
    if (function->takes & COUNT)
        fails(function, &c, MPIN_INVALID_ARGUMENT, "a NULL count");
    c = good();
    c.state = NULL;
    if (function->takes & STATE)
        fails(function, &c, MPIN_INVALID_ARGUMENT, "a NULL state");
    c = good();
    c.config = NULL;
    if (function->takes & CONFIG)
        fails(function, &c, MPIN_INVALID_ARGUMENT, "a NULL configuration");
}

/* Handles that are freed twice, or are none, are left alone. */
static void frees(void)
{
    CHECK_STATUS(mpin_sdk_new(NULL), MPIN_INVALID_ARGUMENT);
    mpin_sdk_free(NULL);
    mpin_sdk_free(stale_sdk);
    mpin_sdk_free((mpin_sdk *)user);
    mpin_sdk_free((mpin_sdk *)room);
    mpin_user_free(NULL);
    mpin_user_free(stale_user);
    mpin_user_free((mpin_user *)sdk);
    mpin_user_free((mpin_user *)room);
    CHECK_STATUS(mpin_user_get_state(user, &state), MPIN_OK);
    mpin_user_free(orphan);
    CHECK_STATUS(mpin_user_get_state(orphan, &state), MPIN_INVALID_HANDLE);
}

/* Before init every call that needs it says so. */
static void not_initialised(void)
{
    mpin_sdk *fresh = NULL;
    mpin_user *made = NULL;
    size_t n = 0;
    CHECK_STATUS(mpin_sdk_new(&fresh), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_backend(fresh, server.url, NULL),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_test_backend(fresh, server.url, NULL),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_make_new_user(fresh, &made, "a", NULL),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_get_user(fresh, &made, "a"), MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_list_users(fresh, NULL, &n), MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_list_all_users(fresh, NULL, &n), MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_get_client_param(fresh, NULL, &n, "appID"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_destroy(fresh), MPIN_OK);
    CHECK_STATUS(mpin_sdk_cancel(fresh), MPIN_OK);
    mpin_sdk_free(fresh);
}

static mpin_sdk *open_sdk(const char *store)
{
    mpin_sdk *made = NULL;
    config.storage_path = store_path(store);
    CHECK_STATUS(mpin_sdk_new(&made), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(made, &config), MPIN_OK);
    return made;
}

static void prepare(void)
{
    config.size = sizeof config;
    config.backend = server.url;
    sdk = open_sdk("one");
    other_sdk = open_sdk("two");
    stale_sdk = open_sdk("three");
    CHECK_STATUS(mpin_sdk_make_new_user(stale_sdk, &orphan, "alice", NULL), 0);
    mpin_sdk_free(stale_sdk);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &stale_user, "alice", NULL), 0);
    mpin_user_free(stale_user);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "alice", NULL), 0);
    CHECK_STATUS(mpin_sdk_make_new_user(other_sdk, &other_user, "bob", NULL), 0);
}

int main(void)
{
    if (store_open() != 0 || loopback_start(&server, CLIENT_SETTINGS) != 0)
        return perror("sdk_misuse_test"), 1;
    prepare();
    for (size_t i = 0; i < FUNCTIONS; i++) {
        wrong_handles(&functions[i]);
        wrong_texts(&functions[i]);
        wrong_pointers(&functions[i]);
        struct call c = good();
        if (functions[i].takes & NETWORK)
            continue;
        room_size = sizeof room;
        count = LENGTH(users);
        CHECK_STATUS(functions[i].call(&c), MPIN_OK);
        if (functions[i].takes & NEW)
            mpin_user_free(new_user);
    }
    not_initialised();
    frees();
    mpin_user_free(user);
    mpin_user_free(other_user);
    mpin_sdk_free(sdk);
    mpin_sdk_free(other_sdk);
    loopback_stop(&server);
    store_close();
    printf("functions: %zu, and new and free\n", FUNCTIONS);
    return report("sdk_misuse_test");
}

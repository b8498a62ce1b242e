/* Calls every function of mpin.h with each kind of wrong value for every
 * parameter. The result must report it, and no output may be changed. The
 * test also fails if it has tried no wrong value for a parameter, unless
 * misuse.h lists it. */
#define _DEFAULT_SOURCE

#include "misuse.h"
#include "loopback.h"
#include "store.h"

static struct loopback server;

/* ---- Callbacks ------------------------------------------------------ */

static void wrong_in_callback(enum kind kind)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (has(&functions[i], kind))
            wrong_values(&functions[i], 1);
}

static mpin_status execute(void *context, const mpin_http_request *request,
                           mpin_http_response *answer)
{
    (void)context;
    (void)request;
    response = answer;
    wrong_in_callback(RESPONSE);
    response = NULL;
    stale_response = answer;
    return MPIN_NETWORK_ERROR;
}

static mpin_status get(void *context, mpin_storage_data *stored, int32_t kind)
{
    (void)context;
    (void)kind;
    data = stored;
    wrong_in_callback(DATA);
    data = NULL;
    stale_data = stored;
    return MPIN_OK;
}

static mpin_status set(void *context, int32_t kind, const uint8_t *stored,
                       size_t size)
{
    (void)context, (void)kind, (void)stored, (void)size;
    return MPIN_OK;
}

static void callbacks(void)
{
    mpin_sdk *caller = NULL;
    mpin_context context = {0};
    mpin_config with = {0};
    context.size = sizeof context;
    context.http_execute = execute;
    context.storage_get = get;
    context.storage_set = set;
    with.size = sizeof with;
    with.context = &context;
    CHECK_STATUS(mpin_sdk_new(&caller), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(caller, &with), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_backend(caller, server.url, NULL),
                 MPIN_NETWORK_ERROR);
    CHECK(stale_response && stale_data, "a callback was not called");
    mpin_sdk_free(caller);
}

/* ---- Calls that nothing else is wrong with ------------------------- */

/* A second user. The registration is confirmed, and only the PIN is missing. */
static mpin_user *newcomer;

static mpin_user *confirmed(const char *id)
{
    mpin_user *made = NULL;
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &made, id, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, made, NULL, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, made, NULL), MPIN_OK);
    return made;
}

static void log_in(void)
{
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"), MPIN_OK);
}

/* Makes the calls without which a call of `function` would be in the wrong
 * order. */
static void ready(const struct function *function)
{
    const char *name = function->name;
    if (strcmp(name, "mpin_sdk_finish_registration_dvs") == 0)
        CHECK_STATUS(mpin_sdk_start_registration_dvs(sdk, user, "1234"), 0);
    else if (strcmp(name, "mpin_sdk_change_pin") == 0)
        log_in();
    else if (strcmp(name, "mpin_trust_get_jwt") == 0)
        CHECK_STATUS(mpin_trust_authenticate(sdk, user, NULL, NULL, "1234"), 0);
    else if (strstr(name, "_finish_authentication"))
        CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
}

static void tried(const struct function *function)
{
    mpin_user *registered = user;
    if (strstr(function->name, "_finish_registration") &&
        !strstr(function->name, "_dvs"))
        user = newcomer;
    for (int i = 0; i < function->count; i++)
        if (is_room(function, i))
            too_little_room(function, i, ready);
        else if (function->parameters[i].kind == SECRET)
            wrong_pins(function, i, ready);
    user = registered;
}

static int is_trust(const struct function *function)
{
    return strncmp(function->name, "mpin_trust_", 11) == 0;
}

/* Makes the same two users at a project of MIRACL Trust. */
static void trust_members(void)
{
    CHECK_STATUS(mpin_trust_set_project(sdk, FAKE_PROJECT, MFA_URL, NULL), 0);
    CHECK_STATUS(
        mpin_trust_start_registration(sdk, &user, "alice", "token", NULL), 0);
    CHECK_STATUS(mpin_trust_finish_registration(sdk, user, "1234"), 0);
    CHECK_STATUS(mpin_trust_start_registration(sdk, &newcomer, "newcomer",
                                               "token", NULL),
                 0);
}

static mpin_status type_pin(void *context, const mpin_pin_request *request,
                            char *pin)
{
    (void)context, (void)request;
    strcpy(pin, "1234");
    return MPIN_OK;
}

/* Logs alice in at an OAuth provider, the fake server. */
static mpin_session *logged_in(void)
{
    mpin_session *made = NULL;
    CHECK_STATUS(mpin_session_new(sdk, &made, &session_config), MPIN_OK);
    CHECK_STATUS(mpin_session_add_provider(made, &provider), MPIN_OK);
    CHECK_STATUS(mpin_session_login(made, "home", "alice"), MPIN_OK);
    return made;
}

/* Tests small buffers and wrong PINs. The library checks them after
 * everything else, so these calls need a registered user who can sign, and
 * the fake server. */
static void measures(void)
{
    mpin_sdk *first_sdk = sdk;
    mpin_user *first_user = user;
    mpin_session *first_session = session;
    mpin_context context = {0};
    mpin_config with = {0};
    context.size = sizeof context;
    context.user = &mfa;
    context.http_execute = mfa_execute;
    with.size = sizeof with;
    with.context = &context;
    with.storage_path = store_path("measures");
    with.backend = MFA_URL;
    mfa_start();
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &with), MPIN_OK);
    mfa.server.user = "alice";
    user = confirmed("alice");
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"), MPIN_OK);
    newcomer = confirmed("newcomer");
    CHECK_STATUS(mpin_sdk_start_registration_dvs(sdk, user, "1234"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration_dvs(sdk, user, "1234"), MPIN_OK);
    session = logged_in();
    /* Causes an error, so that the functions that read the last error have
     * one to read. */
    CHECK_STATUS(mpin_sdk_finish_registration_dvs(sdk, user, "1234"),
                 MPIN_FLOW_ERROR);
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (!is_trust(&functions[i]))
            tried(&functions[i]);
    mpin_session_free(session);
    session = first_session;
    mpin_user_free(newcomer);
    mpin_user_free(user);
    trust_members();
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (is_trust(&functions[i]))
            tried(&functions[i]);
    mpin_user_free(newcomer);
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    mfa_stop();
    sdk = first_sdk;
    user = first_user;
}

/* ---- Order ---------------------------------------------------------- */

/* The functions that may be called before mpin_sdk_init. */
static const char *const early[] = {
    "mpin_sdk_free",           "mpin_sdk_init",
    "mpin_sdk_destroy",        "mpin_sdk_cancel",
    "mpin_sdk_last_error",     "mpin_sdk_get_last_error",
    "mpin_sdk_get_attempts_left", "mpin_trust_get_last_error",
    "mpin_sdk_set_client_id",  "mpin_sdk_add_custom_header",
    "mpin_sdk_clear_custom_headers",
    "mpin_sdk_add_trusted_domain", "mpin_sdk_clear_trusted_domains",
};

static int is_early(const struct function *function)
{
    for (size_t i = 0; i < LENGTH_OF(early); i++)
        if (strcmp(early[i], function->name) == 0)
            return 1;
    return 0;
}

/* Calls every function before mpin_sdk_init. The functions in `early` must
 * work; all others must return MPIN_FLOW_ERROR and write no output. */
static void not_initialised(void)
{
    mpin_sdk *initialised = sdk;
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        union value values[PARAMETERS];
        const struct function *f = &functions[i];
        if (!has(f, SDK) || has(f, USER) || strstr(f->name, "_free") ||
            strcmp(f->name, "mpin_sdk_init") == 0)
            continue;
        set_outputs(f);
        fill(f, values);
        mpin_status got = f->call(values);
        CHECK(got == (is_early(f) ? MPIN_OK : MPIN_FLOW_ERROR), "%s gave %s",
              f->name, mpin_status_name(got));
        if (!is_early(f))
            CHECK(memcmp(&outputs, &untouched, sizeof outputs) == 0,
                  "%s wrote an output", f->name);
    }
    mpin_sdk_free(sdk);
    sdk = initialised;
}

/* Tests that freeing an invalid handle, or the same handle twice, has no
 * effect. */
static void frees(void)
{
    int32_t state = -1;
    mpin_sdk_free(NULL);
    mpin_sdk_free(stale_sdk);
    mpin_sdk_free((mpin_sdk *)user);
    mpin_user_free(NULL);
    mpin_user_free(stale_user);
    mpin_user_free((mpin_user *)sdk);
    CHECK_STATUS(mpin_user_get_state(user, &state), MPIN_OK);
    mpin_user_free(orphan);
    CHECK_STATUS(mpin_user_get_state(orphan, &state), MPIN_INVALID_HANDLE);
    mpin_session_free(NULL);
    mpin_session_free(stale_session);
    mpin_session_free((mpin_session *)user);
    CHECK_STATUS(mpin_session_get_state(session, &state), MPIN_OK);
    mpin_session_free(orphaned_session);
}

static mpin_sdk *open_sdk(const char *store)
{
    mpin_sdk *made = NULL;
    config.storage_path = store_path(store);
    CHECK_STATUS(mpin_sdk_new(&made), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(made, &config), MPIN_OK);
    return made;
}

static void prepare_sessions(void)
{
    session_config.size = sizeof session_config;
    session_config.path = store_path("session");
    session_config.ask_pin = type_pin;
    provider.size = sizeof provider;
    provider.name = "home";
    provider.client_id = "app";
    provider.authorization_endpoint = MFA_URL "/authorize";
    provider.token_endpoint = MFA_URL "/token";
    provider.origins = MFA_URL;
}

static mpin_session *open_session(mpin_sdk *of)
{
    mpin_session *made = NULL;
    CHECK_STATUS(mpin_session_new(of, &made, &session_config), MPIN_OK);
    return made;
}

static void prepare(void)
{
    prepare_sessions();
    config.size = sizeof config;
    config.backend = server.url;
    sdk = open_sdk("one");
    other_sdk = open_sdk("two");
    stale_sdk = open_sdk("three");
    CHECK_STATUS(mpin_sdk_make_new_user(stale_sdk, &orphan, "alice", NULL), 0);
    orphaned_session = open_session(stale_sdk);
    mpin_sdk_free(stale_sdk);
    session = open_session(sdk);
    stale_session = open_session(sdk);
    mpin_session_free(stale_session);
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
    callbacks();
    for (size_t i = 0; i < FUNCTIONS; i++)
        wrong_values(&functions[i], 0);
    measures();
    nothing_is_left_out();
    not_initialised();
    frees();
    mpin_session_free(session);
    mpin_user_free(user);
    mpin_user_free(other_user);
    mpin_sdk_free(sdk);
    mpin_sdk_free(other_sdk);
    loopback_stop(&server);
    store_close();
    return report("sdk_misuse_test");
}

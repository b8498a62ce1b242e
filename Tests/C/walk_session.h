/* A part of walk_test.c: the session of an app at the real server, which is
 * also the OpenID provider. */
#ifndef WALK_SESSION_H
#define WALK_SESSION_H

#define APP_USER "app@example.com"

/* What the callbacks were told. */
static struct {
    int questions, states;
    int32_t state;
    char provider[16];
} told;

static mpin_status ask_pin(void *user, const mpin_pin_request *request,
                           char *pin)
{
    CHECK(user == &told, "another user");
    CHECK(request->size == sizeof *request, "%zu bytes", request->size);
    CHECK(strcmp(request->user_id, APP_USER) == 0, "%s", request->user_id);
    CHECK(request->attempts_left == -1, "%d left",
          (int)request->attempts_left);
    told.questions++;
    strcpy(pin, "1234");
    return MPIN_OK;
}

static void hear(void *user, int32_t state, const char *provider)
{
    CHECK(user == &told, "another user");
    told.states++;
    told.state = state;
    snprintf(told.provider, sizeof told.provider, "%s", provider);
}

static void expect_session(mpin_session *session, int32_t expected)
{
    int32_t state = -1;
    CHECK_STATUS(mpin_session_get_state(session, &state), MPIN_OK);
    CHECK(state == expected, "state %d", (int)state);
    CHECK(told.state == expected, "told of state %d", (int)told.state);
}

static mpin_sdk *sdk_with_app_user(const char *url)
{
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    mpin_config config = {0};
    config.size = sizeof config;
    config.storage_path = store_path("app");
    config.backend = url;
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, APP_USER, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, NULL), MPIN_OK);
    open_mail(url);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"), MPIN_OK);
    mpin_user_free(user);
    return sdk;
}

static mpin_session *open_session(mpin_sdk *sdk, const char *url)
{
    mpin_session *session = NULL;
    mpin_session_config config = {0};
    mpin_provider provider = {0};
    config.size = sizeof config;
    config.user = &told;
    config.ask_pin = ask_pin;
    config.event = hear;
    provider.size = sizeof provider;
    provider.name = "home";
    provider.client_id = "apps";
    provider.issuer = url;
    provider.origins = url;
    CHECK_STATUS(mpin_session_new(sdk, &session, &config), MPIN_OK);
    CHECK_STATUS(mpin_session_add_provider(session, &provider), MPIN_OK);
    return session;
}

/* Nobody is logged in, and nobody waits for a browser. */
static void signed_out(mpin_session *session)
{
    mpin_error error;
    error.size = sizeof error;
    CHECK_STATUS(mpin_session_login(session, "nowhere", APP_USER),
                 MPIN_PROVIDER_UNKNOWN);
    CHECK_STATUS(mpin_session_renew(session), MPIN_NO_CREDENTIALS);
    CHECK_STATUS(mpin_session_resume(session, "app:/x?code=1&state=2"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_session_get_last_error(session, &error), MPIN_OK);
    CHECK_STATUS(error.status, MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_session_cancel(session), MPIN_OK);
    expect_session(session, MPIN_SESSION_SIGNED_OUT);
}

static void expect_what_the_provider_says(mpin_session *session)
{
    char text[4096];
    size_t n = sizeof text;
    int32_t number = -1;
    int64_t expiry = 0;
    CHECK_STATUS(mpin_session_get_last_provider(session, text, &n), MPIN_OK);
    CHECK(strcmp(text, "home") == 0, "%s", text);
    n = sizeof text;
    CHECK_STATUS(mpin_session_get_claim(session, text, &n, "email"), MPIN_OK);
    CHECK(strcmp(text, APP_USER) == 0, "%s", text);
    n = sizeof text;
    CHECK_STATUS(mpin_session_get_claim(session, text, &n, "shoe_size"), 0);
    CHECK(strcmp(text, "") == 0, "%s", text);
    n = sizeof text;
    CHECK_STATUS(mpin_session_get_scope(session, text, &n), MPIN_OK);
    CHECK(strstr(text, "offline_access") != NULL, "%s", text);
    n = sizeof text;
    CHECK_STATUS(mpin_session_get_id_token(session, text, &n), MPIN_OK);
    CHECK(strncmp(text, "eyJ", 3) == 0, "no ID token");
    CHECK_STATUS(mpin_session_get_expiry(session, &expiry), MPIN_OK);
    CHECK(expiry > 1700000000, "%lld", (long long)expiry);
    CHECK_STATUS(mpin_session_has_valid(session, &number, 60), MPIN_OK);
    CHECK(number == 1, "no valid token");
    CHECK_STATUS(mpin_session_has_valid(session, &number, INT32_MAX), MPIN_OK);
    CHECK(number == 0, "a token for ever");
    CHECK_STATUS(mpin_session_can_renew(session, &number), MPIN_OK);
    CHECK(number == 1, "no refresh token");
}

static void tokens(mpin_session *session, const char *url)
{
    char token[4096], value[4096];
    size_t n = sizeof token;
    CHECK_STATUS(
        mpin_session_get_access_token(session, token, &n, NULL, 60, 0), 0);
    n = sizeof value;
    CHECK_STATUS(mpin_session_authorize(session, value, &n, url, NULL, 0), 0);
    CHECK(strncmp(value, "Bearer ", 7) == 0 && strcmp(value + 7, token) == 0,
          "another token");
    /* An API has refused the token: it is renewed. */
    char rejected[4096];
    strcpy(rejected, value);
    n = sizeof value;
    CHECK_STATUS(mpin_session_authorize(session, value, &n, url, rejected, 0),
                 MPIN_OK);
    CHECK(strcmp(value, rejected) != 0, "the same token");
    n = sizeof value;
    CHECK_STATUS(mpin_session_authorize(session, value, &n,
                                        "https://evil.example", NULL, 0),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    CHECK_STATUS(mpin_session_renew(session), MPIN_OK);
    n = sizeof value;
    CHECK_STATUS(mpin_session_handover(session, value, &n, url, "openid"), 0);
    CHECK(strncmp(value, "eyJ", 3) == 0 && strcmp(value, token) != 0,
          "no token to hand over");
}

static void real_session(const char *url)
{
    mpin_sdk *sdk = sdk_with_app_user(url);
    mpin_session *session = open_session(sdk, url);
    signed_out(session);
    CHECK_STATUS(mpin_session_login(session, "home", APP_USER), MPIN_OK);
    expect_session(session, MPIN_SESSION_SIGNED_IN);
    CHECK(strcmp(told.provider, "home") == 0, "%s", told.provider);
    expect_what_the_provider_says(session);
    tokens(session, url);
    CHECK_STATUS(mpin_session_revoke(session), MPIN_OK);
    expect_session(session, MPIN_SESSION_SIGNED_OUT);
    CHECK_STATUS(mpin_session_login(session, "home", APP_USER), MPIN_OK);
    CHECK_STATUS(mpin_session_logout(session, 1), MPIN_OK);
    expect_session(session, MPIN_SESSION_SIGNED_OUT);
    CHECK_STATUS(mpin_session_login(session, "home", APP_USER), MPIN_OK);
    CHECK_STATUS(mpin_session_clear(session), MPIN_OK);
    expect_session(session, MPIN_SESSION_SIGNED_OUT);
    CHECK(told.questions == 3, "%d questions", told.questions);
    mpin_session_free(session);
    mpin_sdk_free(sdk);
}

#endif

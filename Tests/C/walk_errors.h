/* A part of walk_test.c. Tests which status the library returns for which
 * answer of a server: first for HTTP statuses of each request, then every
 * status of mpin.h that no other part of walk_test.c has tested. */
#ifndef WALK_ERRORS_H
#define WALK_ERRORS_H

static mpin_user *newcomer;
static mpin_session_details session_details;

static mpin_status ask_settings(void)
{
    return mpin_sdk_test_backend(sdk, MFA_URL, NULL);
}
static mpin_status ask_service(void)
{
    mpin_service_details details;
    details.size = sizeof details;
    return mpin_sdk_get_service_details(sdk, &details, MFA_URL "/page");
}
static mpin_status ask_verification(void)
{
    return mpin_sdk_start_verification(sdk, newcomer, "client", NULL);
}
static mpin_status ask_registration(void)
{
    return mpin_sdk_start_registration(sdk, newcomer, NULL, NULL);
}
static mpin_status ask_registration_mfa(void)
{
    return mpin_sdk_start_registration_mfa(sdk, newcomer, NULL, "code", NULL);
}
static mpin_status ask_session(void)
{
    session_details.size = sizeof session_details;
    return mpin_sdk_get_session_details(sdk, &session_details, "abcdef");
}
static mpin_status ask_shares(void)
{
    return mpin_sdk_confirm_registration(sdk, newcomer, NULL);
}
static mpin_status ask_login(void)
{
    start();
    return mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234");
}

/* Answers that must give an error. No such answer may change the state of
 * the user. */
static const struct {
    mpin_status (*ask)(void);
    const char *path;
    int http;
    mpin_status expected;
} answers[] = {
    {ask_settings, "/clientSettings", 302, MPIN_NETWORK_ERROR},
    {ask_settings, "/clientSettings", 204, MPIN_RESPONSE_PARSE_ERROR},
    {ask_settings, "/clientSettings", 200, MPIN_RESPONSE_PARSE_ERROR},
    {ask_settings, "/clientSettings", 404, MPIN_HTTP_REQUEST_ERROR},
    {ask_settings, "/clientSettings", 406, MPIN_BAD_USER_AGENT},
    {ask_settings, "/clientSettings", 429, MPIN_TOO_MANY_REQUESTS},
    {ask_settings, "/clientSettings", 500, MPIN_HTTP_SERVER_ERROR},
    {ask_service, "/service", 412, MPIN_BAD_CLIENT_VERSION},
    {ask_verification, "/verification", 400, MPIN_VERIFICATION_FAILED},
    {ask_registration, "/rps/user", 403, MPIN_IDENTITY_NOT_AUTHORIZED},
    {ask_registration_mfa, "/rps/user", 404, MPIN_REGISTRATION_EXPIRED},
    {ask_session, "/codeStatus", 412, MPIN_HTTP_REQUEST_ERROR},
    {ask_login, "/pass1", 400, MPIN_HTTP_REQUEST_ERROR},
    {ask_login, "/pass2", 500, MPIN_HTTP_SERVER_ERROR},
    {ask_login, "/authenticate", 403, MPIN_IDENTITY_NOT_AUTHORIZED},
    {ask_login, "/authenticate", 408, MPIN_REQUEST_EXPIRED},
    {ask_login, "/authenticate", 409, MPIN_CLIENT_SECRET_EXPIRED},
    {ask_login, "/authenticate", 412, MPIN_INCORRECT_ACCESS_NUMBER},
};

/* Answers that must give an error during a started registration. */
static const struct {
    const char *path;
    int http;
    const char *body;
    mpin_status expected;
} shares[] = {
    {"/signature", 401, "{}", MPIN_IDENTITY_NOT_VERIFIED},
    {"/signature", 404, "{}", MPIN_REGISTRATION_EXPIRED},
    {"/dta/clientSecret", 408, "{}", MPIN_REQUEST_EXPIRED},
    {"/dta/clientSecret", 200, "{\"clientSecret\":\"04\"}",
     MPIN_RESPONSE_PARSE_ERROR},
};

static void every_answer(void)
{
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &newcomer, "newcomer", NULL),
                 MPIN_OK);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        mfa_answer(answers[i].path, answers[i].http, "[]");
        mpin_status got = answers[i].ask();
        CHECK(got == answers[i].expected, "%s %d gave %s", answers[i].path,
              answers[i].http, mpin_status_name(got));
        CHECK(mfa.path == NULL, "%s was not asked for", answers[i].path);
    }
    expect_state(newcomer, MPIN_USER_INVALID, 0);
    CHECK_STATUS(ask_registration(), MPIN_OK);
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        mfa_answer(shares[i].path, shares[i].http, shares[i].body);
        mpin_status got = ask_shares();
        CHECK(got == shares[i].expected, "%s %d gave %s", shares[i].path,
              shares[i].http, mpin_status_name(got));
    }
    expect_state(newcomer, MPIN_USER_STARTED_REGISTRATION, 1);
    CHECK_STATUS(mpin_sdk_delete_user(sdk, newcomer), MPIN_OK);
    mpin_user_free(newcomer);
    expect_state(user, MPIN_USER_REGISTERED, 3);
}

/* Tests that a text of the server that is too long for its place is refused,
 * and not cut. */
static void too_long(void)
{
    char body[2048];
    mpin_session_details before;
    CHECK_STATUS(ask_session(), MPIN_OK);
    before = session_details;
    snprintf(body, sizeof body, "{\"appName\":\"%0255d\"}", 0);
    mfa_answer("/codeStatus", 200, body);
    CHECK_STATUS(ask_session(), MPIN_OK);
    CHECK(strlen(session_details.app_name) == 255, "it is cut");
    session_details = before;
    snprintf(body, sizeof body, "{\"appName\":\"%0256d\"}", 0);
    mfa_answer("/codeStatus", 200, body);
    CHECK_STATUS(ask_session(), MPIN_RESPONSE_PARSE_ERROR);
    CHECK(memcmp(&before, &session_details, sizeof before) == 0, "written");
}

#endif

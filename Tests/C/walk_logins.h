/* A part of walk_test.c: logins at the MFA server, with a PIN and a factor. */
#ifndef WALK_LOGINS_H
#define WALK_LOGINS_H

/* Starts a login and adds the factor with which the user was registered. */
static void start(void)
{
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
}

static void logins(void)
{
    char text[256];
    size_t n = sizeof text;
    int32_t can = -1;
    start();
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, text, &n, "1234"),
                 MPIN_OK);
    CHECK(strstr(text, "authz-code") != NULL, "%s", text);
    CHECK_STATUS(mpin_sdk_can_logout(sdk, user, &can), MPIN_OK);
    CHECK(can == 1, "there is no session to end");
    CHECK_STATUS(mpin_sdk_logout(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_logout(sdk, user), MPIN_FLOW_ERROR);
    n = sizeof text;
    CHECK_STATUS(mpin_sdk_get_auth_data(sdk, user, text, &n), MPIN_OK);

    CHECK_STATUS(mpin_sdk_start_authentication_mfa(sdk, user, "abcdef"),
                 MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    n = sizeof text;
    CHECK_STATUS(mpin_sdk_finish_authentication_mfa(sdk, user, text, &n,
                                                    "1234", "abcdef"),
                 MPIN_OK);
    CHECK(strcmp(text, "authz-code") == 0, "%s", text);
    CHECK(strstr(mfa.url, "/mobileAuthenticate") != NULL, "%s", mfa.url);

    CHECK_STATUS(mpin_sdk_check_access_number(sdk, "1234560"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_check_access_number(sdk, "1234567"),
                 MPIN_INCORRECT_ACCESS_NUMBER);
    start();
    CHECK_STATUS(
        mpin_sdk_finish_authentication_an(sdk, user, "1234", "1234567"),
        MPIN_INCORRECT_ACCESS_NUMBER);
    start();
    CHECK_STATUS(
        mpin_sdk_finish_authentication_an(sdk, user, "1234", "1234560"),
        MPIN_OK);
}

/* Tests a server that says how many wrong PINs are left before the block. */
static void attempts_left(void)
{
    char text[512];
    size_t n = sizeof text;
    int32_t left = -2;
    start();
    mfa_answer("/authenticate", 401, "{\"message\":\"no\",\"attemptsLeft\":2}");
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "4321"),
                 MPIN_INCORRECT_PIN);
    CHECK_STATUS(mpin_sdk_get_attempts_left(sdk, &left), MPIN_OK);
    CHECK(left == 2, "%d attempts left", (int)left);
    CHECK_STATUS(mpin_sdk_last_error(sdk, text, &n), MPIN_OK);
    CHECK(strstr(text, "2 tries are left") != NULL, "%s", text);
    start();
    mfa_answer("/authenticate", 401, "{\"message\":\"no\"}");
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "4321"),
                 MPIN_INCORRECT_PIN);
    CHECK_STATUS(mpin_sdk_get_attempts_left(sdk, &left), MPIN_OK);
    CHECK(left == -1, "%d attempts left", (int)left);
}

/* Tests a URL of the backend whose host has an address that only this client
 * can reach. It must be refused. */
static void aimed(void)
{
    static const char *const addresses[] = {"127.0.0.1", "::1", "10.1.2.3",
                                            "169.254.169.254", "fd00::1",
                                            "fe80::1", "::ffff:127.0.0.1"};
    mpin_session_details details;
    const size_t count = sizeof addresses / sizeof addresses[0];
    details.size = sizeof details;
    for (size_t i = 0; i < count; i++) {
        mfa.address = addresses[i];
        CHECK_STATUS(mpin_sdk_get_session_details(sdk, &details, "abcdef"),
                     MPIN_UNTRUSTED_DOMAIN_ERROR);
    }
    mfa.address = NULL;
    CHECK_STATUS(mpin_sdk_get_session_details(sdk, &details, "abcdef"),
                 MPIN_OK);
}

static void codes(void)
{
    mpin_otp otp;
    otp.size = sizeof otp;
    CHECK_STATUS(mpin_sdk_start_authentication_otp(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication_otp(sdk, user, &otp, "1234"),
                 MPIN_OK);
    CHECK_STATUS(otp.status, MPIN_OK);
    CHECK(strcmp(otp.otp, "123456") == 0, "%s", otp.otp);
    CHECK(otp.ttl_seconds == 60, "%d", otp.ttl_seconds);
    CHECK(otp.expire_time == 1893456000, "another end");
    CHECK(otp.now_time == 1893455940, "another clock");

    CHECK_STATUS(mpin_sdk_start_authentication_reg_code(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(
        mpin_sdk_finish_authentication_reg_code(sdk, user, &otp, "1234"),
        MPIN_OK);
    CHECK(strcmp(otp.otp, "123456") == 0, "%s", otp.otp);

    /* The answer says that the login has succeeded, but the one-time
     * password is missing. */
    start();
    mfa_answer("/authenticate", 200, "{}");
    CHECK_STATUS(mpin_sdk_finish_authentication_otp(sdk, user, &otp, "1234"),
                 MPIN_OK);
    CHECK_STATUS(otp.status, MPIN_RESPONSE_PARSE_ERROR);
    start();
    mfa_answer("/authenticate", 403,
               "{\"error\":\"LIMITED_QUICKCODE_GENERATION\"}");
    CHECK_STATUS(
        mpin_sdk_finish_authentication_reg_code(sdk, user, &otp, "1234"),
        MPIN_OPERATION_NOT_ALLOWED);
}

static void changed_pin(void)
{
    start();
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_change_pin(sdk, user, "1234", "4321"), MPIN_OK);
    start();
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"),
        MPIN_INCORRECT_PIN);
    start();
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "4321"), MPIN_OK);
    /* The old PIN given to change_pin must be that of the login. Otherwise
     * nothing changes, and there is no second try without another login. */
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_change_pin(sdk, user, "9999", "1234"),
                 MPIN_INCORRECT_PIN);
    CHECK_STATUS(mpin_sdk_change_pin(sdk, user, "4321", "1234"),
                 MPIN_FLOW_ERROR);
    start();
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "4321"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_change_pin(sdk, user, "4321", "1234"), MPIN_OK);
}

/* Tests that the third wrong PIN in a row blocks the user. The library still
 * sends further logins, because only the server knows when the block ends. */
static void blocked(void)
{
    for (int i = 0; i < 3; i++) {
        expect_state(user, MPIN_USER_REGISTERED, 3);
        start();
        CHECK_STATUS(
            mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "9999"),
            MPIN_INCORRECT_PIN);
    }
    expect_state(user, MPIN_USER_BLOCKED, 4);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"),
        MPIN_FLOW_ERROR);
    start();
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"),
        MPIN_INCORRECT_PIN);
    expect_state(user, MPIN_USER_BLOCKED, 4);
}

#endif

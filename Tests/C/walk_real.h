/* The part of walk_test.c that uses a real server. */
#ifndef WALK_REAL_H
#define WALK_REAL_H

#define WALKER "walker@example.com"

/* Starts a browser that shows a number or a code, and returns what it shows. */
static FILE *browser_shows(const char *url, const char *what, char *code,
                           int room)
{
    char command[256];
    snprintf(command, sizeof command, "./browser.sh '%s' %s", url, what);
    FILE *browser = popen(command, "r");
    CHECK(browser && fgets(code, room, browser), "no browser");
    code[strcspn(code, "\n")] = '\0';
    return browser;
}

/* ---- Settings ------------------------------------------------------- */

static void real_settings(mpin_sdk *sdk, const char *url)
{
    mpin_service_details details;
    mpin_error error;
    int32_t left = 0;
    char text[512];
    size_t n = sizeof text, damaged = 99;
    details.size = sizeof details;
    error.size = sizeof error;
    CHECK_STATUS(mpin_sdk_set_client_id(sdk, "client"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_custom_header(sdk, "X-Mine", "1"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, url, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_clear_custom_headers(sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_trusted_domain(sdk, "example.org"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, url, NULL),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    CHECK_STATUS(mpin_sdk_clear_trusted_domains(sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, url, "nothing"),
                 MPIN_HTTP_REQUEST_ERROR);
    CHECK_STATUS(mpin_sdk_get_last_error(sdk, &error), MPIN_OK);
    CHECK_STATUS(error.status, MPIN_HTTP_REQUEST_ERROR);
    CHECK(error.http_status == 404, "HTTP %d", error.http_status);
    CHECK(*error.request_id, "the server's name of the request is missing");
    CHECK_STATUS(mpin_sdk_last_error(sdk, text, &n), MPIN_OK);
    CHECK(strcmp(text, error.text) == 0, "%s", text);
    CHECK_STATUS(mpin_sdk_get_attempts_left(sdk, &left), MPIN_OK);
    CHECK(left == -1, "%d attempts left", (int)left);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, url, "rps"), MPIN_OK);
    n = sizeof text;
    CHECK_STATUS(mpin_sdk_get_client_param(sdk, text, &n, "signatureURL"),
                 MPIN_OK);
    CHECK(strncmp(text, url, strlen(url)) == 0 &&
              strcmp(text + strlen(url), "/rps/signature") == 0,
          "%s", text);
    CHECK_STATUS(mpin_sdk_get_service_details(sdk, &details, url), MPIN_OK);
    CHECK(strcmp(details.name, "Walk") == 0, "%s", details.name);
    CHECK(strcmp(details.backend_url, url) == 0, "%s", details.backend_url);
    CHECK(strcmp(details.rps_prefix, "rps") == 0, "%s", details.rps_prefix);
    CHECK_STATUS(mpin_sdk_damaged_records(sdk, &damaged), MPIN_OK);
    CHECK(damaged == 0, "%zu records", damaged);
}

/* ---- Registration --------------------------------------------------- */

/* Opens the link in the newest mail and confirms, as the user would. */
static void open_mail(const char *url)
{
    char command[256];
    snprintf(command, sizeof command, "./open_link.sh '%s'", url);
    CHECK(system(command) == 0, "no link was opened");
}

static void expect_what_the_server_says(mpin_user *user, const char *url)
{
    mpin_expiration expiration;
    int32_t number = -1;
    expiration.size = sizeof expiration;
    CHECK_STATUS(mpin_user_get_registration_expiration(user, &expiration),
                 MPIN_OK);
    CHECK(expiration.now_time > 1700000000 &&
              expiration.expire_time > expiration.now_time,
          "from %lld to %lld", (long long)expiration.now_time,
          (long long)expiration.expire_time);
    CHECK_STATUS(mpin_user_is_registration_token_set(user, &number), MPIN_OK);
    CHECK(number == 1, "the token is not whole");
    CHECK_STATUS(mpin_user_get_pin_length(user, &number), MPIN_OK);
    CHECK(number == 0, "%d digits", number);
    CHECK_STATUS(mpin_user_get_registration_pin_length(user, &number),
                 MPIN_OK);
    CHECK(number == 0, "%d digits", number);
    CHECK_STATUS(mpin_user_get_can_sign(user, &number), MPIN_OK);
    CHECK(number == 0, "the user can sign");
    expect_text(user_id, user, WALKER);
    expect_text(user_backend, user, url);
    expect_text(user_device, user, "phone");
    expect_text(user_customer, user, "");
    expect_text(user_app, user, "");
    expect_text(user_verification, user, "");
}

/* Registers with a PIN and a factor, and requests the mail a second time. */
static mpin_user *registered_for_real(mpin_sdk *sdk, const char *url)
{
    mpin_user *user = NULL;
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, WALKER, "phone"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, "data"), MPIN_OK);
    expect_state(user, MPIN_USER_STARTED_REGISTRATION, 1);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL),
                 MPIN_IDENTITY_NOT_VERIFIED);
    CHECK_STATUS(mpin_sdk_set_registration_token(sdk, user, "rest"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_restart_registration(sdk, user, "data"), MPIN_OK);
    expect_state(user, MPIN_USER_STARTED_REGISTRATION, 1);
    expect_what_the_server_says(user, url);
    open_mail(url);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"), MPIN_OK);
    expect_state(user, MPIN_USER_REGISTERED, 3);
    return user;
}

/* Registers a second user with the functions for a MIRACL MFA server. */
static void registered_like_mfa(mpin_sdk *sdk, const char *url)
{
    mpin_user *user = NULL, *again = NULL;
    CHECK_STATUS(mpin_sdk_make_new_user_mfa(sdk, &user, "mfa@example.com", NULL,
                                            "customer", "app"),
                 MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration_mfa(sdk, user, NULL, NULL, NULL),
                 MPIN_OK);
    open_mail(url);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"), MPIN_OK);
    expect_text(user_customer, user, "customer");
    CHECK_STATUS(mpin_sdk_get_user_mfa(sdk, &again, "mfa@example.com",
                                       "customer", "app"),
                 MPIN_OK);
    expect_state(again, MPIN_USER_REGISTERED, 3);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, again), MPIN_OK);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, again, NULL, NULL, "1234"),
        MPIN_OK);
    mpin_user_free(again);
    mpin_user_free(user);
}

#include "walk_session.h"

/* ---- Logins --------------------------------------------------------- */

/* Starts a login and adds the factor with which the user was registered. */
static void real_start(mpin_sdk *sdk, mpin_user *user)
{
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
}

static void real_logins(mpin_sdk *sdk, mpin_user *user)
{
    char text[1024];
    size_t n = sizeof text;
    real_start(sdk, user);
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, text, &n, "1234"),
                 MPIN_OK);
    CHECK(strstr(text, WALKER) != NULL, "%s", text);
    n = sizeof text;
    CHECK_STATUS(mpin_sdk_get_auth_data(sdk, user, text, &n), MPIN_OK);
    CHECK(strstr(text, WALKER) != NULL, "%s", text);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_change_pin(sdk, user, "1234", "987654"), MPIN_OK);
    real_start(sdk, user);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"),
        MPIN_INCORRECT_PIN);
    real_start(sdk, user);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "987654"),
        MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_change_pin(sdk, user, "987654", "1234"), MPIN_OK);
    /* Logs in with the right PIN but without the factor, which must fail. */
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"),
        MPIN_INCORRECT_PIN);
}

/* Logs in a browser that shows a number or a code. */
static void browser_login(mpin_sdk *sdk, mpin_user *user, const char *url,
                          const char *what)
{
    char text[256] = "";
    mpin_session_details details;
    FILE *browser = browser_shows(url, what, text, sizeof text);
    int32_t can = -1;
    const char *code = strchr(text, '#') ? strchr(text, '#') + 1 : text;
    details.size = sizeof details;
    CHECK_STATUS(mpin_sdk_check_access_number(sdk, code), MPIN_OK);
    CHECK_STATUS(mpin_sdk_get_session_details(sdk, &details, code), MPIN_OK);
    CHECK(strcmp(details.app_name, "Walk") == 0, "%s", details.app_name);
    CHECK_STATUS(mpin_sdk_start_authentication_mfa(sdk, user, code), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication_an(sdk, user, "4321", code),
                 MPIN_INCORRECT_PIN);
    CHECK_STATUS(mpin_sdk_can_logout(sdk, user, &can), MPIN_OK);
    CHECK(can == 0, "nobody is logged in");
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication_an(sdk, user, "1234", code),
                 MPIN_OK);
    CHECK(browser && pclose(browser) == 0, "the browser was not logged in");
    /* The phone ends the session of the browser. It can do this once. */
    CHECK_STATUS(mpin_sdk_can_logout(sdk, user, &can), MPIN_OK);
    CHECK(can == 1, "there is no session to end");
    CHECK_STATUS(mpin_sdk_logout(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_logout(sdk, user), MPIN_FLOW_ERROR);
    /* A code is no longer valid after a login with it. */
    real_start(sdk, user);
    CHECK_STATUS(mpin_sdk_finish_authentication_an(sdk, user, "1234", code),
                 MPIN_INCORRECT_ACCESS_NUMBER);
}

/* The user declines a login, and the browser's page must show it. */
static void declined(mpin_sdk *sdk, const char *url)
{
    char text[256] = "";
    FILE *browser = browser_shows(url, "declined", text, sizeof text);
    const char *code = strchr(text, '#') ? strchr(text, '#') + 1 : text;
    CHECK_STATUS(mpin_sdk_abort_session(sdk, code), MPIN_OK);
    CHECK(browser && pclose(browser) == 0, "the browser was not told");
}

static void one_time_password(mpin_sdk *sdk, mpin_user *user)
{
    mpin_otp otp;
    otp.size = sizeof otp;
    CHECK_STATUS(mpin_sdk_start_authentication_otp(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication_otp(sdk, user, &otp, "1234"),
                 MPIN_OK);
    CHECK_STATUS(otp.status, MPIN_OK);
    CHECK(strlen(otp.otp) == 6 && strspn(otp.otp, "0123456789") == 6, "%s",
          otp.otp);
    CHECK(otp.ttl_seconds > 0 && otp.expire_time > otp.now_time, "its times");
}

/* ---- Users ---------------------------------------------------------- */

static void real_users(mpin_sdk *sdk, const char *url)
{
    mpin_user *found[4];
    char text[1024];
    size_t n = 4, imported = 99;
    int32_t exists = -1;
    CHECK_STATUS(mpin_sdk_list_users(sdk, found, &n), MPIN_OK);
    CHECK(n == 2, "%zu users", n);
    expect_text(user_id, found[1], WALKER);
    for (size_t i = 0; i < n; i++)
        mpin_user_free(found[i]);
    n = 0;
    CHECK_STATUS(mpin_sdk_list_all_users(sdk, NULL, &n), MPIN_OK);
    CHECK(n == 2, "%zu users", n);
    CHECK_STATUS(mpin_sdk_list_backend_users(sdk, NULL, &n, url), MPIN_OK);
    CHECK(n == 2, "%zu users", n);
    n = sizeof text;
    CHECK_STATUS(mpin_sdk_list_backends(sdk, text, &n), MPIN_OK);
    CHECK(strncmp(text, url, strlen(url)) == 0 &&
              strcmp(text + strlen(url), "\n") == 0,
          "%s", text);
    CHECK_STATUS(mpin_sdk_user_exists(sdk, &exists, WALKER, NULL, NULL),
                 MPIN_OK);
    CHECK(exists == 1, "the walker is gone");
    CHECK_STATUS(mpin_sdk_import_storage(sdk, &imported, MPIN_IMPORT_MILAGRO,
                                         "{}", "{}"),
                 MPIN_OK);
    CHECK(imported == 0, "%zu users", imported);
}

static void real_end(mpin_sdk *sdk, mpin_user *user)
{
    mpin_user *again = NULL;
    char id[1024];
    size_t n = sizeof id;
    CHECK_STATUS(mpin_sdk_get_user(sdk, &again, WALKER), MPIN_OK);
    CHECK_STATUS(mpin_user_get_mpin_id(again, id, &n), MPIN_OK);
    CHECK_STATUS(mpin_sdk_delete_user(sdk, again), MPIN_OK);
    expect_state(user, MPIN_USER_INVALID, 0);
    CHECK_STATUS(mpin_sdk_delete_users(sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_list_all_users(sdk, NULL, &n), MPIN_OK);
    CHECK(n == 0, "%zu users", n);
    CHECK_STATUS(mpin_sdk_clear_users(sdk), MPIN_OK);
    mpin_user_free(again);
    mpin_user_free(user);
    CHECK_STATUS(mpin_sdk_destroy(sdk), MPIN_OK);
    mpin_sdk_free(sdk);
}

/* ---- Functions that are not called with the real server ------------- */

/* The functions that are not called with the real server, and why. All other
 * functions of mpin.h must be called with it. */
static const struct {
    const char *function, *why;
} not_real[] = {
    {"mpin_sdk_start_verification", "a MIRACL server verifies user ids"},
    {"mpin_sdk_finish_verification", "a MIRACL server verifies user ids"},
    {"mpin_sdk_get_access_code", "a MIRACL server has an /authorize"},
    {"mpin_sdk_finish_authentication_mfa", "a MIRACL server gives such codes"},
    {"mpin_sdk_start_authentication_reg_code",
     "a MIRACL server has quick codes"},
    {"mpin_sdk_finish_authentication_reg_code",
     "a MIRACL server has quick codes"},
    {"mpin_sdk_start_registration_dvs", "a MIRACL server issues signing keys"},
    {"mpin_sdk_finish_registration_dvs", "a MIRACL server issues signing keys"},
    {"mpin_sdk_sign", "a MIRACL server issues signing keys"},
    {"mpin_sdk_hash_document", "for signing; asks no server"},
    {"mpin_sdk_verify_document", "for signing; asks no server"},
    {"mpin_http_response_set_status", "the transport is the built-in one"},
    {"mpin_http_response_add_header", "the transport is the built-in one"},
    {"mpin_http_response_append_body", "the transport is the built-in one"},
    {"mpin_http_response_is_canceled", "the transport is the built-in one"},
    {"mpin_http_response_may_connect", "the transport is the built-in one"},
    {"mpin_storage_data_append", "the store is a file"},
};

static void all_were_called_for_real(void)
{
    const size_t count = sizeof was_called / sizeof was_called[0];
    for (size_t i = 0; i < count; i++) {
        const char *why = NULL;
        for (size_t k = 0; k < sizeof not_real / sizeof not_real[0]; k++)
            if (strcmp(not_real[k].function, function_names[i]) == 0)
                why = not_real[k].why;
        if (strncmp(function_names[i], "mpin_trust_", 11) == 0)
            why = "a server of MIRACL Trust has projects";
        CHECK(!was_called[i] == (why != NULL), "%s: %s", function_names[i],
              why ? why : "not called with the real server");
    }
}

static void real_server(const char *url)
{
    mpin_sdk *sdk = NULL;
    mpin_config config = {0};
    config.size = sizeof config;
    config.storage_path = store_path("walk");
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    CHECK_STATUS(mpin_sdk_cancel(sdk), MPIN_OK);
    real_settings(sdk, url);
    mpin_user *user = registered_for_real(sdk, url);
    registered_like_mfa(sdk, url);
    real_logins(sdk, user);
    browser_login(sdk, user, url, "getAccessNumber");
    browser_login(sdk, user, url, "getQrUrl");
    declined(sdk, url);
    one_time_password(sdk, user);
    real_users(sdk, url);
    real_end(sdk, user);
    real_session(url);
    all_were_called_for_real();
}

#endif

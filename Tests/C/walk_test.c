/* Calls every function of mpin.h: first with a real server, which mails a
 * link to a user who registers, then with a fake MIRACL MFA server
 * (mfa_server.h). Fails if a function was not called at all, or was not
 * called with the real server and is not listed in walk_real.h.
 *
 * usage: walk_test URL */
#define _DEFAULT_SOURCE

#include <mpin.h>
#include <sys/stat.h>

#include "called.inc"

#include "mfa_server.h"
#include "store.h"
#include "walk.h"

#include "walk_real.h"

static mpin_sdk *sdk;
static mpin_user *user;

#include "walk_host.h"
#include "walk_logins.h"
#include "walk_errors.h"
#include "walk_trust.h"

/* ---- Backend -------------------------------------------------------- */

static void backend(void)
{
    mpin_service_details details;
    char text[64];
    size_t n = sizeof text, damaged = 99;
    details.size = sizeof details;
    CHECK_STATUS(mpin_sdk_test_backend(sdk, MFA_URL, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_client_id(sdk, "client"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_custom_header(sdk, "X-Mine", "1"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_custom_header(sdk, "x-mine", "2"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_custom_header(sdk, "Host", "evil"),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_sdk_add_custom_header(sdk, "X-Mine", "a\nb"),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, MFA_URL, NULL), MPIN_OK);
    CHECK(strstr(mfa.headers, "X-MIRACL-CID: client\n") != NULL, "no client");
    CHECK(strstr(mfa.headers, "ine: 2\n") != NULL &&
              strstr(mfa.headers, "ine: 1\n") == NULL,
          "%s", mfa.headers);
    CHECK_STATUS(mpin_sdk_clear_custom_headers(sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_trusted_domain(sdk, "example.org"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, MFA_URL, NULL),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    CHECK_STATUS(mpin_sdk_add_trusted_domain(sdk, "example.com"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_test_backend(sdk, MFA_URL, NULL), MPIN_OK);
    CHECK(strstr(mfa.headers, "ine: ") == NULL, "%s", mfa.headers);
    CHECK_STATUS(mpin_sdk_clear_trusted_domains(sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_get_client_param(sdk, text, &n, "appID"), MPIN_OK);
    CHECK(strcmp(text, "c0ffee") == 0, "%s", text);
    CHECK_STATUS(
        mpin_sdk_get_service_details(sdk, &details, MFA_URL "/page"), MPIN_OK);
    CHECK(strcmp(details.name, "Page") == 0, "%s", details.name);
    CHECK(strcmp(details.backend_url, MFA_URL) == 0, "%s", details.backend_url);
    CHECK(strcmp(details.rps_prefix, "rps") == 0, "%s", details.rps_prefix);
    CHECK(strcmp(details.logo_url, "/l") == 0, "%s", details.logo_url);
    CHECK_STATUS(mpin_sdk_damaged_records(sdk, &damaged), MPIN_OK);
    CHECK(damaged == 0, "%zu records", damaged);
}

/* ---- Verification and registration ---------------------------------- */

static void registration(void)
{
    mpin_verification verification;
    mpin_expiration expiration;
    int32_t number = -1;
    verification.size = sizeof verification;
    expiration.size = sizeof expiration;
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "alice", "phone"), MPIN_OK);
    mfa.server.user = "alice";
    CHECK_STATUS(mpin_sdk_start_verification(sdk, user, "client", NULL),
                 MPIN_OK);
    expect_state(user, MPIN_USER_STARTED_VERIFICATION, 0);
    CHECK_STATUS(
        mpin_sdk_finish_verification(sdk, user, &verification, "123456"),
        MPIN_OK);
    CHECK(strcmp(verification.activation_token, "token") == 0, "%s",
          verification.activation_token);
    CHECK(strcmp(verification.access_id, "access") == 0, "%s",
          verification.access_id);
    CHECK(verification.expire_time == 1893456000, "another time");

    CHECK_STATUS(mpin_sdk_start_registration_mfa(
                     sdk, user, "wid", verification.activation_token, "push"),
                 MPIN_OK);
    CHECK(strcmp(member("activateCode"), "token") == 0, "%s", mfa.request);
    expect_state(user, MPIN_USER_STARTED_REGISTRATION, 1);
    expect_text(user_customer, user, "customer");
    expect_text(user_app, user, "app");
    expect_text(user_device, user, "phone");
    expect_text(user_verification, user, "em");
    CHECK_STATUS(mpin_user_get_pin_length(user, &number), MPIN_OK);
    CHECK(number == 4, "%d digits", number);
    CHECK_STATUS(mpin_user_get_registration_pin_length(user, &number),
                 MPIN_OK);
    CHECK(number == 4, "%d digits", number);
    CHECK_STATUS(mpin_user_get_registration_expiration(user, &expiration),
                 MPIN_OK);
    CHECK(expiration.expire_time == 1893456000, "another end");
    CHECK(expiration.now_time == 1893452400, "another clock");
    CHECK_STATUS(mpin_user_is_registration_token_set(user, &number), MPIN_OK);
    CHECK(number == 1, "the token is not whole");
    CHECK_STATUS(mpin_sdk_set_registration_token(sdk, user, "rest"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_restart_registration(sdk, user, "data"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, "push"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "12345"),
                 MPIN_PIN_INVALID);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"), MPIN_OK);
    expect_state(user, MPIN_USER_REGISTERED, 3);
}

static void users(void)
{
    mpin_user *found[2] = {NULL, NULL};
    size_t n = 2;
    int32_t exists = -1;
    char text[64];
    CHECK_STATUS(mpin_sdk_list_backend_users(sdk, found, &n, MFA_URL "/"),
                 MPIN_OK);
    CHECK(n == 1, "%zu users", n);
    expect_text(user_id, found[0], "alice");
    expect_text(user_backend, found[0], MFA_URL);
    mpin_user_free(found[0]);
    n = 2;
    CHECK_STATUS(mpin_sdk_list_backend_users(sdk, found, &n, "https://other"),
                 MPIN_OK);
    CHECK(n == 0, "%zu users", n);
    n = sizeof text;
    CHECK_STATUS(mpin_sdk_list_backends(sdk, text, &n), MPIN_OK);
    CHECK(strcmp(text, MFA_URL "\n") == 0, "%s", text);
    CHECK_STATUS(mpin_sdk_user_exists(sdk, &exists, "alice", NULL, NULL),
                 MPIN_OK);
    CHECK(exists == 1, "alice is gone");
    CHECK_STATUS(
        mpin_sdk_user_exists(sdk, &exists, "alice", "customer", "other"),
        MPIN_OK);
    CHECK(exists == 0, "alice of another application");
}

/* Registers a user with the same id at another customer. Both users must be
 * listed and found. When the other user is deleted, the first must still be
 * able to log in, which logins() tests. */
static void customers(void)
{
    mpin_user *other = NULL, *found[2] = {NULL, NULL};
    size_t n = 2;
    CHECK_STATUS(mpin_sdk_make_new_user_mfa(sdk, &other, "alice", NULL,
                                            "another", "app"),
                 MPIN_OK);
    expect_state(other, MPIN_USER_INVALID, 0);
    CHECK_STATUS(
        mpin_sdk_start_registration_mfa(sdk, other, NULL, "code", NULL),
        MPIN_RESPONSE_PARSE_ERROR);
    mfa.server.customer = "another";
    CHECK_STATUS(
        mpin_sdk_start_registration_mfa(sdk, other, NULL, "code", NULL),
        MPIN_OK);
    mfa.server.customer = "customer";
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, other, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, other, "9999"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, other), MPIN_OK);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, other, NULL, NULL, "9999"),
        MPIN_OK);

    CHECK_STATUS(mpin_sdk_list_users(sdk, found, &n), MPIN_OK);
    CHECK(n == 2, "%zu users", n);
    expect_text(user_customer, found[0], "another");
    expect_text(user_customer, found[1], "customer");
    mpin_user_free(found[0]);
    mpin_user_free(found[1]);
    CHECK_STATUS(
        mpin_sdk_get_user_mfa(sdk, &found[0], "alice", "customer", NULL),
        MPIN_OK);
    expect_text(user_customer, found[0], "customer");
    mpin_user_free(found[0]);
    CHECK_STATUS(mpin_sdk_get_user_mfa(sdk, &found[0], "alice", "third", "app"),
                 MPIN_OK);
    CHECK(found[0] == NULL, "alice of a third customer");
    CHECK_STATUS(mpin_sdk_delete_user(sdk, other), MPIN_OK);
    mpin_user_free(other);
    expect_state(user, MPIN_USER_REGISTERED, 3);
}

/* ---- Sessions of a browser ------------------------------------------ */

static void sessions(void)
{
    mpin_session_details details;
    char code[32];
    size_t n = sizeof code;
    details.size = sizeof details;
    CHECK_STATUS(mpin_sdk_get_session_details(sdk, &details, "abcdef"),
                 MPIN_OK);
    CHECK(details.register_only == 1, "%d", details.register_only);
    CHECK(strcmp(details.preroll_id, "alice") == 0, "%s", details.preroll_id);
    CHECK(strcmp(details.app_name, "app") == 0, "%s", details.app_name);
    CHECK(strcmp(details.app_icon_url, "/a") == 0, "%s", details.app_icon_url);
    CHECK(strcmp(details.customer_id, "c") == 0, "%s", details.customer_id);
    CHECK(strcmp(details.customer_name, "C") == 0, "%s", details.customer_name);
    CHECK(strcmp(details.customer_icon_url, "/c") == 0, "%s",
          details.customer_icon_url);
    CHECK(strcmp(details.client_id, "i") == 0, "%s", details.client_id);
    CHECK(strcmp(details.redirect_uri, "/r") == 0, "%s", details.redirect_uri);
    CHECK_STATUS(mpin_sdk_abort_session(sdk, "abcdef"), MPIN_OK);
    CHECK(strcmp(member("status"), "abort") == 0, "%s", mfa.request);
    CHECK_STATUS(
        mpin_sdk_get_access_code(sdk, code, &n, MFA_URL "/authorize?a=b"),
        MPIN_OK);
    CHECK(strcmp(code, "abcdef") == 0, "%s", code);
}

/* Tests the size of output structures. A program with an older header has a
 * shorter structure: only members that fit completely are written. A program
 * with a newer header has a longer one: the rest is set to zero. */
static void other_sizes(void)
{
    struct {
        mpin_service_details details;
        char more[64];
    } place;
    memset(&place, 0xA5, sizeof place);
    place.details.size = offsetof(mpin_service_details, rps_prefix) + 63;
    CHECK_STATUS(
        mpin_sdk_get_service_details(sdk, &place.details, MFA_URL "/page"),
        MPIN_OK);
    CHECK(strcmp(place.details.backend_url, MFA_URL) == 0, "no URL");
    CHECK(place.details.rps_prefix[0] == 0, "a member that is cut was written");
    CHECK((unsigned char)place.details.rps_prefix[63] == 0xA5, "beyond");
    place.details.size = sizeof place;
    CHECK_STATUS(
        mpin_sdk_get_service_details(sdk, &place.details, MFA_URL "/page"),
        MPIN_OK);
    CHECK(strcmp(place.details.logo_url, "/l") == 0, "no logo");
    CHECK(place.more[0] == 0 && place.more[63] == 0, "the rest is not zero");
}

/* ---- Signing -------------------------------------------------------- */

static void signing(void)
{
    static const uint8_t document[] = "I owe you one beer.";
    uint8_t hash[MPIN_DOCUMENT_HASH_SIZE], id[1024 + MPIN_PUBLIC_KEY_SIZE];
    uint8_t y[MPIN_SCALAR_SIZE];
    mpin_signature s;
    int32_t number = -1;
    s.size = sizeof s;
    CHECK_STATUS(mpin_sdk_hash_document(hash, ARG(document)), MPIN_OK);
    CHECK_STATUS(mpin_sdk_verify_document(&number, ARG(document), hash),
                 MPIN_OK);
    CHECK(number == 1, "the document is another");
    CHECK_STATUS(mpin_sdk_verify_document(&number, document, 3, hash), MPIN_OK);
    CHECK(number == 0, "another document is the same");
    CHECK_STATUS(mpin_sdk_sign(sdk, user, &s, ARG(hash), "2468", 0, NULL),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_finish_registration_dvs(sdk, user, "2468"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_add_factor(sdk, user, "5678"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration_dvs(sdk, user, "1234"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration_dvs(sdk, user, "2468"), MPIN_OK);
    CHECK_STATUS(mpin_user_get_can_sign(user, &number), MPIN_OK);
    CHECK(number == 1, "the user cannot sign");
    clock_status = MPIN_STORAGE_ERROR;
    CHECK_STATUS(mpin_sdk_sign(sdk, user, &s, ARG(hash), "2468", 0, NULL),
                 MPIN_FLOW_ERROR);
    clock_status = MPIN_OK;

    CHECK_STATUS(mpin_sdk_sign(sdk, user, &s, ARG(hash), "1357", 0, NULL),
                 MPIN_INCORRECT_PIN);
    CHECK_STATUS(mpin_sdk_sign(sdk, user, &s, ARG(hash), "2468", 0, "leave"),
                 MPIN_OK);
    CHECK(strstr(mfa.headers, "leave") != NULL, "%s", mfa.headers);
    CHECK(s.timestamp == 1893456000, "another clock");
    CHECK(strcmp(s.mpin_id, mfa.server.signing_id) == 0, "%s", s.mpin_id);
    CHECK(strcmp(s.dtas, "WyJhIl0=") == 0, "%s", s.dtas);
    size_t size = fake_from_hex(id, 1024, s.mpin_id);
    memcpy(id + size, s.public_key, sizeof s.public_key);
    size += sizeof s.public_key;
    CHECK_STATUS(mpin_crypto_get_y(ARG(y), s.timestamp, ARG(s.u), ARG(hash)),
                 0);
    CHECK_STATUS(mpin_crypto_server_context_verify_dvs(
                     mfa.server.context, ARG(s.public_key), id, size, ARG(s.u), ARG(y),
                     ARG(s.v)),
                 0);
}

/* ---- The end of all users ------------------------------------------- */

static size_t stored_users(void)
{
    mpin_sdk *other = NULL;
    size_t n = 99;
    open_mfa(&other, mfa_execute);
    CHECK_STATUS(mpin_sdk_list_all_users(other, NULL, &n), MPIN_OK);
    mpin_sdk_free(other);
    return n;
}

static void all_gone(void)
{
    CHECK(stored_users() > 0, "nobody is stored");
    CHECK_STATUS(mpin_sdk_delete_users(sdk), MPIN_OK);
    expect_state(user, MPIN_USER_INVALID, 0);
    CHECK(stored_users() == 0, "somebody is stored");
}

/* ---- Import --------------------------------------------------------- */

static void import(void)
{
    size_t imported = 99;
    CHECK_STATUS(mpin_sdk_import_storage(sdk, &imported, MPIN_IMPORT_CLIENT_JS,
                                         "not JSON", NULL),
                 MPIN_STORAGE_ERROR);
    CHECK(imported == 99, "%zu users", imported);
    CHECK_STATUS(mpin_sdk_import_storage(sdk, &imported, MPIN_IMPORT_MILAGRO,
                                         "{}", "{}"),
                 MPIN_OK);
    CHECK(imported == 0, "%zu users", imported);
}

static void last_errors(void)
{
    mpin_error error;
    char text[512];
    size_t n = sizeof text;
    int32_t left = 0;
    error.size = sizeof error;
    mfa_answer("/rps/clientSettings", 429, "{\"message\":\"slowly\"}");
    CHECK_STATUS(mpin_sdk_test_backend(sdk, MFA_URL, NULL),
                 MPIN_TOO_MANY_REQUESTS);
    CHECK_STATUS(mpin_sdk_get_last_error(sdk, &error), MPIN_OK);
    CHECK_STATUS(error.status, MPIN_TOO_MANY_REQUESTS);
    CHECK(error.http_status == 429, "%d", error.http_status);
    CHECK(error.retry_after == 17, "not the server's time");
    CHECK(strcmp(error.server_error, "slowly") == 0, "%s", error.server_error);
    CHECK(strcmp(error.request_id, "r-7") == 0, "%s", error.request_id);
    CHECK_STATUS(mpin_sdk_last_error(sdk, text, &n), MPIN_OK);
    CHECK(strcmp(text, error.text) == 0, "%s", text);
    CHECK_STATUS(mpin_sdk_get_attempts_left(sdk, &left), MPIN_OK);
    CHECK(left == -1, "%d attempts left", (int)left);
}

static void mfa_server(void)
{
    mfa_start();
    open_mfa(&sdk, mfa_execute);
    backend();
    registration();
    users();
    customers();
    logins();
    attempts_left();
    aimed();
    codes();
    changed_pin();
    sessions();
    other_sizes();
    signing();
    import();
    last_errors();
    every_answer();
    too_long();
    trust_project();
    blocked();
    CHECK(host.randoms > 0 && host.size[0] > 0, "a callback was not called");
    all_gone();
    CHECK_STATUS(mpin_sdk_clear_users(sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_destroy(sdk), MPIN_OK);
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    mfa_stop();
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fputs("usage: walk_test URL\n", stderr), 2;
    if (store_open() != 0)
        return perror("walk_test"), 1;
    CHECK(mpin_abi_version() == MPIN_ABI_VERSION && *mpin_version(), "version");
    CHECK(strcmp(mpin_status_name(MPIN_OK), "OK") == 0, "name");
    CHECK_STATUS(mpin_sdk_self_test(), MPIN_OK);
    real_server(argv[1]);
    mfa_server();
    all_were_called();
    store_close();
    return report("walk_test");
}

/* Tests the flows that answers_test does not test. Every answer of a MIRACL
 * MFA server (Tests/C/mfa_server.h) is cut anywhere, and one byte of it is
 * changed. Each call must return a status that mpin.h names for it. The user
 * must then be unchanged, in memory and in the store, and the right answers
 * must still work.
 *
 * usage: flows_test [STRIDE]     cuts and changes at every STRIDE-th byte
 * only */
#define _DEFAULT_SOURCE

#include "faulty.h"

static void come_back(void);

#define PIN "1234"
#define FACTOR "5678"

/* ---- The flows ------------------------------------------------------ */

static mpin_status settings(void)
{
    return mpin_sdk_set_backend(sdk, MFA_URL, NULL);
}
static mpin_status service(void)
{
    mpin_service_details details;
    details.size = sizeof details;
    return mpin_sdk_get_service_details(sdk, &details, MFA_URL "/page");
}
static mpin_status verification(void)
{
    return mpin_sdk_start_verification(sdk, user, "client", NULL);
}
static mpin_status verified(void)
{
    mpin_verification result;
    result.size = sizeof result;
    return mpin_sdk_finish_verification(sdk, user, &result, "123456");
}
static mpin_status registration(void)
{
    return mpin_sdk_start_registration_mfa(sdk, user, "wid", "token", NULL);
}
static mpin_status restart(void)
{
    return mpin_sdk_restart_registration(sdk, user, NULL);
}
static mpin_status confirmation(void)
{
    return mpin_sdk_confirm_registration(sdk, user, NULL);
}
static mpin_status factor(void)
{
    return mpin_sdk_add_factor(sdk, user, FACTOR);
}
static mpin_status with_factor(mpin_status status)
{
    return status == MPIN_OK ? factor() : status;
}
static mpin_status session(void)
{
    mpin_session_details details;
    details.size = sizeof details;
    return mpin_sdk_get_session_details(sdk, &details, "abcdef");
}
static mpin_status access_code(void)
{
    char code[32];
    size_t n = sizeof code;
    return mpin_sdk_get_access_code(sdk, code, &n, MFA_URL "/authorize?a=b");
}
static mpin_status start(void)
{
    return with_factor(mpin_sdk_start_authentication(sdk, user));
}
static mpin_status login(void)
{
    char data[4096];
    size_t n = sizeof data;
    return mpin_sdk_finish_authentication(sdk, user, data, &n, PIN);
}
static mpin_status start_mfa(void)
{
    return with_factor(mpin_sdk_start_authentication_mfa(sdk, user, "abcdef"));
}
static mpin_status told(void)
{
    return mpin_sdk_start_authentication_mfa(sdk, user, "abcdef");
}
static mpin_status login_mfa(void)
{
    char code[4096];
    size_t n = sizeof code;
    return mpin_sdk_finish_authentication_mfa(sdk, user, code, &n, PIN,
                                              "abcdef");
}
static mpin_status access_number(void)
{
    return mpin_sdk_finish_authentication_an(sdk, user, PIN, "1234560");
}
static mpin_status start_otp(void)
{
    return with_factor(mpin_sdk_start_authentication_otp(sdk, user));
}
static mpin_status otp(void)
{
    mpin_otp result;
    result.size = sizeof result;
    return mpin_sdk_finish_authentication_otp(sdk, user, &result, PIN);
}
static mpin_status start_code(void)
{
    return with_factor(mpin_sdk_start_authentication_reg_code(sdk, user));
}
static mpin_status reg_code(void)
{
    mpin_otp result;
    result.size = sizeof result;
    return mpin_sdk_finish_authentication_reg_code(sdk, user, &result, PIN);
}
static mpin_status logged_in(void)
{
    const mpin_status status = start();
    return status == MPIN_OK ? login() : status;
}
static mpin_status logout(void)
{
    return mpin_sdk_logout(sdk, user);
}
static mpin_status signing_identity(void)
{
    return mpin_sdk_start_registration_dvs(sdk, user, PIN);
}
static mpin_status logged_in_factor(void)
{
    return with_factor(logged_in());
}
static mpin_status sign(void)
{
    uint8_t hash[MPIN_DOCUMENT_HASH_SIZE] = {7};
    mpin_signature signature;
    signature.size = sizeof signature;
    return mpin_sdk_sign(sdk, user, &signature, ARG(hash), "2468", 0, "leave");
}
static mpin_status nothing(void)
{
    return MPIN_OK;
}
static mpin_status with_pin(void)
{
    const mpin_status status = factor();
    return status == MPIN_OK ? mpin_sdk_finish_registration(sdk, user, PIN)
                             : status;
}
static mpin_status with_signing_pin(void)
{
    return mpin_sdk_finish_registration_dvs(sdk, user, "2468");
}

static mpin_status start_renewal(int kind)
{
    const mpin_status status = start();
    mfa.server.renewal = kind;
    return status;
}
static mpin_status start_shares(void)
{
    return start_renewal(NEW_SHARES);
}
static mpin_status start_key_pair(void)
{
    return start_renewal(NEW_KEY_PAIR);
}
static mpin_status renewed(void)
{
    const mpin_status status = login();
    CHECK(status != MPIN_OK || fault.request || mfa.server.renewal == NO_RENEWAL,
          "nothing was renewed");
    return status;
}

/* Restores the user, the store and the server as they were before the flow. */
static mpin_status forgotten(void)
{
    come_back();
    return MPIN_OK;
}

/* The results that a flow may have besides MPIN_OK and
 * MPIN_RESPONSE_PARSE_ERROR, as bits: errors of a request to a changed URL,
 * of the computation, or of a login with a wrong secret. */
enum { ANOTHER_URL = 1, CRYPTO = 2, PROOF = 4 };

static const struct {
    const char *name;
    /* `run` is the flow. `prepare` runs before it, without a fault, and
     * `go_on` after it. */
    mpin_status (*prepare)(void), (*run)(void), (*go_on)(void);
    int may;
} flows[] = {
    {"set_backend", nothing, settings, nothing, 0},
    {"get_service_details", nothing, service, nothing, 0},
    {"start_verification", nothing, verification, nothing, 0},
    {"finish_verification", nothing, verified, nothing, 0},
    {"start_registration_mfa", nothing, registration, nothing, 0},
    {"restart_registration", nothing, restart, nothing, 0},
    {"confirm_registration", nothing, confirmation, with_pin,
     ANOTHER_URL | CRYPTO},
    {"get_session_details", nothing, session, nothing, 0},
    {"get_access_code", nothing, access_code, nothing, 0},
    /* The client reports to the browser's page that a login has begun. If
     * this report fails, the login must go on. */
    {"start_authentication_mfa", nothing, told, nothing, 0},
    {"finish_authentication", start, login, nothing, PROOF},
    {"finish_authentication_mfa", start_mfa, login_mfa, nothing, PROOF},
    {"finish_authentication_an", start, access_number, nothing, PROOF},
    {"finish_authentication_otp", start_otp, otp, nothing, PROOF},
    {"finish_authentication_reg_code", start_code, reg_code, nothing, PROOF},
    {"logout", logged_in, logout, nothing, 0},
    {"renewal of the shares", start_shares, renewed, nothing,
     ANOTHER_URL | CRYPTO | PROOF},
    {"renewal by a key pair", start_key_pair, renewed, forgotten,
     ANOTHER_URL | CRYPTO | PROOF},
    {"start_registration_dvs", logged_in_factor, signing_identity,
     with_signing_pin, ANOTHER_URL | CRYPTO | PROOF},
    {"sign", nothing, sign, nothing, PROOF},
};
enum { FLOWS = sizeof flows / sizeof flows[0] };

static int may_say(int flow, mpin_status status)
{
    switch (status) {
    case MPIN_OK:
    case MPIN_RESPONSE_PARSE_ERROR: return 1;
    case MPIN_HTTP_REQUEST_ERROR:
    case MPIN_UNTRUSTED_DOMAIN_ERROR: return flows[flow].may & ANOTHER_URL;
    case MPIN_CRYPTO_ERROR: return flows[flow].may & (CRYPTO | PROOF);
    case MPIN_INCORRECT_PIN: return flows[flow].may & PROOF;
    default: return 0;
    }
}

/* ---- The state before a flow ---------------------------------------- */

static void close_sdk(void)
{
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    user = NULL;
    sdk = NULL;
}

static void come_back(void)
{
    close_sdk();
    restore();
    CHECK_STATUS(settings(), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "alice", NULL), MPIN_OK);
    mfa.server.user = "alice";
}

/* ---- Faults --------------------------------------------------------- */

static void run_well(int flow)
{
    fault.request = 0;
    mfa.server.failed = 0;
    mpin_status status = flows[flow].prepare();
    if (status == MPIN_OK)
        status = flows[flow].run();
    CHECK(status == MPIN_OK, "%s: %s", flows[flow].name,
          mpin_status_name(status));
}

static void try_fault(int flow, int request)
{
    static int count;
    faults++;
    fault.request = 0;
    mfa.server.failed = 0;
    CHECK_STATUS(flows[flow].prepare(), MPIN_OK);
    const int32_t state = state_of(user), stored = stored_state();
    mfa.requests = 0;
    fault.request = request;
    const double start_cpu = cpu_seconds();
    const mpin_status status = flows[flow].run();
    const double took = cpu_seconds() - start_cpu;
    fault.request = 0;
    CHECK(took < 1, "%s took %.3f s", flows[flow].name, took);
    CHECK(may_say(flow, status), "%s, answer %d, cut or flip %zu ^ %02x: %s",
          flows[flow].name, request, fault.at, fault.flip,
          mpin_status_name(status));
    if (status == MPIN_OK) {
        come_back();
        return;
    }
    CHECK(state_of(user) == state, "%s: state %d", flows[flow].name,
          state_of(user));
    CHECK(stored_state() == stored, "%s: stored state %d", flows[flow].name,
          stored_state());
    if (++count % 16 != 0)
        return;
    run_well(flow);
    come_back();
}

int main(int argc, char **argv)
{
    const size_t stride = argc > 1 ? (size_t)atol(argv[1]) : 1;
    int answers = 0;
    mfa_start();
    keep();
    for (int flow = 0; flow < FLOWS; flow++) {
        come_back();
        for (int request = 1; disturb(flow, request, stride ? stride : 1);
             request++)
            answers++;
        come_back();
        run_well(flow);
        CHECK_STATUS(flows[flow].go_on(), MPIN_OK);
        keep();
        printf("%s: %d checks so far\n", flows[flow].name, checks);
    }
    CHECK(answers >= 40, "only %d answers", answers);
    close_sdk();
    mfa_stop();
    CHECK(peak_kib() < 64 * 1024, "%ld KiB of memory", peak_kib());
    return report("flows_test");
}

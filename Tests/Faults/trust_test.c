/* Tests the flows of MIRACL Trust projects as flows_test tests those of MFA
 * servers: every answer is cut anywhere, and one byte of it is changed. Each
 * call must return a status that mpin.h names for it. The user must then be
 * unchanged, in memory and in the store, and the right answers must still
 * work.
 *
 * usage: trust_test [STRIDE]     cuts and changes at every STRIDE-th byte
 * only */
#define _DEFAULT_SOURCE

#include "faulty.h"

#define PIN "1234"
#define SESSION_URL MFA_URL "/page#abcdef"

/* ---- The flows ------------------------------------------------------ */

static mpin_status mail(void)
{
    mpin_trust_verification sent;
    sent.size = sizeof sent;
    return mpin_trust_send_verification_email(sdk, &sent, "alice", NULL);
}
static mpin_status activation(void)
{
    mpin_trust_activation made;
    made.size = sizeof made;
    return mpin_trust_get_activation_token(sdk, &made, "alice", "123456");
}
static mpin_status registration(void)
{
    mpin_user *made = NULL;
    mpin_status status =
        mpin_trust_start_registration(sdk, &made, "alice", "token", NULL);
    mpin_user_free(made);
    return status;
}
static mpin_status jwt(void)
{
    return mpin_trust_authenticate(sdk, user, NULL, NULL, PIN);
}
static mpin_status qr_code(void)
{
    return mpin_trust_authenticate_with_qr_code(sdk, user, SESSION_URL, PIN);
}
static mpin_status quick_code(void)
{
    mpin_trust_quick_code made;
    made.size = sizeof made;
    return mpin_trust_generate_quick_code(sdk, user, &made, PIN);
}
static mpin_status session(void)
{
    mpin_trust_session details;
    details.size = sizeof details;
    return mpin_trust_get_session_details(sdk, &details, SESSION_URL);
}
static mpin_status sign(void)
{
    static const uint8_t hash[MPIN_DOCUMENT_HASH_SIZE] = {7};
    mpin_signature made;
    made.size = sizeof made;
    return mpin_trust_sign(sdk, user, &made, ARG(hash), PIN);
}
static mpin_status sign_session(void)
{
    static const uint8_t hash[MPIN_DOCUMENT_HASH_SIZE] = {7};
    return mpin_trust_sign_session(sdk, user, SESSION_URL, ARG(hash), PIN);
}
static mpin_status renewal(void)
{
    mfa.server.renewal = NEW_KEY_PAIR;
    return jwt();
}

static const struct {
    const char *name;
    mpin_status (*run)(void);
} flows[] = {
    {"send_verification_email", mail},
    {"get_activation_token", activation},
    {"start_registration", registration},
    {"authenticate", jwt},
    {"authenticate_with_qr_code", qr_code},
    {"generate_quick_code", quick_code},
    {"get_session_details", session},
    {"sign", sign},
    {"sign_session", sign_session},
    {"renewal", renewal},
};
enum { FLOWS = sizeof flows / sizeof flows[0] };

/* Whether a changed answer may have this result. MPIN_INCORRECT_PIN: the
 * challenge or the identity is another one; the last three: a URL is. */
static int may_say(mpin_status status)
{
    switch (status) {
    case MPIN_OK:
    case MPIN_RESPONSE_PARSE_ERROR:
    case MPIN_PROJECT_MISMATCH:
    case MPIN_UNSUPPORTED_CURVE:
    case MPIN_CRYPTO_ERROR:
    case MPIN_INCORRECT_PIN:
    case MPIN_HTTP_REQUEST_ERROR:
    case MPIN_UNTRUSTED_DOMAIN_ERROR: return 1;
    default: return 0;
    }
}

/* ---- The state before a flow ---------------------------------------- */

static void come_back(void)
{
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    user = NULL;
    restore();
    CHECK_STATUS(mpin_trust_set_project(sdk, FAKE_PROJECT, MFA_URL, NULL), 0);
    CHECK_STATUS(mpin_sdk_get_user(sdk, &user, "alice"), MPIN_OK);
    mfa.server.user = "alice";
}

static void begin(void)
{
    open_mfa(&sdk, faulty_execute);
    CHECK_STATUS(mpin_trust_set_project(sdk, FAKE_PROJECT, MFA_URL, NULL), 0);
    CHECK_STATUS(
        mpin_trust_start_registration(sdk, &user, "alice", "token", NULL), 0);
    CHECK_STATUS(mpin_trust_finish_registration(sdk, user, PIN), MPIN_OK);
    keep();
}

/* ---- Faults --------------------------------------------------------- */

static void try_fault(int flow, int request)
{
    faults++;
    mfa.server.failed = 0;
    mfa.requests = 0;
    fault.request = request;
    const double start = cpu_seconds();
    const mpin_status status = flows[flow].run();
    const double took = cpu_seconds() - start;
    fault.request = 0;
    CHECK(took < 1, "%s took %.3f s", flows[flow].name, took);
    CHECK(may_say(status), "%s, answer %d, cut or flip %zu ^ %02x: %s",
          flows[flow].name, request, fault.at, fault.flip,
          mpin_status_name(status));
    CHECK(state_of(user) == MPIN_USER_REGISTERED, "%s: state %d",
          flows[flow].name, state_of(user));
    CHECK(stored_state() == MPIN_USER_REGISTERED, "%s: stored state %d",
          flows[flow].name, stored_state());
    /* The right answers still work, with the same PIN. */
    mfa.server.failed = 0;
    mfa.server.renewal = NO_RENEWAL;
    const mpin_status after = jwt();
    CHECK(after == MPIN_OK, "%s, answer %d, cut or flip %zu ^ %02x, then %s",
          flows[flow].name, request, fault.at, fault.flip,
          mpin_status_name(after));
    if (after != MPIN_OK)
        come_back();
}

int main(int argc, char **argv)
{
    const size_t stride = argc > 1 ? (size_t)atol(argv[1]) : 1;
    int answers = 0;
    mfa_start();
    begin();
    for (int flow = 0; flow < FLOWS; flow++) {
        for (int request = 1; disturb(flow, request, stride ? stride : 1);
             request++)
            answers++;
        CHECK_STATUS(flows[flow].run(), MPIN_OK);
        come_back();
        printf("%s: %d checks so far\n", flows[flow].name, checks);
    }
    CHECK(answers >= 30, "only %d answers", answers);
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    mfa_stop();
    CHECK(peak_kib() < 64 * 1024, "%ld KiB of memory", peak_kib());
    return report("trust_test");
}

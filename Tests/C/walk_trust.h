/* A part of walk_test.c: a project of MIRACL Trust at the fake server. */
#ifndef WALK_TRUST_H
#define WALK_TRUST_H

#define SESSION_URL MFA_URL "/page?a#b#abcdef"

static mpin_user *member_user;

static void trust_registration(void)
{
    mpin_trust_verification mail;
    mpin_trust_activation made;
    int32_t digits = 0;
    mail.size = sizeof mail;
    made.size = sizeof made;
    CHECK_STATUS(mpin_trust_set_project(sdk, FAKE_PROJECT, MFA_URL, "phone"),
                 MPIN_OK);
    CHECK_STATUS(mpin_trust_send_verification_email(sdk, &mail, "alice", NULL),
                 MPIN_OK);
    CHECK(mail.method == MPIN_TRUST_METHOD_CODE, "%d", (int)mail.method);
    CHECK(mail.backoff == 1893456000, "another time");
    CHECK(strstr(mfa.headers, "X-MIRACL-CID: " FAKE_PROJECT "\n") != NULL,
          "%s", mfa.headers);
    CHECK_STATUS(
        mpin_trust_get_activation_token(sdk, &made, "alice", "123456"),
        MPIN_OK);
    CHECK(strcmp(made.activation_token, "token") == 0, "%s",
          made.activation_token);
    CHECK(strcmp(made.project_id, FAKE_PROJECT) == 0, "%s", made.project_id);
    CHECK_STATUS(mpin_trust_get_activation_token_by_link(
                     sdk, &made,
                     "https://app.example/x?code=1&user_id=a%40b+c#user_id=d"),
                 MPIN_OK);
    CHECK(strcmp(made.user_id, "a@b c") == 0, "%s", made.user_id);
    CHECK(strcmp(member("userId"), "a@b c") == 0, "%s", mfa.request);
    CHECK_STATUS(mpin_trust_start_registration(sdk, &member_user, "alice",
                                               "token", "push"),
                 MPIN_OK);
    CHECK_STATUS(mpin_user_get_pin_length(member_user, &digits), MPIN_OK);
    CHECK(digits == 4, "%d digits", (int)digits);
    expect_state(member_user, MPIN_USER_INVALID, 0);
    CHECK_STATUS(mpin_trust_finish_registration(sdk, member_user, "12345"),
                 MPIN_PIN_INVALID);
    CHECK_STATUS(mpin_trust_finish_registration(sdk, member_user, "1234"),
                 MPIN_OK);
    CHECK_STATUS(mpin_trust_finish_registration(sdk, member_user, "1234"),
                 MPIN_FLOW_ERROR);
    expect_state(member_user, MPIN_USER_REGISTERED, 3);
    expect_text(user_customer, member_user, FAKE_PROJECT);
    expect_text(user_verification, member_user, "standardEmail");
}

/* A registration over an identity, at a project that has come to want longer
 * PINs: until its end the identity keeps its own. */
static void trust_registration_anew(void)
{
    mpin_user *again = NULL;
    mpin_trust_verification mail;
    int32_t present = 0, chosen = 0;
    mail.size = sizeof mail;
    CHECK_STATUS(mpin_trust_send_verification_email(sdk, &mail, "alice", "w"),
                 MPIN_OK);
    CHECK(strcmp(member("mpinId"), mfa.server.mpin_id) == 0, "%s", mfa.request);
    CHECK(strcmp(member("accessId"), "w") == 0, "%s", mfa.request);
    mfa.server.digits = 6;
    CHECK_STATUS(
        mpin_trust_start_registration(sdk, &again, "alice", "token", NULL),
        MPIN_OK);
    CHECK_STATUS(mpin_user_get_pin_length(again, &present), MPIN_OK);
    CHECK_STATUS(mpin_user_get_registration_pin_length(again, &chosen),
                 MPIN_OK);
    CHECK(present == 4 && chosen == 6, "%d and %d digits", (int)present,
          (int)chosen);
    expect_state(again, MPIN_USER_REGISTERED, 3);
    CHECK_STATUS(mpin_trust_finish_registration(sdk, again, "1234"),
                 MPIN_PIN_INVALID);
    CHECK_STATUS(mpin_trust_finish_registration(sdk, again, "123456"),
                 MPIN_OK);
    CHECK_STATUS(mpin_user_get_pin_length(again, &present), MPIN_OK);
    CHECK(present == 6, "%d digits", (int)present);
    CHECK_STATUS(mpin_trust_authenticate(sdk, again, NULL, NULL, "123456"),
                 MPIN_OK);
    mfa.server.digits = 4;
    mpin_user_free(again);
    CHECK_STATUS(
        mpin_trust_start_registration(sdk, &again, "alice", "token", NULL),
        MPIN_OK);
    /* Neither the end of a registration nor a login is for another project. */
    CHECK_STATUS(mpin_trust_set_project(sdk, "another", MFA_URL, NULL), MPIN_OK);
    CHECK_STATUS(mpin_trust_finish_registration(sdk, again, "1234"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_trust_authenticate(sdk, again, NULL, NULL, "1234"),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_trust_set_project(sdk, FAKE_PROJECT, MFA_URL, NULL),
                 MPIN_OK);
    CHECK_STATUS(mpin_trust_finish_registration(sdk, again, "1234"), MPIN_OK);
    mpin_user_free(again);
}

/* What the requests of a login say: what it is for, the page's session, and to
 * its page, first, who is about to log in. */
static void trust_purposes(void)
{
    static const uint8_t hash[] = {0, 255};
    mpin_trust_quick_code code;
    mpin_signature s;
    int before;
    code.size = sizeof code;
    s.size = sizeof s;
    mfa_answer("/pass1", 400, "{}");
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_HTTP_REQUEST_ERROR);
    CHECK(strstr(mfa.request, "[\"jwt\"]") != NULL, "%s", mfa.request);
    mfa_answer("/pass1", 400, "{}");
    CHECK_STATUS(
        mpin_trust_generate_quick_code(sdk, member_user, &code, "1234"),
        MPIN_HTTP_REQUEST_ERROR);
    CHECK(strstr(mfa.request, "[\"reg-code\"]") != NULL, "%s", mfa.request);
    mfa_answer("/pass1", 400, "{}");
    CHECK_STATUS(mpin_trust_sign(sdk, member_user, &s, ARG(hash), "1234"),
                 MPIN_HTTP_REQUEST_ERROR);
    CHECK(strstr(mfa.request, "[\"dvs-auth\"]") != NULL, "%s", mfa.request);
    mfa_answer("/pass1", 400, "{}");
    CHECK_STATUS(mpin_trust_authenticate_with_qr_code(sdk, member_user,
                                                      SESSION_URL, "1234"),
                 MPIN_HTTP_REQUEST_ERROR);
    CHECK(strstr(mfa.request, "[\"oidc\"]") != NULL, "%s", mfa.request);
    before = mfa.requests;
    mfa_answer("/pass2", 400, "{}");
    CHECK_STATUS(mpin_trust_authenticate_with_qr_code(sdk, member_user,
                                                      SESSION_URL, "1234"),
                 MPIN_HTTP_REQUEST_ERROR);
    CHECK(strcmp(member("WID"), "abcdef") == 0, "%s", mfa.request);
    CHECK(mfa.requests == before + 3, "%d requests", mfa.requests - before);
    /* Nothing is sent with a PIN that cannot be right. */
    CHECK_STATUS(mpin_trust_authenticate_with_qr_code(sdk, member_user,
                                                      SESSION_URL, "12345"),
                 MPIN_PIN_INVALID);
    CHECK(mfa.requests == before + 3, "%d requests", mfa.requests - before);
    /* No PIN is spent on a session that is gone. */
    mfa_answer("/codeStatus", 400, "{\"error\":\"INVALID_AUTH_SESSION\"}");
    CHECK_STATUS(mpin_trust_authenticate_with_qr_code(sdk, member_user,
                                                      SESSION_URL, "1234"),
                 MPIN_SESSION_INVALID);
    CHECK(strcmp(member("status"), "user") == 0, "%s", mfa.request);
    CHECK(strcmp(member("userId"), "alice") == 0, "%s", mfa.request);
}

/* Renewals that the client must not follow. */
static void trust_renewals(void)
{
    static const char *const wish =
        "{\"status\":200,\"message\":\"OK\",\"dvsRegister\":"
        "{\"token\":\"t\",\"curve\":\"%s\"}}";
    char answer[128];
    snprintf(answer, sizeof answer, wish, "BLS383");
    mfa_answer("/authenticate", 200, answer);
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_UNSUPPORTED_CURVE);
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_OK);
    /* A server that asks again right after a renewal would ask for ever. */
    snprintf(answer, sizeof answer, wish, "BN254CX");
    mfa_answer("/authenticate", 200, answer);
    mfa.server.renewal = NEW_KEY_PAIR;
    CHECK_STATUS(mpin_trust_authenticate_with_qr_code(sdk, member_user,
                                                      SESSION_URL, "1234"),
                 MPIN_RESPONSE_PARSE_ERROR);
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_OK);
}

static void trust_logins(void)
{
    mpin_trust_quick_code code;
    char jwt[16], small[2] = "x", before[FAKE_HEX_ID];
    size_t n = sizeof jwt;
    code.size = sizeof code;
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, jwt, &n, "1234"),
                 MPIN_OK);
    CHECK(strcmp(jwt, "a.b.c") == 0, "%s", jwt);
    n = sizeof small;
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, small, &n, "1234"),
                 MPIN_BUFFER_TOO_SMALL);
    CHECK(n == 6 && small[0] == 'x', "%zu bytes, %s", n, small);
    n = sizeof jwt;
    CHECK_STATUS(mpin_trust_get_jwt(sdk, member_user, jwt, &n), MPIN_OK);
    CHECK(strcmp(jwt, "a.b.c") == 0, "%s", jwt);
    CHECK_STATUS(mpin_trust_authenticate_with_qr_code(sdk, member_user,
                                                      SESSION_URL, "1234"),
                 MPIN_OK);
    n = sizeof jwt;
    CHECK_STATUS(mpin_trust_get_jwt(sdk, member_user, jwt, &n), MPIN_OK);
    CHECK(n == 1, "the JWT is still there");
    CHECK_STATUS(mpin_trust_authenticate_with_app_link(sdk, member_user,
                                                       SESSION_URL, "1234"),
                 MPIN_OK);
    CHECK_STATUS(mpin_trust_authenticate_with_app_link(
                     sdk, member_user, MFA_URL "/page#", "1234"),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_trust_authenticate_with_push_payload(
                     sdk, FAKE_PROJECT, "alice", SESSION_URL, "1234"),
                 MPIN_OK);
    CHECK_STATUS(mpin_trust_authenticate_with_push_payload(
                     sdk, "another", "alice", SESSION_URL, "1234"),
                 MPIN_PROJECT_MISMATCH);
    CHECK_STATUS(mpin_trust_authenticate_with_push_payload(
                     sdk, NULL, "nobody", SESSION_URL, "1234"),
                 MPIN_USER_NOT_FOUND);
    CHECK_STATUS(
        mpin_trust_generate_quick_code(sdk, member_user, &code, "1234"),
        MPIN_OK);
    CHECK(strcmp(code.code, "246810") == 0, "%s", code.code);
    CHECK(code.ttl_seconds == 300, "%d seconds", (int)code.ttl_seconds);
    CHECK(code.expire_time == 1893456000, "another time");
    /* A renewal: the login succeeds with a new M-Pin ID and the same PIN. */
    strcpy(before, mfa.server.mpin_id);
    mfa.server.renewal = NEW_KEY_PAIR;
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_OK);
    CHECK(strcmp(before, mfa.server.mpin_id) != 0, "no new identity");
    /* How the user was verified is that of the new M-Pin ID, which says
     * nothing of it here. */
    expect_text(user_verification, member_user, "");
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_OK);
}

static void trust_signing(void)
{
    static const uint8_t hash[] = {0, 255};
    mpin_trust_session session;
    mpin_signature s;
    session.size = sizeof session;
    s.size = sizeof s;
    CHECK_STATUS(mpin_trust_get_session_details(sdk, &session, SESSION_URL),
                 MPIN_OK);
    CHECK(strcmp(session.access_id, "abcdef") == 0, "%s", session.access_id);
    CHECK(strcmp(session.project_id, FAKE_PROJECT) == 0, "%s",
          session.project_id);
    CHECK(strcmp(session.user_id, "alice") == 0, "%s", session.user_id);
    CHECK(strcmp(session.description, "pay") == 0, "%s", session.description);
    CHECK(session.hash_len == 2 && memcmp(session.hash, hash, 2) == 0, "hash");
    CHECK(session.pin_length == 4, "%d", (int)session.pin_length);
    CHECK(session.screen_address[0] == 0, "%s", session.screen_address);
    CHECK_STATUS(
        mpin_trust_sign(sdk, member_user, &s, ARG(hash), "1234"), MPIN_OK);
    CHECK(s.timestamp == 1893456000, "another clock");
    CHECK(strcmp(s.mpin_id, mfa.server.mpin_id) == 0, "%s", s.mpin_id);
    CHECK_STATUS(mpin_trust_sign_session(sdk, member_user, SESSION_URL,
                                         ARG(hash), "1234"),
                 MPIN_OK);
    CHECK(strcmp(member("status"), "signed") == 0, "%s", mfa.request);
    CHECK_STATUS(mpin_trust_abort_session(sdk, SESSION_URL), MPIN_OK);
    CHECK(strcmp(member("status"), "abort") == 0, "%s", mfa.request);
    mfa_answer("/codeStatus", 400, "{\"error\":\"INVALID_AUTH_SESSION\"}");
    CHECK_STATUS(mpin_trust_abort_session(sdk, SESSION_URL),
                 MPIN_SESSION_INVALID);
}

/* What each answer that is an error means, in both of its forms. */
static void trust_errors(void)
{
    mpin_trust_error error;
    mpin_trust_verification mail;
    mpin_trust_activation made;
    mpin_user *other = NULL;
    error.size = sizeof error;
    mail.size = sizeof mail;
    made.size = sizeof made;
    mfa_answer("/verification/email", 429,
               "{\"error\":\"REQUEST_BACKOFF\",\"info\":\"i\","
               "\"context\":{\"backoff\":\"1893456060\"}}");
    CHECK_STATUS(mpin_trust_send_verification_email(sdk, &mail, "alice", "w"),
                 MPIN_REQUEST_BACKOFF);
    CHECK_STATUS(mpin_trust_get_last_error(sdk, &error), MPIN_OK);
    CHECK(error.retry_at == 1893456060, "not the server's time");
    CHECK(strcmp(error.code, "REQUEST_BACKOFF") == 0, "%s", error.code);
    mfa_answer("/confirmation", 400,
               "{\"error\":{\"code\":\"INVALID_VERIFICATION_CODE\","
               "\"context\":{\"projectId\":\"p\",\"accessId\":\"w\"}}}");
    CHECK_STATUS(mpin_trust_get_activation_token(sdk, &made, "alice", "1"),
                 MPIN_VERIFICATION_FAILED);
    CHECK_STATUS(mpin_trust_get_last_error(sdk, &error), MPIN_OK);
    CHECK(strcmp(error.project_id, "p") == 0, "%s", error.project_id);
    CHECK(strcmp(error.access_id, "w") == 0, "%s", error.access_id);
    mfa_answer("/confirmation", 200,
               "{\"actToken\":\"t\",\"projectId\":\"another\"}");
    CHECK_STATUS(mpin_trust_get_activation_token(sdk, &made, "alice", "1"),
                 MPIN_PROJECT_MISMATCH);
    mfa_answer("/registration", 403, "{\"error\":\"INVALID_ACTIVATION_TOKEN\"}");
    CHECK_STATUS(mpin_trust_start_registration(sdk, &other, "bob", "t", "push"),
                 MPIN_ACTIVATION_TOKEN_INVALID);
    CHECK(strcmp(member("pushToken"), "push") == 0, "%s", mfa.request);
    CHECK_STATUS(mpin_trust_start_registration(sdk, &other, "bob", "", NULL),
                 MPIN_INVALID_ARGUMENT);
    mfa_answer("/registration", 200,
               "{\"mpinId\":\"7b7d\",\"projectId\":\"" FAKE_PROJECT "\","
               "\"dtas\":\"WyJhIl0=\",\"curve\":\"BLS383\",\"pinLength\":4,"
               "\"secretUrls\":[\"" MFA_URL "/s\"]}");
    CHECK_STATUS(mpin_trust_start_registration(sdk, &other, "bob", "t", NULL),
                 MPIN_UNSUPPORTED_CURVE);
    mfa_answer("/authenticate", 401,
               "{\"error\":\"UNSUCCESSFUL_AUTHENTICATION\","
               "\"context\":{\"blockedUntil\":\"1893456099\"}}");
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_INCORRECT_PIN);
    CHECK_STATUS(mpin_trust_get_last_error(sdk, &error), MPIN_OK);
    CHECK(error.retry_at == 1893456099, "not the end of the block");
    expect_state(member_user, MPIN_USER_REGISTERED, 3);
    mfa_answer("/quickcode", 403,
               "{\"error\":\"LIMITED_QUICKCODE_GENERATION\"}");
    mpin_trust_quick_code code;
    code.size = sizeof code;
    CHECK_STATUS(
        mpin_trust_generate_quick_code(sdk, member_user, &code, "1234"),
        MPIN_OPERATION_NOT_ALLOWED);
    /* A share that does not come is asked for once more. */
    mfa_answer("/dta1/share", 503, "{}");
    CHECK_STATUS(mpin_trust_start_registration(sdk, &other, "bob", "t", NULL),
                 MPIN_OK);
    /* A user whose registration has not ended is none yet. */
    CHECK_STATUS(mpin_trust_authenticate_with_push_payload(
                     sdk, NULL, "bob", SESSION_URL, "1234"),
                 MPIN_USER_NOT_FOUND);
    mpin_user_free(other);
    mfa_answer("/pass1", 403, "{\"error\":\"MPINID_EXPIRED\"}");
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_REVOKED);
    expect_state(member_user, MPIN_USER_REVOKED, 4);
    /* A server that judges the PIN, as right or as wrong, accepts the identity
     * again. */
    mfa_answer("/authenticate", 401, "{\"error\":\"INVALID_AUTH\"}");
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_INCORRECT_PIN);
    expect_state(member_user, MPIN_USER_REGISTERED, 3);
    mfa_answer("/pass1", 403, "{\"error\":\"MPINID_EXPIRED\"}");
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_REVOKED);
    expect_state(member_user, MPIN_USER_REVOKED, 4);
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_OK);
    expect_state(member_user, MPIN_USER_REGISTERED, 3);
}

static void trust_export(void)
{
    static char text[8192];
    size_t exported = 99, imported = 99;
    struct stat status;
    const char *path = store_path("exported");
    CHECK_STATUS(mpin_trust_export_users(sdk, &exported, path), MPIN_OK);
    CHECK(exported == 1, "%zu users", exported);
    CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600, "mode");
    CHECK_STATUS(mpin_trust_export_users(sdk, &exported, path),
                 MPIN_STORAGE_ERROR);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL, "no file");
    CHECK(fread(text, 1, sizeof text - 1, file) > 0, "an empty file");
    fclose(file);
    CHECK_STATUS(mpin_sdk_delete_user(sdk, member_user), MPIN_OK);
    mpin_user_free(member_user);
    CHECK_STATUS(mpin_sdk_import_storage(sdk, &imported, MPIN_IMPORT_CLIENT_JS,
                                         text, NULL),
                 MPIN_OK);
    CHECK(imported == 1, "%zu users", imported);
    CHECK_STATUS(mpin_sdk_get_user(sdk, &member_user, "alice"), MPIN_OK);
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "1234"),
                 MPIN_OK);
    CHECK_STATUS(mpin_sdk_change_pin(sdk, member_user, "1234", "0042"),
                 MPIN_OK);
    CHECK_STATUS(mpin_trust_authenticate(sdk, member_user, NULL, NULL, "0042"),
                 MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, member_user),
                 MPIN_FLOW_ERROR);
    mpin_user_free(member_user);
}

static void trust_project(void)
{
    trust_registration();
    trust_registration_anew();
    trust_purposes();
    trust_logins();
    trust_renewals();
    trust_signing();
    trust_errors();
    trust_export();
    CHECK_STATUS(mpin_sdk_set_backend(sdk, MFA_URL, NULL), MPIN_OK);
}

#endif

/* The recorder and the player of bindings/c: a registration and a login with a
 * real server are recorded and played back, byte for byte where the randomness
 * is the same; what an old client and its servers said to each other
 * (Vectors/transcripts) plays, too.
 *
 *     recorder_test URL */
#define _DEFAULT_SOURCE

#include "check.h"
#include "program.h"
#include "store.h"

#include "../../bindings/c/mpin_recorder.h"

#include <jansson.h>

static struct program p;
static mpin_recorder *recorder;
static mpin_player *player;

static mpin_status execute(void *user, const mpin_http_request *request,
                           mpin_http_response *response)
{
    (void)user;
    return recorder ? mpin_recorder_execute(recorder, request, response)
                    : mpin_player_execute(player, request, response);
}

/* The state of the first call that fails, or MPIN_OK. */
static mpin_status register_and_log_in(const char *backend)
{
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    mpin_config config = program_config(&p);
    config.backend = backend;
    mpin_status s = mpin_sdk_new(&sdk);
    if (s == MPIN_OK)
        s = mpin_sdk_init(sdk, &config);
    if (s == MPIN_OK)
        s = mpin_sdk_make_new_user(sdk, &user, "rita", "phone");
    if (s == MPIN_OK)
        s = mpin_sdk_start_registration(sdk, user, NULL, NULL);
    if (s == MPIN_OK)
        s = mpin_sdk_confirm_registration(sdk, user, NULL);
    if (s == MPIN_OK)
        s = mpin_sdk_finish_registration(sdk, user, "1234");
    if (s == MPIN_OK)
        s = mpin_sdk_start_authentication(sdk, user);
    if (s == MPIN_OK)
        s = mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234");
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    program_forget(&p);
    return s;
}

static void play(const char *file, const char *backend, uint64_t seed,
                 int ignore_points, mpin_status expected)
{
    static const char *const points[] = {"U", "UT", "V"};
    player = mpin_player_new(file);
    CHECK(player, "no recording");
    if (player == NULL)
        return;
    for (int i = 0; ignore_points && i < 3; i++)
        mpin_player_ignore(player, points[i]);
    p.random_state = seed;
    CHECK_STATUS(register_and_log_in(backend), expected);
    CHECK((mpin_player_left(player) == 0) == (expected == MPIN_OK),
          "%zu exchanges are left", mpin_player_left(player));
    CHECK((*mpin_player_complaint(player) == '\0') == (expected == MPIN_OK),
          "%s", mpin_player_complaint(player));
    mpin_player_free(player);
    player = NULL;
}

static void recorded_here(const char *backend)
{
    const char *file = store_path("recording.json");
    recorder = mpin_recorder_new(file);
    CHECK(recorder, "no recorder");
    p.random_state = PROGRAM_SEED;
    CHECK_STATUS(register_and_log_in(backend), MPIN_OK);
    mpin_recorder_free(recorder);
    recorder = NULL;
    play(file, backend, PROGRAM_SEED, 0, MPIN_OK);
    play(file, backend, PROGRAM_SEED + 1, 0, MPIN_NETWORK_ERROR);
    play(file, backend, PROGRAM_SEED + 1, 1, MPIN_OK);
    play(file, "http://127.0.0.1:1", PROGRAM_SEED, 0, MPIN_NETWORK_ERROR);
    CHECK(mpin_player_new(store_path("nothing")) == NULL, "a player of nothing");
}

/* ---- Recordings of an old client ------------------------------------ */

#define HOST "http://127.0.0.1:"

/* A text with the recorded ports replaced. */
static json_t *on_port_1(const char *text)
{
    static char out[1 << 16];
    size_t n = 0;
    while (*text && n + 1 < sizeof out) {
        out[n++] = *text++;
        if (n >= strlen(HOST) &&
            memcmp(out + n - strlen(HOST), HOST, strlen(HOST)) == 0) {
            out[n++] = '1';
            text += strspn(text, "0123456789");
        }
    }
    out[n] = '\0';
    return json_string(out);
}

/* A body, which transcripts keep as JSON or as text. */
static json_t *body_text(const json_t *body)
{
    if (!json_is_object(body))
        return on_port_1(json_is_string(body) ? json_string_value(body) : "");
    char *text = json_dumps(body, JSON_COMPACT);
    json_t *value = on_port_1(text);
    free(text);
    return value;
}

/* Pages, and what a browser beside the phone asks; it redeems a login by its
 * one-time token alone. */
static int is_browsers(const char *target, const json_t *request)
{
    static const char *const targets[] = {"/", "/protected", "/rps/access",
                                          "/rps/getAccessNumber",
                                          "/rps/getQrUrl"};
    const json_t *proof = json_object_get(json_object_get(request, "body"),
                                          "mpinResponse");
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strcmp(target, targets[i]) == 0)
            return 1;
    return strcmp(target, "/mpinAuthenticate") == 0 &&
           !json_object_get(proof, "pass");
}

/* Whether the client took part: the other hops are between servers. */
static int is_clients(const json_t *exchange, const char *target)
{
    const char *hop = json_string_value(json_object_get(exchange, "hop"));
    return hop && (strcmp(hop, "rpa") == 0 || strcmp(hop, "cloud") == 0) &&
           strncmp(target, "/mpinVerify", 11) != 0 &&
           strncmp(target, "/mpinPermitUser", 15) != 0 &&
           strncmp(target, "/mpinActivate", 13) != 0 &&
           !is_browsers(target, json_object_get(exchange, "request"));
}

/* Where a recording holds two runs, their exchanges come in turn: the first of
 * each pair belongs to run 0. */
enum { FIRST_RUN, SECOND_RUN, ONLY_RUN };

static void convert(json_t *exchanges, const char *name, int run)
{
    char path[256];
    size_t i;
    int taken = 0;
    json_t *exchange;
    snprintf(path, sizeof path, "%s/%s.json", TRANSCRIPTS, name);
    json_t *transcript = json_load_file(path, 0, NULL);
    CHECK(transcript, "cannot read %s", path);
    json_array_foreach(json_object_get(transcript, "exchanges"), i, exchange)
    {
        const json_t *request = json_object_get(exchange, "request");
        const json_t *response = json_object_get(exchange, "response");
        const char *target =
            json_string_value(json_object_get(request, "target"));
        char url[4096];
        if (!target || !is_clients(exchange, target) ||
            (run != ONLY_RUN && taken++ % 2 != run))
            continue;
        snprintf(url, sizeof url, HOST "1%s", target);
        json_array_append_new(
            exchanges,
            json_pack("{s:{s:O, s:s, s:o}, s:{s:O, s:o}}", "request", "method",
                      json_object_get(request, "method"), "url", url, "body",
                      body_text(json_object_get(request, "body")), "response",
                      "status", json_object_get(response, "status"), "body",
                      body_text(json_object_get(response, "body"))));
    }
    json_decref(transcript);
}

/* What is played next: recordings, one after the other. */
static json_t *script;

static void add(const char *name, int run)
{
    if (script == NULL)
        script = json_pack("{s:[]}", "exchanges");
    convert(json_object_get(script, "exchanges"), name, run);
}

/* An exchange that no recording has. */
static void add_answer(const char *path, const char *body)
{
    char url[4096];
    snprintf(url, sizeof url, HOST "1%s", path);
    json_array_append_new(
        json_object_get(script, "exchanges"),
        json_pack("{s:{s:s, s:s, s:s}, s:{s:i, s:s}}", "request", "method",
                  "GET", "url", url, "body", "", "response", "status", 200,
                  "body", body));
}

/* Between the two logins of a recording whose first one is with a wrong PIN,
 * where the old client went on with the permit that it had, and ours asks for
 * another one: what is added after cut() and before paste(). */
enum { EXCHANGES_OF_A_LOGIN = 3 };

static json_t *cut(void)
{
    json_t *exchanges = json_object_get(script, "exchanges");
    json_t *last = json_array();
    const size_t first = json_array_size(exchanges) - EXCHANGES_OF_A_LOGIN;
    while (json_array_size(exchanges) > first) {
        json_array_append(last, json_array_get(exchanges, first));
        json_array_remove(exchanges, first);
    }
    return last;
}

static void paste(json_t *last)
{
    json_array_extend(json_object_get(script, "exchanges"), last);
    json_decref(last);
}

static mpin_sdk *begin_script(void)
{
    const char *file = store_path("old.json");
    mpin_sdk *sdk = NULL;
    mpin_config config = program_config(&p);
    program_forget(&p);
    CHECK(json_dump_file(script, file, 0) == 0, "cannot write %s", file);
    json_decref(script);
    script = NULL;
    player = mpin_player_new(file);
    if (player == NULL) {
        perror(file);
        exit(1);
    }
    /* The old client's randomness is not known. */
    mpin_player_ignore(player, "U");
    mpin_player_ignore(player, "UT");
    mpin_player_ignore(player, "V");
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    return sdk;
}

static void end_script(mpin_sdk *sdk, mpin_user *user)
{
    CHECK(mpin_player_left(player) == 0, "%zu exchanges are left",
          mpin_player_left(player));
    CHECK(*mpin_player_complaint(player) == '\0', "%s",
          mpin_player_complaint(player));
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    mpin_player_free(player);
    player = NULL;
}

static int32_t state_of(mpin_user *user)
{
    int32_t state = -1;
    CHECK_STATUS(mpin_user_get_state(user, &state), MPIN_OK);
    return state;
}

static mpin_status log_in(mpin_sdk *sdk, mpin_user *user, const char *pin)
{
    char data[256] = "";
    size_t n = sizeof data;
    const mpin_status s =
        mpin_sdk_finish_authentication(sdk, user, data, &n, pin);
    CHECK(s != MPIN_OK || strstr(data, "onSuccessLogin"), "%s", data);
    return s;
}

static void confirm(mpin_sdk *sdk, mpin_user *user)
{
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"), MPIN_OK);
}

/* ---- What the old client did, call by call -------------------------- */

static void forced_registration(void)
{
    static const char *const names[] = {
        "std-01-clientSettings", "std-02-register-force-activated",
        "std-04-timePermits-storage404-then-dta",
        "std-05-authenticate-right-pin", "std-06-timePermit-cached-in-client",
        "std-07-wrong-pin-then-right"};
    mpin_user *user = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        add(names[i], ONLY_RUN);
    json_t *login = cut();
    add("std-04-timePermits-storage404-then-dta", ONLY_RUN);
    /* The storage is not asked: its share may be what was wrong. */
    json_t *exchanges = json_object_get(script, "exchanges");
    json_array_remove(exchanges, json_array_size(exchanges) - 2);
    paste(login);
    mpin_sdk *sdk = begin_script();
    CHECK_STATUS(mpin_sdk_test_backend(sdk, HOST "1", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, HOST "1", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "reg1.29025@example.com",
                                        NULL),
                 MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, "ACT-CODE",
                                             "{\"k\":\"v\"}"),
                 MPIN_OK);
    confirm(sdk, user);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(log_in(sdk, user, "1234"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(log_in(sdk, user, "4321"), MPIN_INCORRECT_PIN);
    CHECK_STATUS(log_in(sdk, user, "1234"), MPIN_OK);
    end_script(sdk, user);
}

static void mailed_registration(int run, const char *id)
{
    mpin_user *user = NULL;
    add("std-01-clientSettings", ONLY_RUN);
    add("verify-01-register-needs-confirmation", run);
    add("verify-02-confirm-before-activation-401", run);
    add("verify-03-restart-registration", run);
    add("verify-05-confirm-after-activation", run);
    mpin_sdk *sdk = begin_script();
    CHECK_STATUS(mpin_sdk_test_backend(sdk, HOST "1", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, HOST "1", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, id, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, "{\"k\":1}"),
                 MPIN_OK);
    CHECK(state_of(user) == MPIN_USER_STARTED_REGISTRATION, "another state");
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL),
                 MPIN_IDENTITY_NOT_VERIFIED);
    CHECK_STATUS(mpin_sdk_restart_registration(sdk, user, NULL), MPIN_OK);
    CHECK(state_of(user) == MPIN_USER_STARTED_REGISTRATION, "another state");
    confirm(sdk, user);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(log_in(sdk, user, "1234"), MPIN_OK);
    end_script(sdk, user);
}

static void qr_code(void)
{
    const char *code = "f75dfd7607ec4213b177a3bd04651736";
    mpin_session_details details;
    mpin_user *user = NULL;
    int32_t can = -1;
    details.size = sizeof details;
    add("native-01-clientSettings-native", ONLY_RUN);
    add("native-03-register", ONLY_RUN);
    add("native-04-qr-login", ONLY_RUN);
    mpin_sdk *sdk = begin_script();
    CHECK_STATUS(mpin_sdk_set_backend(sdk, HOST "1", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "nat1.29158@example.com",
                                        NULL),
                 MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, NULL), MPIN_OK);
    confirm(sdk, user);
    CHECK_STATUS(mpin_sdk_get_session_details(sdk, &details, code), MPIN_OK);
    CHECK(strcmp(details.app_name, "Interop service") == 0, "%s",
          details.app_name);
    CHECK_STATUS(mpin_sdk_start_authentication_mfa(sdk, user, code), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication_an(sdk, user, "1234", code),
                 MPIN_OK);
    CHECK_STATUS(mpin_sdk_can_logout(sdk, user, &can), MPIN_OK);
    CHECK(can == 1, "no session");
    end_script(sdk, user);
}

/* A point that is one; the recorded servers do not look at ours. */
#define POINT                                                                  \
    "0421210a97ba3c2f1624a528761ce7a79b0034e635728e1f0ede9cd42b936a285b"       \
    "18bef6ffc45f6466206377c021e5e8537b617277dc54bd7dd4591f374e4a43b0"

/* The M-Pin ID of the login that a recording holds. */
static void id_in(const char *name, char *id, size_t room)
{
    json_t *all = json_pack("[]");
    size_t i;
    json_t *exchange;
    convert(all, name, ONLY_RUN);
    json_array_foreach(all, i, exchange)
    {
        json_t *body = json_loads(
            json_string_value(json_object_get(
                json_object_get(exchange, "request"), "body")),
            0, NULL);
        const char *found =
            json_string_value(json_object_get(body, "mpin_id"));
        if (found)
            snprintf(id, room, "%s", found);
        json_decref(body);
    }
    CHECK(*id, "nobody logs in in %s", name);
    json_decref(all);
}

/* A user whose registration no recording holds comes from another client. */
static mpin_user *imported(mpin_sdk *sdk, const char *id)
{
    char users[1024], secrets[1024];
    size_t count = 0;
    mpin_user *user = NULL;
    snprintf(users, sizeof users,
             "{\"%s\":{\"state\":\"REGISTERED\",\"backend\":\"" HOST "1\"}}", id);
    snprintf(secrets, sizeof secrets, "{\"%s\":{\"token\":\"" POINT "\"}}", id);
    CHECK_STATUS(mpin_sdk_import_storage(sdk, &count, MPIN_IMPORT_MILAGRO,
                                         users, secrets),
                 MPIN_OK);
    CHECK(count == 1, "%zu users", count);
    count = 1;
    CHECK_STATUS(mpin_sdk_list_users(sdk, &user, &count), MPIN_OK);
    return user;
}

static void one_time_password(void)
{
    char id[512] = "";
    mpin_otp otp;
    otp.size = sizeof otp;
    id_in("otp-03-otp-authenticate", id, sizeof id);
    add("otp-01-clientSettings-otp", ONLY_RUN);
    add("otp-03-otp-authenticate", ONLY_RUN);
    mpin_sdk *sdk = begin_script();
    CHECK_STATUS(mpin_sdk_set_backend(sdk, HOST "1", NULL), MPIN_OK);
    mpin_user *user = imported(sdk, id);
    CHECK_STATUS(mpin_sdk_start_authentication_otp(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication_otp(sdk, user, &otp, "1234"),
                 MPIN_OK);
    CHECK_STATUS(otp.status, MPIN_OK);
    CHECK(strcmp(otp.otp, "932826") == 0, "%s", otp.otp);
    CHECK(otp.expire_time == 1795229215 && otp.ttl_seconds == 60, "its times");
    end_script(sdk, user);
}

/* The permit of that day, which came before the recording: its second share
 * from the storage for the first login, then from the client's own store, and
 * after a wrong PIN from the second D-TA. */
enum { FROM_STORAGE, FROM_STORE, FROM_DTA };

static void add_permit(const char *id, int second)
{
    char path[1024], hash[2 * MPIN_DOCUMENT_HASH_SIZE + 1];
    uint8_t bytes[512], digest[MPIN_DOCUMENT_HASH_SIZE];
    size_t size = 0;
    unsigned byte;
    while (size < sizeof bytes && sscanf(id + 2 * size, "%2x", &byte) == 1)
        bytes[size++] = (uint8_t)byte;
    CHECK_STATUS(mpin_sdk_hash_document(digest, bytes, size), MPIN_OK);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hash + 2 * i, 3, "%02x", digest[i]);
    snprintf(path, sizeof path, "/rps/timePermit/%s", id);
    add_answer(path, "{\"date\":20778,\"timePermit\":\"" POINT
                     "\",\"signature\":\"00\",\"storageId\":\"00\"}");
    snprintf(path, sizeof path,
             "/tp/c0ffee00c98e11e4b69d02547e1fd4a1/20778/%s", hash);
    if (second == FROM_STORAGE)
        add_answer(path, POINT);
    snprintf(path, sizeof path,
             "/v3/timePermit?hash_mpin_id=%s&app_id="
             "c0ffee00c98e11e4b69d02547e1fd4a1&mobile=1&signature=00",
             hash);
    if (second == FROM_DTA)
        add_answer(path, "{\"timePermit\":\"" POINT "\"}");
}

static void access_numbers(void)
{
    char id[512] = "";
    int32_t can = -1;
    id_in("std-10-access-number-login", id, sizeof id);
    add("std-01-clientSettings", ONLY_RUN);
    add_permit(id, FROM_STORAGE);
    add("std-10-access-number-login", ONLY_RUN);
    add("std-11-logout", ONLY_RUN);
    add_permit(id, FROM_STORE);
    add("std-14-access-number-wrong-number-412", ONLY_RUN);
    add("std-15-access-number-wrong-pin-401-then-ok", ONLY_RUN);
    json_t *login = cut();
    add_permit(id, FROM_DTA);
    paste(login);
    mpin_sdk *sdk = begin_script();
    CHECK_STATUS(mpin_sdk_test_backend(sdk, HOST "1", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, HOST "1", NULL), MPIN_OK);
    mpin_user *user = imported(sdk, id);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(
        mpin_sdk_finish_authentication_an(sdk, user, "1234", "2700492"),
        MPIN_OK);
    CHECK_STATUS(mpin_sdk_logout(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(
        mpin_sdk_finish_authentication_an(sdk, user, "1234", "0000000"),
        MPIN_INCORRECT_ACCESS_NUMBER);
    CHECK_STATUS(
        mpin_sdk_finish_authentication_an(sdk, user, "1234", "9575081"),
        MPIN_INCORRECT_PIN);
    CHECK_STATUS(
        mpin_sdk_finish_authentication_an(sdk, user, "1234", "9575081"),
        MPIN_OK);
    CHECK_STATUS(mpin_sdk_can_logout(sdk, user, &can), MPIN_OK);
    CHECK(can == 1, "no session");
    end_script(sdk, user);
}

static void recorded_long_ago(void)
{
    forced_registration();
    mailed_registration(FIRST_RUN, "ver3.26899@example.com");
    mailed_registration(SECOND_RUN, "ver3.29151@example.com");
    qr_code();
    one_time_password();
    access_numbers();
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fputs("usage: recorder_test URL\n", stderr), 2;
    if (store_open() != 0)
        return perror("recorder_test"), 1;
    program_open(&p);
    program_forget(&p);
    p.context.http_execute = execute;
    recorded_here(argv[1]);
    recorded_long_ago();
    program_close(&p);
    store_close();
    return report("recorder_test");
}

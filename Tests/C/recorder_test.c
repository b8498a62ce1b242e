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

/* Whether the client took part: the other hops are between servers. */
static int is_clients(const json_t *exchange, const char *target)
{
    const char *hop = json_string_value(json_object_get(exchange, "hop"));
    return hop && (strcmp(hop, "rpa") == 0 || strcmp(hop, "cloud") == 0) &&
           strncmp(target, "/mpinVerify", 11) != 0 &&
           strncmp(target, "/mpinPermitUser", 15) != 0 &&
           strncmp(target, "/mpinActivate", 13) != 0;
}

static void convert(json_t *exchanges, const char *name)
{
    char path[256];
    size_t i;
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
        if (!target || !is_clients(exchange, target))
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

/* What the old client did, call by call. */
static void old_flow(mpin_sdk *sdk)
{
    mpin_user *user = NULL;
    char data[256];
    size_t n = sizeof data;
    CHECK_STATUS(mpin_sdk_test_backend(sdk, HOST "1", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, HOST "1", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "reg1.29025@example.com",
                                        NULL),
                 MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, "ACT-CODE",
                                             "{\"k\":\"v\"}"),
                 MPIN_OK);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, data, &n, "1234"),
                 MPIN_OK);
    CHECK(strstr(data, "onSuccessLogin"), "%s", data);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "4321"),
                 MPIN_INCORRECT_PIN);
    CHECK_STATUS(mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"),
                 MPIN_OK);
    mpin_user_free(user);
}

static void recorded_long_ago(void)
{
    static const char *const names[] = {
        "std-01-clientSettings", "std-02-register-force-activated",
        "std-04-timePermits-storage404-then-dta",
        "std-05-authenticate-right-pin", "std-06-timePermit-cached-in-client",
        "std-07-wrong-pin-then-right"};
    const char *file = store_path("old.json");
    json_t *all = json_pack("{s:[]}", "exchanges");
    mpin_sdk *sdk = NULL;
    mpin_config config = program_config(&p);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        convert(json_object_get(all, "exchanges"), names[i]);
    CHECK(json_dump_file(all, file, 0) == 0, "cannot write %s", file);
    json_decref(all);
    player = mpin_player_new(file);
    CHECK(player && mpin_player_left(player) > 10, "too little is recorded");
    if (player == NULL)
        return;
    /* The old client's randomness is not known. */
    mpin_player_ignore(player, "U");
    mpin_player_ignore(player, "UT");
    mpin_player_ignore(player, "V");
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    old_flow(sdk);
    CHECK(mpin_player_left(player) == 0, "%zu exchanges are left",
          mpin_player_left(player));
    CHECK(*mpin_player_complaint(player) == '\0', "%s",
          mpin_player_complaint(player));
    mpin_sdk_free(sdk);
    mpin_player_free(player);
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

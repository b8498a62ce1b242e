/* Tests mpin_context with callbacks that work, that fail at each call in
 * turn, that call the library again, that return garbage or too much data,
 * and that take too long. */
#define _GNU_SOURCE

#include "check.h"
#include "program.h"
#include "store.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <time.h>

#define PIN "83917"

static struct program p;
static mpin_sdk *sdk;
static mpin_user *user;

/* ---- A registration and a login, step by step ----------------------- */

enum { INIT, BACKEND, MAKE, START, CONFIRM, FINISH, BEGIN, LOGIN, STEPS };

static mpin_status step(int number)
{
    mpin_config config = program_config(&p);
    switch (number) {
    case INIT: return mpin_sdk_init(sdk, &config);
    case BACKEND: return mpin_sdk_set_backend(sdk, PROGRAM_BACKEND, NULL);
    case MAKE: return mpin_sdk_make_new_user(sdk, &user, "alice", NULL);
    case START: return mpin_sdk_start_registration(sdk, user, NULL, NULL);
    case CONFIRM: return mpin_sdk_confirm_registration(sdk, user, NULL);
    case FINISH: return mpin_sdk_finish_registration(sdk, user, PIN);
    case BEGIN: return mpin_sdk_start_authentication(sdk, user);
    default:
        return mpin_sdk_finish_authentication(sdk, user, NULL, NULL, PIN);
    }
}

static void begin(void)
{
    user = NULL;
    p.calls = p.fail_at = p.failed = 0;
    p.random_state = PROGRAM_SEED;
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
}

static void end(void)
{
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    p.answer = NULL;
    p.change = NULL;
}

static void walk(int first, int last)
{
    for (int i = first; i <= last; i++)
        CHECK_STATUS(step(i), MPIN_OK);
}

static int32_t state(void)
{
    int32_t value = -1;
    if (user)
        CHECK_STATUS(mpin_user_get_state(user, &value), MPIN_OK);
    return value;
}

/* Logs in with another sdk on the same stored data, as after a restart. */
static void log_in_after_restart(void)
{
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    begin();
    walk(INIT, BACKEND);
    CHECK_STATUS(mpin_sdk_get_user(sdk, &user, "alice"), MPIN_OK);
    CHECK(state() == MPIN_USER_REGISTERED, "state %d", state());
    walk(BEGIN, LOGIN);
}

static void works(void)
{
    program_forget(&p);
    begin();
    walk(INIT, LOGIN);
    CHECK(p.server.logins == 1, "%d logins", p.server.logins);
    CHECK(p.sets[MPIN_STORAGE_SECURE] == 1, "the key was stored %d times",
          p.sets[MPIN_STORAGE_SECURE]);
    CHECK(p.stored_len[MPIN_STORAGE_SECURE] == 64, "the key has %zu bytes",
          p.stored_len[MPIN_STORAGE_SECURE]);
    CHECK(strspn(p.stored[1], "0123456789abcdef") >= 64, "the key is no hex");
    p.stored[0][p.stored_len[0]] = '\0';
    CHECK(strncmp(p.stored[0], "mpin-store ", 11) == 0, "%s", p.stored[0]);
    CHECK(!strstr(p.stored[0], "alice") && !strstr(p.stored[0], "616c696365"),
          "the store can be read");
    log_in_after_restart();
    end();
}

/* ---- The stack frames through which a PIN passes -------------------- */

/* The largest allowed number of frames that count_frames finds. With a
 * sanitizer there are more, because fewer functions are inlined. */
#if defined(__has_feature) && !defined(LONGEST_WAY)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LONGEST_WAY 40
#endif
#endif
#ifndef LONGEST_WAY
#define LONGEST_WAY 12
#endif

static int deepest;

/* Counts the stack frames of the library between the program and this
 * callback (http_execute), among them that of the C function that the program
 * has called. Answers the request. */
static mpin_status count_frames(struct program *self,
                                const mpin_http_request *request,
                                mpin_http_response *response)
{
    void *frames[64];
    Dl_info of;
    struct fake_answer a;
    char body[4096] = "";
    int found = 0;
    const int count = backtrace(frames, 64);
    for (int i = 0; i < count; i++)
        found += dladdr(frames[i], &of) && strstr(of.dli_fname, "libmpin.so");
    deepest = found > deepest ? found : deepest;
    memcpy(body, request->body,
           request->body_len < sizeof body ? request->body_len : 0);
    fake_serve(&self->server, &a, request->method,
               strchr(strstr(request->url, "://") + 3, '/'), body);
    return program_reply(response, a.status, a.body, strlen(a.body));
}

/* Tests that only a few stack frames are between a C function that gets a PIN
 * and http_execute, because a copy of the PIN could be left in each. */
static void short_way(void)
{
    program_forget(&p);
    begin();
    walk(INIT, BEGIN);
    deepest = 0;
    p.answer = count_frames;
    walk(LOGIN, LOGIN);
    CHECK(deepest >= 3, "%d frames: they are not seen", deepest);
    CHECK(deepest <= LONGEST_WAY, "%d frames", deepest);
    end();
}

/* ---- Failures ------------------------------------------------------- */

static mpin_status meaning(char failed)
{
    switch (failed) {
    case 'h': return MPIN_NETWORK_ERROR;
    case 'r': return MPIN_RANDOM_FAILED;
    default: return MPIN_STORAGE_ERROR;
    }
}

/* Lets the call with this number fail, counted over all callbacks. The step
 * in which it is made must report the reason and change nothing, and must
 * succeed when it is repeated. */
static void fails_at(int number)
{
    program_forget(&p);
    begin();
    p.fail_at = number;
    for (int i = 0; i < STEPS; i++) {
        const int32_t before = state();
        const mpin_status status = step(i);
        if (status == MPIN_OK)
            continue;
        CHECK(p.failed && status == meaning(p.failed),
              "call %d ('%c'), step %d: status %d", number, p.failed, i,
              (int)status);
        CHECK(state() == before, "call %d: state %d", number, state());
        if (i == LOGIN)
            CHECK_STATUS(step(BEGIN), MPIN_OK);
        CHECK_STATUS(step(i), MPIN_OK);
    }
    CHECK(p.failed, "call %d was not made", number);
    log_in_after_restart();
    end();
}

static void fails_at_every_call(void)
{
    program_forget(&p);
    begin();
    walk(INIT, LOGIN);
    const int calls = p.calls;
    end();
    CHECK(calls > 15, "%d calls only", calls);
    for (int number = 1; number <= calls; number++)
        fails_at(number);
}

/* ---- HTTP ----------------------------------------------------------- */

/* The next answer of http_execute. */
static struct {
    mpin_status status;
    int http_status;
    size_t size;
    unsigned char filling;
} reply;

static mpin_status answer_as_told(struct program *program,
                                  const mpin_http_request *request,
                                  mpin_http_response *response)
{
    static unsigned char body[2 << 20];
    mpin_status s = MPIN_OK;
    (void)program;
    (void)request;
    memset(body, reply.filling, sizeof body);
    if (reply.http_status)
        s = mpin_http_response_set_status(response, reply.http_status);
    CHECK_STATUS(s, MPIN_OK);
    s = mpin_http_response_append_body(response, body, reply.size);
    CHECK_STATUS(s, reply.size > 1 << 20 ? MPIN_BUFFER_TOO_SMALL : MPIN_OK);
    return reply.status;
}

static void strange_answers(void)
{
    const struct {
        mpin_status status;
        int http_status;
        size_t size;
        mpin_status expected;
    } table[] = {
        {MPIN_OK, 200, 0, MPIN_RESPONSE_PARSE_ERROR},
        {MPIN_OK, 200, 7, MPIN_RESPONSE_PARSE_ERROR},
        {MPIN_OK, 200, 1 << 20, MPIN_RESPONSE_PARSE_ERROR},
        {MPIN_OK, 200, (1 << 20) + 1, MPIN_RESPONSE_PARSE_ERROR},
        {MPIN_OK, 0, 7, MPIN_NETWORK_ERROR},
        {MPIN_OK, 100, 0, MPIN_NETWORK_ERROR},
        {MPIN_OK, 204, 0, MPIN_RESPONSE_PARSE_ERROR},
        {MPIN_OK, 302, 0, MPIN_NETWORK_ERROR},
        {MPIN_OK, 404, 7, MPIN_HTTP_REQUEST_ERROR},
        {MPIN_OK, 406, 7, MPIN_BAD_USER_AGENT},
        {MPIN_OK, 429, 7, MPIN_TOO_MANY_REQUESTS},
        {MPIN_OK, 503, 7, MPIN_HTTP_SERVER_ERROR},
        {MPIN_NETWORK_ERROR, 200, 7, MPIN_NETWORK_ERROR},
        {MPIN_TIMED_OUT, 200, 7, MPIN_TIMED_OUT},
        {MPIN_CANCELED, 200, 7, MPIN_CANCELED},
        {MPIN_INCORRECT_PIN, 200, 7, MPIN_NETWORK_ERROR},
        {-1, 200, 7, MPIN_NETWORK_ERROR},
        {INT32_MAX, 200, 7, MPIN_NETWORK_ERROR},
    };
    const unsigned char fillings[] = {0, '[', '"', 0xff, '1'};
    program_forget(&p);
    begin();
    walk(INIT, MAKE);
    p.answer = answer_as_told;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        for (size_t k = 0; k < sizeof fillings; k++) {
            reply.status = table[i].status;
            reply.http_status = table[i].http_status;
            reply.size = table[i].size;
            reply.filling = fillings[k];
            CHECK_STATUS(step(START), table[i].expected);
        }
    end();
}

static mpin_http_response *kept_response;

static mpin_status answer_badly(struct program *program,
                                const mpin_http_request *request,
                                mpin_http_response *r)
{
    const uint8_t byte = 'x';
    int32_t canceled = -1;
    mpin_storage_data *foreign = (mpin_storage_data *)(void *)r;
    (void)program;
    CHECK(request->size == sizeof *request, "size %zu", request->size);
    CHECK(strcmp(request->method, "GET") == 0, "%s", request->method);
    CHECK(request->timeout_ms > 0 && request->timeout_ms <= 10000, "%u ms",
          request->timeout_ms);
    const int wrong[] = {0, -1, 99, 600, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 6; i++)
        CHECK_STATUS(mpin_http_response_set_status(r, wrong[i]),
                     MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_set_status(NULL, 200), MPIN_INVALID_HANDLE);
    CHECK_STATUS(mpin_http_response_add_header(r, NULL, "x"),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_add_header(r, "", "x"),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_add_header(r, "x", NULL),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_add_header(r, "x", "\xff\xfe"), MPIN_OK);
    CHECK_STATUS(mpin_http_response_append_body(r, NULL, 1),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_append_body(r, NULL, 0), MPIN_OK);
    CHECK_STATUS(mpin_http_response_append_body(r, &byte, SIZE_MAX),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_is_canceled(r, NULL),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_is_canceled(r, &canceled), MPIN_OK);
    CHECK(canceled == 0, "canceled");
    CHECK_STATUS(mpin_http_response_may_connect(r, NULL, &canceled),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_may_connect(r, "example.com", &canceled),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_may_connect(r, "::1", NULL),
                 MPIN_INVALID_ARGUMENT);
    CHECK_STATUS(mpin_http_response_may_connect(r, "::1", &canceled), MPIN_OK);
    CHECK(canceled == 1, "what the program names may be anywhere");
    CHECK_STATUS(mpin_storage_data_append(foreign, &byte, 1),
                 MPIN_INVALID_HANDLE);
    kept_response = r;
    return MPIN_NETWORK_ERROR;
}

static mpin_status answer_with_headers(struct program *program,
                                       const mpin_http_request *request,
                                       mpin_http_response *response)
{
    static char value[(1 << 19) - 8];
    (void)program;
    (void)request;
    memset(value, 'x', sizeof value - 1);
    CHECK_STATUS(mpin_http_response_add_header(response, "a", value), MPIN_OK);
    CHECK_STATUS(mpin_http_response_add_header(response, "b", value),
                 MPIN_OK);
    CHECK_STATUS(mpin_http_response_add_header(response, "c", value),
                 MPIN_INVALID_ARGUMENT);
    return program_reply(response, 200, "{}", 2);
}

static void wrong_arguments(void)
{
    const uint8_t byte = 'x';
    int32_t canceled;
    begin();
    walk(INIT, INIT);
    p.answer = answer_badly;
    CHECK_STATUS(step(BACKEND), MPIN_NETWORK_ERROR);
    CHECK_STATUS(mpin_http_response_set_status(kept_response, 200),
                 MPIN_INVALID_HANDLE);
    CHECK_STATUS(mpin_http_response_add_header(kept_response, "x", "x"),
                 MPIN_INVALID_HANDLE);
    CHECK_STATUS(mpin_http_response_append_body(kept_response, &byte, 1),
                 MPIN_INVALID_HANDLE);
    CHECK_STATUS(mpin_http_response_is_canceled(kept_response, &canceled),
                 MPIN_INVALID_HANDLE);
    p.answer = answer_with_headers;
    CHECK_STATUS(step(BACKEND), MPIN_RESPONSE_PARSE_ERROR);
    end();
}

/* Tests URLs that must not be requested. No callback may be called for them. */
static void urls(void)
{
    begin();
    walk(INIT, INIT);
    p.http_calls = 0;
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "http://example.com", NULL),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "ftp://127.0.0.1", NULL),
                 MPIN_UNTRUSTED_DOMAIN_ERROR);
    CHECK(p.http_calls == 0, "%d requests", p.http_calls);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, "https://example.com", NULL),
                 MPIN_OK);
    CHECK(p.http_calls == 1, "%d requests", p.http_calls);
    end();
}

/* ---- Time ----------------------------------------------------------- */

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static mpin_status answer_late(struct program *program,
                               const mpin_http_request *request,
                               mpin_http_response *response)
{
    (void)program;
    pause_ms((long)request->timeout_ms + 20);
    return program_reply(response, 200, "{}", 2);
}

static void too_late(void)
{
    mpin_config config = program_config(&p);
    config.timeout_ms = 500;
    begin();
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    p.answer = answer_late;
    CHECK_STATUS(step(BACKEND), MPIN_TIMED_OUT);
    p.answer = NULL;
    walk(BACKEND, BACKEND);
    end();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_waiting;

static mpin_status answer_when_canceled(struct program *program,
                                        const mpin_http_request *request,
                                        mpin_http_response *response)
{
    int32_t canceled = 0;
    (void)program;
    (void)request;
    pthread_mutex_lock(&lock);
    is_waiting = 1;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 5000 && !canceled; i++) {
        pause_ms(1);
        if (mpin_http_response_is_canceled(response, &canceled) != MPIN_OK)
            return MPIN_NETWORK_ERROR;
    }
    /* This status has no effect, because the call was cancelled. */
    return MPIN_NETWORK_ERROR;
}

static void *cancel(void *unused)
{
    (void)unused;
    for (int done = 0; !done; pause_ms(1)) {
        pthread_mutex_lock(&lock);
        done = is_waiting;
        pthread_mutex_unlock(&lock);
    }
    return mpin_sdk_cancel(sdk) == MPIN_OK ? NULL : &lock;
}

static void canceled(void)
{
    pthread_t thread;
    void *result = NULL;
    begin();
    walk(INIT, INIT);
    p.answer = answer_when_canceled;
    is_waiting = 0;
    pthread_create(&thread, NULL, cancel, NULL);
    CHECK_STATUS(step(BACKEND), MPIN_CANCELED);
    pthread_join(thread, &result);
    CHECK(result == NULL, "the cancel failed");
    p.answer = NULL;
    walk(BACKEND, BACKEND);
    end();
}

/* ---- Calling the library from a callback ---------------------------- */

static int entered;

static void enter_again(void)
{
    size_t n = 0;
    char text[256];
    entered++;
    CHECK_STATUS(mpin_sdk_list_all_users(sdk, NULL, &n), MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, PROGRAM_BACKEND, NULL),
                 MPIN_FLOW_ERROR);
    CHECK_STATUS(mpin_sdk_destroy(sdk), MPIN_FLOW_ERROR);
    if (user) {
        CHECK_STATUS(mpin_sdk_start_authentication(sdk, user),
                     MPIN_FLOW_ERROR);
        CHECK_STATUS(mpin_sdk_delete_user(sdk, user), MPIN_FLOW_ERROR);
        n = sizeof text;
        CHECK_STATUS(mpin_user_get_id(user, text, &n), MPIN_OK);
    }
    n = sizeof text;
    CHECK_STATUS(mpin_sdk_last_error(sdk, text, &n), MPIN_OK);
}

static mpin_status again_http(void *u, const mpin_http_request *request,
                              mpin_http_response *response)
{
    enter_again();
    return program_http(u, request, response);
}
static mpin_status again_get(void *u, mpin_storage_data *data, int32_t kind)
{
    enter_again();
    return program_get(u, data, kind);
}
static mpin_status again_set(void *u, int32_t kind, const uint8_t *bytes,
                             size_t n)
{
    enter_again();
    return program_set(u, kind, bytes, n);
}
static mpin_status again_random(void *u, uint8_t *out, size_t n)
{
    enter_again();
    return program_random(u, out, n);
}
static void again_log(void *u, int32_t level, const char *text)
{
    enter_again();
    program_log(u, level, text);
}

static void reentered(void)
{
    const mpin_context plain = p.context;
    p.context.http_execute = again_http;
    p.context.storage_get = again_get;
    p.context.storage_set = again_set;
    p.context.random = again_random;
    p.context.log = again_log;
    program_forget(&p);
    begin();
    walk(INIT, LOGIN);
    CHECK(entered > 20, "%d times only", entered);
    p.context = plain;
    end();
}

/* Tests that a program may delete the stored users, and clear those in
 * memory, while the sdk is initialised. */
static void emptied(void)
{
    program_forget(&p);
    begin();
    walk(INIT, LOGIN);
    p.stored_len[MPIN_STORAGE_USERS] = 0;
    CHECK_STATUS(mpin_sdk_clear_users(sdk), MPIN_OK);
    mpin_user_free(user);
    walk(MAKE, LOGIN);
    end();
}

static mpin_status answer_and_free(struct program *program,
                                   const mpin_http_request *request,
                                   mpin_http_response *response)
{
    (void)program;
    (void)request;
    mpin_sdk_free(sdk);
    return program_reply(response, 500, "{}", 2);
}

static void freed(void)
{
    begin();
    walk(INIT, INIT);
    p.answer = answer_and_free;
    CHECK_STATUS(step(BACKEND), MPIN_HTTP_SERVER_ERROR);
    CHECK_STATUS(step(BACKEND), MPIN_INVALID_HANDLE);
    end();
}

/* ---- Storage -------------------------------------------------------- */

static mpin_storage_data *kept_data;

static mpin_status get_too_much(void *u, mpin_storage_data *data, int32_t kind)
{
    static uint8_t chunk[1 << 20];
    (void)u;
    (void)kind;
    kept_data = data;
    CHECK_STATUS(mpin_storage_data_append(data, NULL, 1),
                 MPIN_INVALID_ARGUMENT);
    for (int i = 0; i < 64; i++)
        CHECK_STATUS(mpin_storage_data_append(data, chunk, sizeof chunk),
                     MPIN_OK);
    CHECK_STATUS(mpin_storage_data_append(data, chunk, 1),
                 MPIN_BUFFER_TOO_SMALL);
    return MPIN_OK;
}

static mpin_status get_invalid(void *u, mpin_storage_data *data, int32_t kind)
{
    (void)u;
    (void)data;
    (void)kind;
    return 12345;
}

static void init_gives(mpin_status expected)
{
    begin();
    CHECK_STATUS(step(INIT), expected);
    end();
}

static void strange_storage(void)
{
    static char users[PROGRAM_STORE], secure[PROGRAM_STORE];
    const size_t users_len = p.stored_len[0], secure_len = p.stored_len[1];
    const char *garbage[] = {"x", "mpin-store ", "mpin-store 2\n",
                             "mpin-store 2 argon2id 99999 1 00\n",
                             "mpin-store 2\nzz\n", "\xff\xfe\xfd"};
    memcpy(users, p.stored[0], sizeof users);
    memcpy(secure, p.stored[1], sizeof secure);
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        strcpy(p.stored[0], garbage[i]);
        p.stored_len[0] = strlen(garbage[i]);
        init_gives(MPIN_STORAGE_ERROR);
    }
    strcpy(p.stored[0], "mpin-store 3\n");
    p.stored_len[0] = 13;
    init_gives(MPIN_UNSUPPORTED_FORMAT);
    memcpy(p.stored[0], users, sizeof users);
    p.stored_len[0] = users_len;
    /* Tests wrong keys of the store, which are kept in stored[1]: keys that
     * are missing (n = 0) or cut off after n digits, a key with a letter that
     * is no hex digit, and the key of another store. */
    for (size_t n = 0; n < secure_len; n += 21) {
        p.stored_len[1] = n;
        init_gives(MPIN_STORAGE_ERROR);
    }
    p.stored_len[1] = secure_len;
    p.stored[1][5] = 'x';
    init_gives(MPIN_STORAGE_ERROR);
    p.stored[1][5] = secure[5] == '0' ? '1' : '0';
    init_gives(MPIN_STORAGE_ERROR);
    memcpy(p.stored[1], secure, sizeof secure);

    const mpin_context plain = p.context;
    p.context.storage_get = get_too_much;
    init_gives(MPIN_STORAGE_ERROR);
    CHECK_STATUS(mpin_storage_data_append(kept_data, (uint8_t *)"x", 1),
                 MPIN_INVALID_HANDLE);
    CHECK_STATUS(mpin_storage_data_append(NULL, (uint8_t *)"x", 1),
                 MPIN_INVALID_HANDLE);
    p.context.storage_get = get_invalid;
    init_gives(MPIN_STORAGE_ERROR);
    p.context = plain;
    init_gives(MPIN_OK);
}

static void damaged_record(void)
{
    size_t count = 99;
    program_forget(&p);
    begin();
    walk(INIT, LOGIN);
    mpin_user_free(user);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "bob", NULL), MPIN_OK);
    walk(START, FINISH);
    CHECK_STATUS(mpin_sdk_damaged_records(sdk, &count), MPIN_OK);
    CHECK(count == 0, "%zu damaged records", count);
    end();
    char *line = memchr(p.stored[0], '\n', p.stored_len[0]);
    line[100] = line[100] == '0' ? '1' : '0';
    begin();
    walk(INIT, BACKEND);
    CHECK_STATUS(mpin_sdk_damaged_records(sdk, &count), MPIN_OK);
    CHECK(count >= 1, "%zu damaged records", count);
    CHECK_STATUS(mpin_sdk_get_user(sdk, &user, "bob"), MPIN_OK);
    walk(BEGIN, LOGIN);
    end();
}

/* ---- Keys ----------------------------------------------------------- */

static uint8_t key_byte;
static mpin_status key_status;

static mpin_status supply_key(void *u, uint8_t key[32])
{
    (void)u;
    enter_again();
    memset(key, key_byte, 32);
    return key_status;
}

static void supplied_key(void)
{
    program_forget(&p);
    p.context.storage_key = supply_key;
    key_byte = 7;
    key_status = MPIN_OK;
    begin();
    walk(INIT, LOGIN);
    CHECK(p.sets[MPIN_STORAGE_SECURE] == 0, "a key was stored all the same");
    log_in_after_restart();
    end();
    key_byte = 8;
    init_gives(MPIN_STORAGE_ERROR);
    key_byte = 7;
    key_status = MPIN_NETWORK_ERROR;
    init_gives(MPIN_STORAGE_ERROR);
    p.context.storage_key = NULL;
    init_gives(MPIN_STORAGE_ERROR);
}

static mpin_status init_with(const char *file, const char *passphrase)
{
    mpin_config config = program_config(&p);
    mpin_context context = p.context;
    context.storage_get = NULL;
    context.storage_set = NULL;
    config.context = &context;
    config.storage_path = file;
    config.storage_passphrase = passphrase;
    return mpin_sdk_init(sdk, &config);
}

static void passphrase_gives(const char *file, const char *passphrase,
                             mpin_status expected)
{
    begin();
    CHECK_STATUS(init_with(file, passphrase), expected);
    end();
}

static void passphrase(void)
{
    const char *file = store_path("sealed");
    char line[160] = "";
    passphrase_gives(file, "", MPIN_INVALID_ARGUMENT);
    begin();
    CHECK_STATUS(init_with(file, "correct horse"), MPIN_OK);
    walk(BACKEND, LOGIN);
    end();
    FILE *f = fopen(file, "r");
    CHECK(f && fgets(line, sizeof line, f), "no store");
    CHECK(strncmp(line, "mpin-store 2 argon2id 3 65536 ", 30) == 0, "%s", line);
    if (f)
        fclose(f);
    CHECK(access(store_path("sealed.key"), F_OK) != 0, "there is a key file");

    begin();
    CHECK_STATUS(init_with(file, "wrong horse"), MPIN_STORAGE_ERROR);
    char text[256];
    size_t n = sizeof text;
    CHECK_STATUS(mpin_sdk_last_error(sdk, text, &n), MPIN_OK);
    CHECK(strstr(text, "passphrase") && !strstr(text, "horse"), "%s", text);
    end();
    passphrase_gives(file, "Correct horse", MPIN_STORAGE_ERROR);
    passphrase_gives(file, NULL, MPIN_STORAGE_ERROR);

    begin();
    CHECK_STATUS(init_with(file, "correct horse"), MPIN_OK);
    walk(BACKEND, BACKEND);
    CHECK_STATUS(mpin_sdk_get_user(sdk, &user, "alice"), MPIN_OK);
    walk(BEGIN, LOGIN);
    end();
}

/* ---- Randomness, log, structures ------------------------------------ */

static mpin_status no_random(void *u, uint8_t *out, size_t n)
{
    (void)u;
    (void)out;
    (void)n;
    return MPIN_OK;
}

/* Tests a random generator that reports success but writes nothing. */
static void silent_generator(void)
{
    program_forget(&p);
    p.context.random = no_random;
    init_gives(MPIN_RANDOM_FAILED);
    CHECK(p.stored_len[1] == 0, "a key of zeros was stored");
    p.context.random = program_random;
    begin();
    walk(INIT, FINISH);
    end();
    p.context.random = no_random;
    begin();
    walk(INIT, BACKEND);
    CHECK_STATUS(mpin_sdk_get_user(sdk, &user, "alice"), MPIN_OK);
    walk(BEGIN, BEGIN);
    CHECK_STATUS(step(LOGIN), MPIN_RANDOM_FAILED);
    p.context.random = program_random;
    end();
}

/* Checks the log that all tests above have written. program_close searches it
 * for long numbers. */
static void log_tells_no_secret(void)
{
    CHECK(p.log_lines > 100, "%d lines", p.log_lines);
    CHECK(p.wrong_levels == 0, "%d unknown levels", p.wrong_levels);
    CHECK(strstr(p.log, "HTTP 200"), "no exchange is told");
    CHECK(strstr(p.log, "STORAGE_ERROR"), "no failure is told");
    CHECK(!strstr(p.log, PIN) && !strstr(p.log, "horse"), "a secret");
}

static void structures(void)
{
    struct {
        mpin_context known;
        char more[64];
    } newer;
    mpin_config config = program_config(&p);
    const size_t wrong[] = {0, sizeof(size_t), SIZE_MAX, (size_t)1 << 40};
    memset(&newer, 0, sizeof newer);
    newer.known = p.context;
    config.context = &newer.known;
    begin();
    for (int i = 0; i < 4; i++) {
        newer.known.size = wrong[i];
        CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_INVALID_ARGUMENT);
    }
    newer.known.size = sizeof newer;
    newer.more[63] = 1;
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_INVALID_ARGUMENT);
    newer.more[63] = 0;
    newer.known.storage_set = NULL;
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_INVALID_ARGUMENT);
    newer.known.storage_set = program_set;
    newer.known.storage_key = supply_key;
    config.storage_passphrase = "two keys";
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_INVALID_ARGUMENT);
    config.storage_passphrase = NULL;
    newer.known.storage_key = NULL;
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);

    /* The library has copied the context, so the caller may overwrite its
     * own. */
    memset(&newer, 0xA5, sizeof newer);
    walk(BACKEND, BACKEND);
    end();

    /* Tests an older program, whose structure ends after http_execute. */
    memset(&newer, 0xA5, sizeof newer);
    newer.known.size = offsetof(mpin_context, storage_get);
    newer.known.user = &p;
    newer.known.http_execute = program_http;
    config.storage_path = store_path("older");
    begin();
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    walk(BACKEND, LOGIN);
    end();
}

int main(void)
{
    if (store_open() != 0)
        return perror("context_test"), 1;
    program_open(&p);
    works();
    short_way();
    fails_at_every_call();
    strange_answers();
    wrong_arguments();
    urls();
    too_late();
    canceled();
    reentered();
    emptied();
    freed();
    strange_storage();
    damaged_record();
    supplied_key();
    passphrase();
    silent_generator();
    log_tells_no_secret();
    structures();
    program_close(&p);
    store_close();
    return report("context_test");
}

/* A libFuzzer target for sequences of mpin.h calls. One byte of the input
 * selects the function of the header (functions.py). More bytes select, for
 * each argument, whether it is right, taken from the input, a freed handle
 * or NULL. HTTP answers are such as a server might give, or bytes of the
 * input. A callback may call the library again.
 *
 * It checks that each result is a documented one. */
#include "../../C/functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(why) (fprintf(stderr, "sdk.c:%d: %s\n", __LINE__, why), abort())

static const uint8_t *cursor;
static size_t left;

static uint8_t byte(void)
{
    return left ? left--, *cursor++ : 0;
}

/* `owned` is the memory that calls have used, which is freed after the input.
 * The others are the valid handles and the stored data. */
static void *owned[4096];
static size_t owned_count;
static mpin_sdk *sdks[2];
static mpin_user *users[4];
static mpin_session *session;
static mpin_http_response *response;
static mpin_storage_data *data;
static uint8_t stored[2][1 << 16];
static size_t stored_size[2];
static int depth;

static uint8_t *own(size_t size)
{
    if (owned_count == sizeof owned / sizeof owned[0])
        FAIL("too many arguments");
    uint8_t *result = calloc(1, size ? size : 1);
    owned[owned_count++] = result;
    return result;
}

/* ---- Answers of a server -------------------------------------------- */

#define G1_HEX                                                                 \
    "04155fb67b1d73463d28f2e2d1bd25d6d34acd3d3bc4eb3e7c4b0b8d3bd0c1e05f1a2b"   \
    "3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809"
#define HEX32 "0000000000000000000000000000000000000000000000000000000000000007"

static const char *const answers[] = {
    "{\"appID\":\"c0ffee\",\"registerURL\":\"/rps/user\","
    "\"signatureURL\":\"/rps/signature\",\"certivoxURL\":\"/dta/\","
    "\"timePermitsURL\":\"/rps/timePermit\",\"mpinAuthServerURL\":\"/rps\","
    "\"authenticateURL\":\"/authenticate\",\"usePermits\":false,"
    "\"mobileAuthenticateURL\":\"/mobile\",\"codeStatusURL\":\"/status\"}",
    /* The M-Pin ID of alice: {"userID":"alice"} */
    "{\"mpinId\":\"7b22757365724944223a22616c696365227d\",\"regOTT\":\"01\","
    "\"active\":true}",
    "{\"clientSecretShare\":\"" G1_HEX "\",\"params\":\"a=b\"}",
    "{\"clientSecret\":\"" G1_HEX "\"}",
    "{\"y\":\"" HEX32 "\"}",
    "{\"authOTT\":\"01\",\"OTP\":\"123456\"}",
    "{\"code\":\"c\",\"logoutURL\":\"/logout\",\"logoutData\":{},"
    "\"expireTime\":1,\"nowTime\":1,\"ttlSeconds\":1}",
    "{\"actToken\":\"t\",\"accessId\":\"a\",\"expireTime\":1}",
    "{\"name\":\"n\",\"url\":\"https://a\",\"rps_prefix\":\"rps\","
    "\"logo_url\":\"/l\",\"type\":\"online\"}",
    "{\"qrURL\":\"https://a/#abcdef\"}",
    "",
};

static const int codes[] = {200, 200, 200, 200, 200, 200, 401, 410, 404, 500};

static void call(void);

static mpin_status execute(void *unused, const mpin_http_request *request,
                           mpin_http_response *answer)
{
    (void)unused;
    const uint8_t kind = byte();
    const char *body = answers[kind % (sizeof answers / sizeof answers[0])];
    if (request->size != sizeof *request || request->timeout_ms == 0)
        FAIL("a request that is none");
    response = answer;
    if (kind & 0x80 && depth < 3)
        call();
    mpin_status status =
        mpin_http_response_set_status(answer, codes[byte() % 10]);
    if (kind & 0x40 && status == MPIN_OK) {
        size_t size = left < 200 ? left : 200;
        status = mpin_http_response_append_body(answer, cursor, size);
    } else if (status == MPIN_OK) {
        status = mpin_http_response_append_body(answer, (const uint8_t *)body,
                                                strlen(body));
    }
    response = NULL;
    return kind == 0x3F ? MPIN_TIMED_OUT : status;
}

static mpin_status get(void *unused, mpin_storage_data *out, int32_t kind)
{
    (void)unused;
    data = out;
    mpin_status status = mpin_storage_data_append(out, stored[kind & 1],
                                                  stored_size[kind & 1]);
    data = NULL;
    return byte() == 0xFF ? MPIN_STORAGE_ERROR : status;
}

static mpin_status set(void *unused, int32_t kind, const uint8_t *bytes,
                       size_t size)
{
    (void)unused;
    if (size > sizeof stored[0] || byte() == 0xFF)
        return MPIN_STORAGE_ERROR;
    memcpy(stored[kind & 1], bytes, size);
    stored_size[kind & 1] = size;
    return MPIN_OK;
}

/* ---- Arguments ------------------------------------------------------ */

static const char *text(void)
{
    static const char *const right[] = {
        "alice", "https://a", "1234", "12345", "abcdef", "1234560", "rps",
        "{}", "[]", "", "0",
    };
    const uint8_t mode = byte();
    if (mode < 160)
        return right[mode % (sizeof right / sizeof right[0])];
    if (mode > 250)
        return NULL;
    size_t size = left < mode % 64u ? left : mode % 64u;
    char *result = (char *)own(size + 1);
    for (size_t i = 0; i < size; i++)
        result[i] = (char)byte();
    return result;
}

static mpin_context context;
static mpin_config config;
/* The file is in the current folder. Each input begins without it. */
static mpin_session_config session_config = {
    .size = sizeof session_config,
    .path = "sdk.session",
};
static mpin_provider provider = {
    .size = sizeof provider,
    .name = "home",
    .client_id = "app",
    .issuer = "https://a",
    .redirect_uri = "http://127.0.0.1/callback",
    .origins = "https://a",
};

static void *configuration(const struct function *function)
{
    if (strcmp(function->name, "mpin_session_new") == 0)
        return &session_config;
    if (strcmp(function->name, "mpin_session_add_provider") == 0)
        return &provider;
    return &config;
}

static void *structure(void)
{
    /* The buffer is larger than every structure that the library writes to.
     * Its member `size` gets the buffer's size or an arbitrary number. */
    uint8_t *result = own(16384);
    size_t size = byte() < 200 ? 16384 : (size_t)byte() << byte() % 64;
    memcpy(result, &size, sizeof size);
    return size <= 16384 || size > 1 << 16 ? result : NULL;
}

static union value argument(const struct function *function, int number,
                            size_t *length)
{
    const enum kind kind = function->parameters[number].kind;
    union value v = {.number = 0};
    const uint8_t mode = byte();
    if (mode == 0xFF && kind != LENGTH && kind != INTEGER)
        return v;
    switch (kind) {
    case SDK: v.pointer = mode == 0xFE ? (void *)users[0] : (void *)sdks[mode & 1]; break;
    case USER: v.pointer = mode == 0xFE ? (void *)sdks[0] : (void *)users[mode & 3]; break;
    case SESSION: v.pointer = mode == 0xFE ? (void *)sdks[0] : (void *)session; break;
    case RESPONSE: v.pointer = response; break;
    case DATA: v.pointer = data; break;
    case MADE: v.pointer = own(4 * sizeof(void *)); break;
    case BUFFER: v.pointer = own(*length = mode); break;
    case COUNT:
        v.pointer = own(sizeof(size_t));
        if (*length > 4)
            *length = mode < *length ? mode : *length;
        memcpy(v.pointer, length, sizeof *length);
        break;
    case NUMBER: v.pointer = own(sizeof(int64_t)); break;
    case OCTETS: v.pointer = own(MPIN_DOCUMENT_HASH_SIZE); break;
    case STRUCTURE: v.pointer = structure(); break;
    case CONFIG: v.pointer = configuration(function); break;
    case TEXT:
    case SECRET: v.pointer = (void *)(uintptr_t)text(); break;
    case BYTES: v.pointer = own(256); *length = mode; break;
    case LENGTH: v.size = mode == 0xFE ? SIZE_MAX : *length; break;
    case INTEGER:
        v.number = (int8_t)mode;
        if (mode == 0x80)
            v.number = INT64_MAX;
        break;
    }
    return v;
}

/* ---- Calls ---------------------------------------------------------- */

/* Stores the handles that a call has made in place of older ones. */
static void keep(const struct function *function, const union value *values)
{
    for (int i = 0; i < function->count; i++) {
        void **made = values[i].pointer;
        if (function->parameters[i].kind != MADE || made == NULL)
            continue;
        for (int k = 0; k < 4 && made[k]; k++) {
            if (strcmp(function->name, "mpin_sdk_new") == 0) {
                mpin_sdk_free(made[k]);
                continue;
            }
            if (strcmp(function->name, "mpin_session_new") == 0) {
                mpin_session_free(session);
                session = made[k];
                continue;
            }
            mpin_user_free(users[k]);
            users[k] = made[k];
        }
    }
}

static void call(void)
{
    const struct function *function = &functions[byte() % FUNCTIONS];
    union value values[PARAMETERS];
    /* The arrays for handles have room for four. */
    size_t length = 4;
    for (int i = 0; i < function->count; i++)
        values[i] = argument(function, i, &length);
    depth++;
    mpin_status status = function->call(values);
    depth--;
    if (strcmp(mpin_status_name(status), "UNKNOWN") == 0)
        FAIL(function->name);
    if (status == MPIN_OK)
        keep(function, values);
}

static void open_all(void)
{
    context.size = sizeof context;
    context.http_execute = execute;
    context.storage_get = get;
    context.storage_set = set;
    config.size = sizeof config;
    /* This deadline leaves no time for a second try of a request, before
     * which the library would wait. */
    config.timeout_ms = 20;
    config.context = &context;
    memset(stored_size, 0, sizeof stored_size);
    remove(session_config.path);
    for (int i = 0; i < 2; i++)
        if (mpin_sdk_new(&sdks[i]) != MPIN_OK ||
            (mpin_sdk_init(sdks[i], &config) != MPIN_OK && byte() == 0))
            return;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    cursor = input;
    left = size;
    open_all();
    for (int calls = 0; left && calls < 32; calls++)
        call();
    for (int i = 0; i < 4; i++) {
        mpin_user_free(users[i]);
        users[i] = NULL;
    }
    mpin_session_free(session);
    session = NULL;
    for (int i = 0; i < 2; i++)
        mpin_sdk_free(sdks[i]);
    while (owned_count)
        free(owned[--owned_count]);
    return 0;
}

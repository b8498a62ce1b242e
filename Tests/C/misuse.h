/* Calls every function with each kind of wrong value for every parameter.
 * The list of functions is made from the header (functions.py). */
#ifndef MISUSE_H
#define MISUSE_H

#include "check.h"
#include "functions.h"
#include "mfa_server.h"

#include <errno.h>

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The parameters that may be NULL; "" stands for any function. */
static const struct {
    const char *function, *parameter;
    enum kind kind;
} optional[] = {
    {"", "rps_prefix", TEXT},
    {"mpin_sdk_set_client_id", "client_id", TEXT},
    {"", "device_name", TEXT},
    {"", "customer_id", TEXT},
    {"", "app_id", TEXT},
    {"", "secure", TEXT},
    {"mpin_sdk_start_verification", "access_code", TEXT},
    {"mpin_sdk_start_registration_mfa", "access_code", TEXT},
    {"mpin_sdk_finish_authentication_mfa", "access_code", TEXT},
    {"", "activate_code", TEXT},
    {"", "user_data", TEXT},
    {"", "push_id", TEXT},
    {"", "authz_token", TEXT},
    {"", "users", MADE},
    {"mpin_trust_set_project", "url", TEXT},
    {"", "access_id", TEXT},
    {"", "push_token", TEXT},
    {"mpin_trust_authenticate_with_push_payload", "project_id", TEXT},
    {"mpin_session_login", "user_id", TEXT},
    {"mpin_session_get_access_token", "scope", TEXT},
    {"", "rejected", TEXT},
    {"mpin_session_handover", "audience", TEXT},
    {"mpin_session_handover", "scope", TEXT},
};

/* Values that are out of range, for each integer parameter. */
static const struct {
    const char *function, *parameter;
    int64_t wrong[6];
} integers[] = {
    {"mpin_http_response_set_status", "status",
     {INT32_MIN, -1, 0, 99, 600, INT32_MAX}},
    {"mpin_sdk_import_storage", "format",
     {INT32_MIN, -1, 0, 4, INT32_MAX, INT32_MAX - 1}},
    {"mpin_sdk_sign", "epoch_time",
     {INT64_MIN, INT32_MIN, -1, (int64_t)1 << 32, INT64_MAX, INT64_MAX - 1}},
    {"mpin_session_logout", "everywhere",
     {INT32_MIN, -1, 2, 3, 256, INT32_MAX}},
    {"mpin_session_get_access_token", "min_ttl",
     {INT32_MIN, INT32_MIN + 1, -86400, -60, -2, -1}},
    {"mpin_session_has_valid", "min_ttl",
     {INT32_MIN, INT32_MIN + 1, -86400, -60, -2, -1}},
    {"mpin_session_get_access_token", "may_interact",
     {INT32_MIN, -1, 2, 3, 256, INT32_MAX}},
    {"mpin_session_authorize", "may_interact",
     {INT32_MIN, -1, 2, 3, 256, INT32_MAX}},
};

/* Functions for which no value is wrong. mpin_status_name accepts every
 * number. */
static const char *const all_right[] = {"mpin_status_name"};

static mpin_sdk *sdk, *other_sdk, *stale_sdk;
static mpin_user *user, *other_user, *stale_user, *orphan;
static mpin_session *session, *stale_session, *orphaned_session;
static mpin_config config;
static mpin_session_config session_config;
static mpin_provider provider;
static mpin_http_response *response, *stale_response;
static mpin_storage_data *data, *stale_data;

/* Where a function writes its outputs, and a copy from before the call, to
 * see that a failed call wrote nothing. */
static struct {
    unsigned char room[1 << 14];
    void *made[4];
    size_t count;
    int64_t number;
    union {
        size_t size;
        unsigned char bytes[1 << 14];
    } structure;
} outputs, untouched;

static uint8_t bytes[32];
/* For each parameter, the number of wrong values tried, and how many of them
 * were a buffer that is too small, a length out of range or a wrong PIN. */
static int cases[FUNCTIONS][PARAMETERS], measured[FUNCTIONS][PARAMETERS];

static int has(const struct function *function, enum kind kind)
{
    for (int i = 0; i < function->count; i++)
        if (function->parameters[i].kind == kind)
            return 1;
    return 0;
}

static void set_outputs(const struct function *function)
{
    memset(&outputs, 0xA5, sizeof outputs);
    outputs.count = has(function, BUFFER) ? sizeof outputs.room
                                          : LENGTH_OF(outputs.made);
    outputs.structure.size = sizeof outputs.structure;
    untouched = outputs;
}

static const char *text_for(const struct parameter *p)
{
    if (strcmp(p->name, "authz_url") == 0)
        return MFA_URL "/authorize";
    if (strcmp(p->name, "project_id") == 0)
        return FAKE_PROJECT;
    if (strcmp(p->name, "session_url") == 0 || strcmp(p->name, "qr_code") == 0 ||
        strcmp(p->name, "app_link") == 0 || strcmp(p->name, "qr_url") == 0)
        return MFA_URL "/qr#abcdef";
    if (strcmp(p->name, "provider") == 0)
        return "home";
    if (strcmp(p->name, "scope") == 0)
        return "openid";
    if (strcmp(p->name, "name") == 0)
        return "sub";
    if (strcmp(p->name, "url") == 0)
        return MFA_URL;
    return strcmp(p->name, "backend") == 0 ? MFA_URL : "alice";
}

static void *config_for(const struct function *function)
{
    if (strcmp(function->name, "mpin_session_new") == 0)
        return &session_config;
    if (strcmp(function->name, "mpin_session_add_provider") == 0)
        return &provider;
    return &config;
}

/* Fills in right values for all parameters. */
static void fill(const struct function *function, union value *values)
{
    memset(values, 0, PARAMETERS * sizeof *values);
    for (int i = 0; i < function->count; i++) {
        union value *v = &values[i];
        switch (function->parameters[i].kind) {
        case SDK: v->pointer = sdk; break;
        case USER: v->pointer = user; break;
        case SESSION: v->pointer = session; break;
        case RESPONSE: v->pointer = response; break;
        case DATA: v->pointer = data; break;
        case MADE: v->pointer = outputs.made; break;
        case BUFFER:
        case OCTETS: v->pointer = outputs.room; break;
        case COUNT: v->pointer = &outputs.count; break;
        case NUMBER: v->pointer = &outputs.number; break;
        case STRUCTURE: v->pointer = &outputs.structure; break;
        case CONFIG: v->pointer = config_for(function); break;
        case TEXT:
            v->pointer = (void *)(uintptr_t)text_for(&function->parameters[i]);
            break;
        case SECRET: v->pointer = (void *)(uintptr_t)"1234"; break;
        case BYTES: v->pointer = bytes; break;
        case LENGTH: v->size = sizeof bytes; break;
        case INTEGER: v->number = 1; break;
        }
    }
}

/* Calls a function with a wrong value for one parameter and right values for
 * all others. It must return `expected` and change no output. */
static void fails(const struct function *function, int parameter,
                  union value wrong, mpin_status expected, const char *what)
{
    union value values[PARAMETERS];
    int is_void = strstr(function->name, "_free") != NULL;
    set_outputs(function);
    fill(function, values);
    values[parameter] = wrong;
    errno = 77;
    mpin_status got = function->call(values);
    CHECK(errno == 77, "%s leaves errno %d", function->name, errno);
    CHECK(got == (is_void ? MPIN_OK : expected), "%s, %s %s gave %s",
          function->name, function->parameters[parameter].name, what,
          mpin_status_name(got));
    CHECK(memcmp(&outputs, &untouched, sizeof outputs) == 0,
          "%s, %s %s wrote an output", function->name,
          function->parameters[parameter].name, what);
    cases[function - functions][parameter]++;
}

static void fails_pointer(const struct function *function, int parameter,
                          const void *wrong, mpin_status expected,
                          const char *what)
{
    union value value;
    value.pointer = (void *)(uintptr_t)wrong;
    fails(function, parameter, value, expected, what);
}

static int is_optional(const struct function *function, int parameter)
{
    for (size_t i = 0; i < LENGTH_OF(optional); i++)
        if (strcmp(optional[i].parameter,
                   function->parameters[parameter].name) == 0 &&
            (!*optional[i].function ||
             strcmp(optional[i].function, function->name) == 0))
            return function->parameters[parameter].kind == optional[i].kind;
    return 0;
}

static void wrong_handles(const struct function *function, int parameter)
{
    const uintptr_t bit = (uintptr_t)1 << 27;
    const void *wrong[] = {
        NULL,
        stale_sdk,
        stale_user,
        orphan,
        stale_session,
        orphaned_session,
        stale_response,
        stale_data,
        outputs.room,
        (void *)(uintptr_t)1,
        (void *)UINTPTR_MAX,
        (void *)((uintptr_t)sdk ^ bit),
        (void *)((uintptr_t)user ^ bit),
        function->parameters[parameter].kind == SDK ? (void *)user
                                                    : (void *)sdk,
    };
    for (size_t i = 0; i < LENGTH_OF(wrong); i++)
        fails_pointer(function, parameter, wrong[i], MPIN_INVALID_HANDLE,
                      "that is none");
    if (function->parameters[parameter].kind == USER && has(function, SDK))
        fails_pointer(function, parameter, other_user, MPIN_INVALID_HANDLE,
                      "of another sdk");
}

static void wrong_text(const struct function *function, int parameter)
{
    const char *not_utf8[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\xaf"};
    /* mpin_sdk_import_storage reports such a text as damaged data. */
    mpin_status expected = strcmp(function->name, "mpin_sdk_import_storage")
                               ? MPIN_INVALID_ARGUMENT
                               : MPIN_STORAGE_ERROR;
    /* A header value may contain bytes that are not UTF-8. */
    if ((strcmp(function->name, "mpin_http_response_add_header") == 0 &&
         strcmp(function->parameters[parameter].name, "value") == 0) ||
        strcmp(function->parameters[parameter].name, "rejected") == 0)
        return;
    for (size_t i = 0; i < LENGTH_OF(not_utf8); i++)
        fails_pointer(function, parameter, not_utf8[i], expected,
                      "that is not UTF-8");
}

static void wrong_size(const struct function *function, int parameter)
{
    const size_t sizes[] = {0,        1,           sizeof(size_t),
                            SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 40};
    for (size_t i = 0; i < LENGTH_OF(sizes); i++)
        fails_pointer(function, parameter, &sizes[i], MPIN_INVALID_ARGUMENT,
                      "of no size");
}

static void wrong_length(const struct function *function, int parameter)
{
    const size_t lengths[] = {SIZE_MAX, SIZE_MAX / 2 + 1};
    union value value;
    for (size_t i = 0; i < LENGTH_OF(lengths); i++) {
        value.size = lengths[i];
        fails(function, parameter, value, MPIN_INVALID_ARGUMENT, "endless");
    }
}

static void wrong_integer(const struct function *function, int parameter)
{
    union value value;
    for (size_t i = 0; i < LENGTH_OF(integers); i++)
        for (size_t k = 0;
             strcmp(integers[i].function, function->name) == 0 &&
             strcmp(integers[i].parameter,
                    function->parameters[parameter].name) == 0 &&
             k < LENGTH_OF(integers[i].wrong);
             k++) {
            value.number = integers[i].wrong[k];
            fails(function, parameter, value, MPIN_INVALID_ARGUMENT,
                  "out of range");
        }
}

/* Tests lengths that are too small or too large. The hash of a document is
 * the only input with such limits. */
static void length_out_of_range(const struct function *function, int parameter)
{
    const size_t lengths[] = {0, 257};
    union value value;
    if (strcmp(function->parameters[parameter].name, "hash_len") != 0)
        return;
    for (size_t i = 0; i < LENGTH_OF(lengths); i++) {
        value.size = lengths[i];
        fails(function, parameter, value, MPIN_INVALID_ARGUMENT,
              "out of range");
        measured[function - functions][parameter]++;
    }
}

/* Whether the parameter is the size of the output buffer before it. */
static int is_room(const struct function *function, int parameter)
{
    const struct parameter *p = &function->parameters[parameter];
    return p->kind == COUNT && parameter > 0 &&
           (p[-1].kind == BUFFER || p[-1].kind == MADE);
}

/* Tests a buffer without room, and one with a byte too little. `ready`
 * prepares the call, so that it would otherwise succeed. */
static void too_little_room(const struct function *function, int parameter,
                            void (*ready)(const struct function *))
{
    size_t room = 0, needed;
    ready(function);
    fails_pointer(function, parameter, &room, MPIN_BUFFER_TOO_SMALL, "0");
    CHECK(room > 0, "%s does not say how much", function->name);
    needed = room--;
    ready(function);
    fails_pointer(function, parameter, &room, MPIN_BUFFER_TOO_SMALL,
                  "less than needed");
    CHECK(room == needed, "%s: %zu, then %zu", function->name, needed, room);
    measured[function - functions][parameter]++;
}

static void wrong_pins(const struct function *function, int parameter,
                       void (*ready)(const struct function *))
{
    const char *wrong[] = {"",     "12a4", "123",
                           "1234567", "-123", "\xff\xff\xff\xff"};
    int is_factor = strcmp(function->parameters[parameter].name, "factor") == 0;
    for (size_t i = 0; i < LENGTH_OF(wrong); i++) {
        ready(function);
        fails_pointer(function, parameter, wrong[i],
                      *wrong[i] || is_factor ? MPIN_PIN_INVALID
                                             : MPIN_PIN_INPUT_CANCELED,
                      "that is none");
        measured[function - functions][parameter]++;
    }
}

/* Whether handles of this kind are valid only inside a callback. Those of
 * other kinds are tested outside callbacks. */
static int is_callbacks(enum kind kind)
{
    return kind == RESPONSE || kind == DATA;
}

static void wrong_values(const struct function *function, int in_callback)
{
    int is_live = !has(function, RESPONSE) && !has(function, DATA);
    for (int i = 0; i < function->count; i++) {
        enum kind kind = function->parameters[i].kind;
        if (kind == SDK || kind == USER || kind == SESSION ||
            is_callbacks(kind)) {
            wrong_handles(function, i);
            continue;
        }
        if (!is_live && !in_callback)
            continue;
        if (kind == BUFFER || kind == LENGTH || kind == INTEGER)
            ;
        else if (!is_optional(function, i))
            fails_pointer(function, i, NULL, MPIN_INVALID_ARGUMENT, "NULL");
        if (kind == TEXT)
            wrong_text(function, i);
        else if (kind == STRUCTURE || kind == CONFIG)
            wrong_size(function, i);
        else if (kind == LENGTH) {
            wrong_length(function, i);
            length_out_of_range(function, i);
        }
        else if (kind == INTEGER)
            wrong_integer(function, i);
    }
}

/* Whether enough wrong values were tried for a parameter. For the size of an
 * output, a PIN and a hash_len they must include those that are counted in
 * `measured`. A buffer is covered together with the size that follows it. So
 * is the list `users`, which may be NULL to ask for the number of elements. */
static int is_covered(const struct function *function, int parameter)
{
    const struct parameter *p = &function->parameters[parameter];
    int number = (int)(function - functions);
    for (size_t i = 0; i < LENGTH_OF(all_right); i++)
        if (strcmp(all_right[i], function->name) == 0)
            return 1;
    if (strcmp(p->name, "rejected") == 0)
        return 1;
    if ((is_room(function, parameter) || p->kind == SECRET ||
         strcmp(p->name, "hash_len") == 0) &&
        !measured[number][parameter])
        return 0;
    if (p->kind == BUFFER || strcmp(p->name, "users") == 0)
        return cases[number][parameter] || cases[number][parameter + 1];
    return cases[number][parameter] > 0;
}

static void nothing_is_left_out(void)
{
    int parameters = 0, total = 0;
    for (size_t f = 0; f < FUNCTIONS; f++)
        for (int p = 0; p < functions[f].count; p++) {
            CHECK(is_covered(&functions[f], p), "%s: nothing wrong for %s",
                  functions[f].name, functions[f].parameters[p].name);
            parameters++;
            total += cases[f][p];
        }
    printf("%zu functions, %d parameters, %d wrong values\n", FUNCTIONS,
           parameters, total);
}

#endif

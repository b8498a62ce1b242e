/* The callbacks that walk_test.c gives to the library (mpin_context). The
 * store is in memory, and the clock always returns the same time. */
#ifndef WALK_HOST_H
#define WALK_HOST_H

static struct {
    uint8_t bytes[2][1 << 16];
    size_t size[2];
    int randoms, keys, lines;
} host;

static mpin_status get(void *unused, mpin_storage_data *data, int32_t kind)
{
    (void)unused;
    if (host.size[kind] == 0)
        return MPIN_OK;
    return mpin_storage_data_append(data, host.bytes[kind], host.size[kind]);
}

static mpin_status set(void *unused, int32_t kind, const uint8_t *bytes,
                       size_t size)
{
    (void)unused;
    CHECK(size <= sizeof host.bytes[0], "%zu bytes", size);
    memcpy(host.bytes[kind], bytes, size);
    host.size[kind] = size;
    return MPIN_OK;
}

/* The status that the clock returns. The clock calls the library again,
 * which the library must refuse. */
static mpin_status clock_status;

static mpin_status now(void *unused, int64_t *milliseconds)
{
    size_t n = 0;
    (void)unused;
    CHECK_STATUS(mpin_sdk_list_all_users(sdk, NULL, &n), MPIN_FLOW_ERROR);
    *milliseconds = INT64_C(1893456000123);
    return clock_status;
}

static mpin_status random_bytes(void *unused, uint8_t *out, size_t size)
{
    FILE *file = fopen("/dev/urandom", "rb");
    size_t got = file ? fread(out, 1, size, file) : 0;
    (void)unused;
    if (file)
        fclose(file);
    host.randoms++;
    return got == size ? MPIN_OK : MPIN_RANDOM_FAILED;
}

static void log_line(void *unused, int32_t level, const char *text)
{
    /* Searches the line for PINs and factors, and for long hex numbers,
     * which may be tokens, shares or identities. */
    static const char *const secrets[] = {"1234", "5678", "2468", "4321", "9999",
                                          "1357"};
    size_t digits = 0;
    (void)unused;
    host.lines++;
    CHECK(level >= MPIN_LOG_DEBUG && level <= MPIN_LOG_ERROR, "%d", level);
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        CHECK(strstr(text, secrets[i]) == NULL, "a secret in the log: %s", text);
    for (const char *c = text; *c; c++) {
        digits = strchr("0123456789abcdef", *c) ? digits + 1 : 0;
        CHECK(digits < 20, "a long number in the log: %s", text);
    }
}

static void open_mfa(mpin_sdk **handle,
                     mpin_status (*execute)(void *, const mpin_http_request *,
                                            mpin_http_response *))
{
    mpin_context context = {0};
    mpin_config config = {0};
    context.size = sizeof context;
    context.user = &mfa;
    context.http_execute = execute;
    context.storage_get = get;
    context.storage_set = set;
    context.now = now;
    context.random = random_bytes;
    context.log = log_line;
    config.size = sizeof config;
    config.context = &context;
    config.timeout_ms = 2000;
    CHECK_STATUS(mpin_sdk_new(handle), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(*handle, &config), MPIN_OK);
}

#endif

/* Functions and values that several parts of walk_test.c use. */
#ifndef WALK_H
#define WALK_H

static void expect_state(mpin_user *user, int32_t expected, int32_t legacy)
{
    int32_t state = -1;
    CHECK_STATUS(mpin_user_get_state(user, &state), MPIN_OK);
    CHECK(state == expected, "state %d", state);
    CHECK_STATUS(mpin_user_get_state_legacy(user, &state), MPIN_OK);
    CHECK(state == legacy, "in old numbers %d", state);
}

typedef mpin_status (*text_getter)(mpin_user *, char *, size_t *);

static mpin_status user_id(mpin_user *user, char *out, size_t *out_len)
{
    return mpin_user_get_id(user, out, out_len);
}
static mpin_status user_backend(mpin_user *user, char *out, size_t *out_len)
{
    return mpin_user_get_backend(user, out, out_len);
}
static mpin_status user_customer(mpin_user *user, char *out, size_t *out_len)
{
    return mpin_user_get_customer_id(user, out, out_len);
}
static mpin_status user_app(mpin_user *user, char *out, size_t *out_len)
{
    return mpin_user_get_app_id(user, out, out_len);
}
static mpin_status user_verification(mpin_user *user, char *out,
                                     size_t *out_len)
{
    return mpin_user_get_verification_type(user, out, out_len);
}
static mpin_status user_device(mpin_user *user, char *out, size_t *out_len)
{
    return mpin_user_get_device_name(user, out, out_len);
}

static void expect_text(text_getter get, mpin_user *user, const char *expected)
{
    char text[256] = "";
    size_t n = sizeof text;
    CHECK_STATUS(get(user, text, &n), MPIN_OK);
    CHECK(strcmp(text, expected) == 0, "%s, not %s", text, expected);
    CHECK(n == strlen(expected) + 1, "%zu bytes", n);
}

/* Fails for each function of mpin.h that walk_test has not called. */
static void all_were_called(void)
{
    const size_t count = sizeof was_called / sizeof was_called[0];
    for (size_t i = 0; i < count; i++)
        CHECK(was_called[i], "%s was not called", function_names[i]);
    printf("%zu functions called\n", count);
}

#endif

/* The part of the walk that a real server takes part in. */
#ifndef WALK_REAL_H
#define WALK_REAL_H

/* A browser begins to show a code; what it shows. */
static FILE *browser_shows(const char *url, const char *what, char *code,
                           int room)
{
    char command[256];
    snprintf(command, sizeof command, "./browser.sh '%s' %s", url, what);
    FILE *browser = popen(command, "r");
    CHECK(browser && fgets(code, room, browser), "no browser");
    code[strcspn(code, "\n")] = '\0';
    return browser;
}

static mpin_user *registered_for_real(mpin_sdk *sdk)
{
    mpin_user *user = NULL;
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "walker", NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_registration(sdk, user, NULL, NULL), MPIN_OK);
    expect_state(user, MPIN_USER_ACTIVATED, 2);
    CHECK_STATUS(mpin_sdk_confirm_registration(sdk, user, NULL), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, "1234"), MPIN_OK);
    return user;
}

/* A browser shows a code and is logged in by the phone. */
static void browser_login(mpin_sdk *sdk, mpin_user *user, const char *url,
                          const char *what)
{
    char text[256] = "";
    mpin_session_details details;
    FILE *browser = browser_shows(url, what, text, sizeof text);
    const char *code = strchr(text, '#') ? strchr(text, '#') + 1 : text;
    details.size = sizeof details;
    CHECK_STATUS(mpin_sdk_check_access_number(sdk, code), MPIN_OK);
    CHECK_STATUS(mpin_sdk_get_session_details(sdk, &details, code), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication_an(sdk, user, "4321", code),
                 MPIN_INCORRECT_PIN);
    CHECK_STATUS(mpin_sdk_finish_authentication_an(sdk, user, "1234", code),
                 MPIN_OK);
    CHECK(browser && pclose(browser) == 0, "the browser was not logged in");
    /* Once it has logged somebody in, it is no code any more. */
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication_an(sdk, user, "1234", code),
                 MPIN_INCORRECT_ACCESS_NUMBER);
}

static void one_time_password(mpin_sdk *sdk, mpin_user *user)
{
    mpin_otp otp;
    otp.size = sizeof otp;
    CHECK_STATUS(mpin_sdk_start_authentication_otp(sdk, user), MPIN_OK);
    CHECK_STATUS(mpin_sdk_finish_authentication_otp(sdk, user, &otp, "1234"),
                 MPIN_OK);
    CHECK_STATUS(otp.status, MPIN_OK);
    CHECK(strlen(otp.otp) == 6 && strspn(otp.otp, "0123456789") == 6, "%s",
          otp.otp);
    CHECK(otp.ttl_seconds > 0 && otp.expire_time > otp.now_time, "its times");
}

static void real_server(const char *url)
{
    mpin_sdk *sdk = NULL;
    mpin_config config = {0};
    mpin_user *all[4], *again = NULL;
    size_t n = 4;
    char id[1024];
    config.size = sizeof config;
    config.storage_path = store_path("walk");
    CHECK_STATUS(mpin_sdk_new(&sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(sdk, &config), MPIN_OK);
    CHECK_STATUS(mpin_sdk_cancel(sdk), MPIN_OK);
    CHECK_STATUS(mpin_sdk_set_backend(sdk, url, NULL), MPIN_OK);
    mpin_user *user = registered_for_real(sdk);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_change_pin(sdk, user, "1234", "987654"), MPIN_OK);
    CHECK_STATUS(mpin_sdk_start_authentication(sdk, user), MPIN_OK);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "1234"),
        MPIN_INCORRECT_PIN);
    CHECK_STATUS(
        mpin_sdk_finish_authentication(sdk, user, NULL, NULL, "987654"),
        MPIN_OK);
    CHECK_STATUS(mpin_sdk_change_pin(sdk, user, "987654", "1234"), MPIN_OK);
    browser_login(sdk, user, url, "getAccessNumber");
    browser_login(sdk, user, url, "getQrUrl");
    one_time_password(sdk, user);
    CHECK_STATUS(mpin_sdk_list_users(sdk, all, &n), MPIN_OK);
    CHECK(n == 1, "%zu users", n);
    mpin_user_free(all[0]);
    n = 4;
    CHECK_STATUS(mpin_sdk_list_all_users(sdk, all, &n), MPIN_OK);
    mpin_user_free(all[0]);
    CHECK_STATUS(mpin_sdk_get_user(sdk, &again, "walker"), MPIN_OK);
    n = sizeof id;
    CHECK_STATUS(mpin_user_get_mpin_id(again, id, &n), MPIN_OK);
    CHECK_STATUS(mpin_sdk_delete_user(sdk, again), MPIN_OK);
    expect_state(user, MPIN_USER_INVALID, 0);
    mpin_user_free(again);
    mpin_user_free(user);
    mpin_sdk_free(sdk);
}

#endif

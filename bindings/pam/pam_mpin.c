/* A PAM module: the user of a terminal logs in with a phone.
 *
 * The module begins a login at an OpenID provider as a device without a browser
 * does (RFC 8628), shows the code in the terminal, and waits until somebody has
 * logged in with it on a phone. A file says who may log in as which user.
 * Everything else is a refusal: a malformed option or file, an unknown user,
 * another person, a provider that cannot be reached, too much time.
 *
 * All of it happens in the process that calls pam_authenticate(). The session
 * is in memory only, and nothing of it is left when the call returns.
 */
#define _GNU_SOURCE

#include "files.h"
#include "options.h"
#include "screen.h"
#include "users.h"

#include <limits.h>
#include <mpin.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum {
    MOST_USERS_BYTES = 1 << 20,
    MOST_SECRET_BYTES = 512,
    LONGEST_CLAIM = 1024
};

/* How long one request may take, in milliseconds. */
enum { REQUEST_MS = 30 * 1000 };

/* A login that is under way. */
struct login {
    pam_handle_t *pamh;
    struct options options;
    const char *user;
    mpin_sdk *sdk;
    mpin_session *session;
    struct timespec began;
    /* PAM_SUCCESS, or how the conversation with the user has failed. */
    int conversation;
};

/* What the provider says about the person. */
struct claims {
    char sub[LONGEST_CLAIM], email[LONGEST_CLAIM], verified[8];
};

static const char PROVIDER[] = "provider";

/* ---- The conversation ------------------------------------------------- */

/* Waits for the Enter key. What else is typed is not shown, because it may be
 * a password, and is dropped. */
static int await_enter(struct login *login)
{
    char *typed = NULL;
    const int result =
        pam_prompt(login->pamh, PAM_PROMPT_ECHO_OFF, &typed, "%s",
                   "Press Enter when the phone has said yes: ");
    free_text(typed);
    return result;
}

/* Shows the code. This is done even if the program has asked for silence
 * (PAM_SILENT), as sudo does: without the code nobody could log in, so it is
 * like the question for a password. */
static int invite(struct login *login, const mpin_device_code *code)
{
    char host[HOST_NAME_MAX + 1] = "";
    struct invitation invitation = {
        .user = login->user,
        .host = host,
        .link = *code->complete_url ? code->complete_url : code->url,
        .code = code->user_code,
        .seconds = code->expires_in < login->options.timeout
                       ? (long)code->expires_in
                       : (long)login->options.timeout,
        .qr = login->options.qr};
    char *text;
    int result;
    if (gethostname(host, sizeof host - 1))
        strcpy(host, "this machine");
    text = invitation_text(&invitation);
    if (text == NULL) {
        pam_syslog(login->pamh, LOG_ERR, "the provider's link is malformed");
        return PAM_SYSTEM_ERR;
    }
    result = pam_info(login->pamh, "%s", text);
    free(text);
    if (result == PAM_SUCCESS && login->options.prompt)
        result = await_enter(login);
    return result;
}

/* libmpin's callback. Without an answer from the user, the login ends. */
static void show_code(void *user, const mpin_device_code *code)
{
    struct login *login = user;
    login->conversation = invite(login, code);
    if (login->conversation != PAM_SUCCESS)
        mpin_session_cancel(login->session);
}

/* ---- The login -------------------------------------------------------- */

/* libmpin has no users to store here. */
static mpin_status load_nothing(void *user, mpin_storage_data *data,
                                int32_t kind)
{
    (void)user;
    (void)data;
    (void)kind;
    return MPIN_OK;
}

static mpin_status store_nothing(void *user, int32_t kind, const uint8_t *bytes,
                                 size_t bytes_len)
{
    (void)user;
    (void)kind;
    (void)bytes;
    (void)bytes_len;
    return MPIN_OK;
}

static mpin_status open_sdk(struct login *login)
{
    const uint32_t whole = login->options.timeout * 1000;
    const mpin_context context = {.size = sizeof context,
                                  .storage_get = load_nothing,
                                  .storage_set = store_nothing};
    const mpin_config config = {.size = sizeof config,
                                .context = &context,
                                .ca_file = login->options.ca_file,
                                .timeout_ms =
                                    whole < REQUEST_MS ? whole : REQUEST_MS};
    const mpin_status status = mpin_sdk_new(&login->sdk);
    return status == MPIN_OK ? mpin_sdk_init(login->sdk, &config) : status;
}

/* Opens a session in memory and adds the provider. `secret` may be NULL. */
static mpin_status open_session(struct login *login, const char *secret)
{
    const mpin_session_config config = {
        .size = sizeof config,
        .user = login,
        .path = "",
        .login_timeout_ms = login->options.timeout * (size_t)1000,
        .show_code = show_code};
    const mpin_provider provider = {.size = sizeof provider,
                                    .name = PROVIDER,
                                    .login = MPIN_LOGIN_DEVICE_CODE,
                                    .client_id = login->options.client_id,
                                    .client_secret = secret,
                                    .issuer = login->options.issuer,
                                    .scope = "openid email"};
    const mpin_status status =
        mpin_session_new(login->sdk, &login->session, &config);
    return status == MPIN_OK
               ? mpin_session_add_provider(login->session, &provider)
               : status;
}

/* Reads the secret, a file of one line, and opens the session with it. */
static mpin_status open_with_secret(struct login *login)
{
    char *secret = NULL;
    mpin_status status = MPIN_STORAGE_ERROR;
    if (login->options.secret_file == NULL)
        return open_session(login, NULL);
    secret = read_trusted(login->pamh, login->options.secret_file,
                          S_IRWXG | S_IRWXO, MOST_SECRET_BYTES);
    if (secret == NULL)
        return status;
    const size_t line = strcspn(secret, "\r\n");
    if (line > 0 && line + strspn(secret + line, "\r\n") == strlen(secret)) {
        memset(secret + line, 0, strlen(secret + line));
        status = open_session(login, secret);
    } else {
        pam_syslog(login->pamh, LOG_ERR, "%s is not one line",
                   login->options.secret_file);
    }
    free_text(secret);
    return status;
}

/* Whether the deadline has passed. libmpin counts the time from the moment when
 * it has got the code; this counts from the beginning. */
static int is_late(const struct login *login)
{
    const int64_t whole = login->options.timeout * INT64_C(1000000000);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - login->began.tv_sec) * INT64_C(1000000000) +
               now.tv_nsec - login->began.tv_nsec >
           whole;
}

/* Reads a claim. A text with a NUL in it is refused, because the rest of it
 * would not be compared. */
static mpin_status read_claim(struct login *login, const char *name, char *out,
                              size_t size)
{
    const mpin_status status =
        mpin_session_get_claim(login->session, out, &size, name);
    if (status == MPIN_OK && strlen(out) + 1 != size)
        return MPIN_TOKEN_INVALID;
    return status;
}

static mpin_status read_claims(struct login *login, struct claims *claims)
{
    mpin_status status =
        read_claim(login, "sub", claims->sub, sizeof claims->sub);
    if (status == MPIN_OK)
        status =
            read_claim(login, "email", claims->email, sizeof claims->email);
    if (status == MPIN_OK)
        status = read_claim(login, "email_verified", claims->verified,
                            sizeof claims->verified);
    if (strcmp(claims->verified, "true"))
        *claims->email = '\0';
    return status;
}

/* ---- The result ------------------------------------------------------- */

/* Tells the user and the log why a login was refused. The texts of errors
 * contain no secret. */
static int refuse(struct login *login, mpin_status status)
{
    mpin_error error = {.size = sizeof error};
    const int is_refusal =
        status == MPIN_LOGIN_REFUSED || status == MPIN_TIMED_OUT;
    if (login->session == NULL ||
        mpin_session_get_last_error(login->session, &error) != MPIN_OK)
        *error.text = '\0';
    pam_syslog(login->pamh, is_refusal ? LOG_NOTICE : LOG_ERR,
               "no login of %s: %s (%s)", login->user,
               mpin_status_name(status), error.text);
    if (login->conversation != PAM_SUCCESS)
        return login->conversation;
    pam_error(login->pamh, "%s",
              status == MPIN_LOGIN_REFUSED ? "The login was refused."
              : status == MPIN_TIMED_OUT
                  ? "Nobody has allowed the login in time."
                  : "Logins by phone are not possible now.");
    return is_refusal ? PAM_AUTH_ERR : PAM_AUTHINFO_UNAVAIL;
}

/* Replaces what a log should not contain. */
static void make_printable(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

/* Whether the person who has logged in may be the user. */
static int judge(struct login *login, const char *map)
{
    struct claims claims = {"", "", ""};
    const mpin_status status = read_claims(login, &claims);
    const struct person person = {claims.sub, claims.email};
    int allowed;
    if (status != MPIN_OK)
        return refuse(login, status);
    if (is_late(login))
        return refuse(login, MPIN_TIMED_OUT);
    allowed = may_log_in(map, login->user, &person);
    make_printable(claims.sub);
    make_printable(claims.email);
    pam_syslog(login->pamh, LOG_NOTICE, "%s %s: sub:%s email:%s",
               allowed ? "login of" : "another person wants to be",
               login->user, claims.sub, claims.email);
    if (allowed)
        return PAM_SUCCESS;
    pam_error(login->pamh, "%s", "The login was refused.");
    return PAM_AUTH_ERR;
}

static int log_in(struct login *login, const char *map)
{
    int result;
    mpin_status status = open_sdk(login);
    if (status == MPIN_OK)
        status = open_with_secret(login);
    if (status == MPIN_OK)
        status = mpin_session_login(login->session, PROVIDER, NULL);
    result = status == MPIN_OK ? judge(login, map) : refuse(login, status);
    mpin_session_free(login->session);
    mpin_sdk_free(login->sdk);
    return result;
}

/* ---- PAM -------------------------------------------------------------- */

/* Finds out who wants to log in. */
static int read_user(struct login *login)
{
    const int result = pam_get_user(login->pamh, &login->user, NULL);
    if (result != PAM_SUCCESS)
        return result;
    if (login->user != NULL && is_name(login->user))
        return PAM_SUCCESS;
    pam_syslog(login->pamh, LOG_NOTICE, "the name of the user is malformed");
    return PAM_USER_UNKNOWN;
}

/* Logs in by phone.
 *
 * Returns: PAM_SUCCESS; PAM_USER_UNKNOWN if nobody may log in as the user;
 *   PAM_AUTH_ERR if the login was declined, took too long, or somebody else has
 *   logged in; PAM_AUTHINFO_UNAVAIL if the provider, an option or a file is
 *   unusable; the conversation's error.
 */
EXPORTED int pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc,
                                 const char **argv)
{
    struct login login = {.pamh = pamh, .conversation = PAM_SUCCESS};
    char *map;
    int result;
    (void)flags;
    clock_gettime(CLOCK_MONOTONIC, &login.began);
    if (read_options(pamh, argc, argv, &login.options))
        return PAM_AUTHINFO_UNAVAIL;
    result = read_user(&login);
    if (result != PAM_SUCCESS)
        return result;
    map = read_trusted(pamh, login.options.users_file, 0, MOST_USERS_BYTES);
    if (map == NULL)
        return PAM_AUTHINFO_UNAVAIL;
    if (check_map(pamh, map))
        result = PAM_AUTHINFO_UNAVAIL;
    else if (!is_mapped(map, login.user))
        result = PAM_USER_UNKNOWN;
    else
        result = log_in(&login, map);
    if (result == PAM_USER_UNKNOWN)
        pam_syslog(pamh, LOG_NOTICE, "nobody may log in as %s", login.user);
    free_text(map);
    return result;
}

/* There are no credentials to set. A module that has let a user in must not
 * fail here. */
EXPORTED int pam_sm_setcred(pam_handle_t *pamh, int flags, int argc,
                            const char **argv)
{
    (void)pamh;
    (void)flags;
    (void)argc;
    (void)argv;
    return PAM_SUCCESS;
}

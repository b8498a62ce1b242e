/* A client with libmpin: registration, logins and all other commands.
 *
 *     mpin-example --backend URL --store PATH [--timeout SECONDS] COMMAND
 *
 *     register USER               waits until the link in the mail is opened
 *     login USER                  on this machine
 *     login-number USER NUMBER    in a browser that shows an access number
 *     login-qr USER URL           in a browser that shows a QR code
 *     otp USER                    prints a one-time password
 *     change-pin USER             logs in with the old PIN, then takes a new one
 *     list                        prints the users and their states
 *     delete USER                 on this machine; the server is not told
 *
 * A PIN is read from standard input, one line. Never pass a PIN as an argument:
 * every user of the machine can see arguments.
 *
 * Prints OK, or the name of the status that ended it, such as INCORRECT_PIN.
 * Exit code: 0 OK, 1 failed, 2 wrong usage, 3 INCORRECT_PIN, 4 BLOCKED.
 */
#define _POSIX_C_SOURCE 200809L

#include <mpin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INCORRECT_PIN, EXIT_BLOCKED };

enum { PIN_SIZE = 16 };

struct arguments {
    const char *backend, *store, *user;
    const char *code; /* access number or URL of the QR code */
    long timeout;     /* seconds to wait for the activation mail */
};

/* Overwrites the PIN. The pointer is volatile, because the compiler may
 * otherwise remove writes to memory that is not read again. */
static void wipe(char *text, size_t size)
{
    volatile char *p = text;
    while (size--)
        *p++ = 0;
}

/* Reads the PIN from standard input. It uses no buffered input, which would
 * keep a copy, and no echo on a terminal. An empty line cancels. */
static void read_pin(const char *prompt, char *pin, size_t size)
{
    struct termios shown, hidden;
    const int terminal = tcgetattr(STDIN_FILENO, &shown) == 0;
    size_t n = 0;
    char c;
    if (terminal) {
        fputs(prompt, stderr);
        hidden = shown;
        hidden.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    }
    while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
        if (n + 1 < size)
            pin[n++] = c;
    pin[n] = '\0';
    wipe(&c, 1);
    if (terminal) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
        fputc('\n', stderr);
    }
}

/* Reads a line of standard input one byte at a time, so that nothing of the
 * next line is consumed, which is the PIN. */
static int read_line(char *line, size_t size)
{
    size_t n = 0;
    char c = 0;
    while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
        if (n + 1 < size)
            line[n++] = c;
    line[n] = '\0';
    return n > 0;
}

/* Prints what went wrong and returns the status, for the exit code. */
static mpin_status failed(mpin_sdk *sdk, const char *what, mpin_status status)
{
    char text[512];
    size_t size = sizeof text;
    fprintf(stderr, "mpin-example: %s: %s", what, mpin_status_name(status));
    if (mpin_sdk_last_error(sdk, text, &size) == MPIN_OK && *text)
        fprintf(stderr, " (%s)", text);
    fputc('\n', stderr);
    return status;
}

/* Prints a server's text without the control characters in it, which could
 * change the terminal. */
static void print_words(const char *text)
{
    for (; *text; text++)
        fputc(*text > 0 && *text < 32 ? ' ' : *text, stderr);
}

/* Asks for the client secret until the user has opened the link in the mail. */
static mpin_status wait_for_activation(mpin_sdk *sdk, mpin_user *user,
                                       long timeout)
{
    const struct timespec pause = {0, 200 * 1000 * 1000};
    const time_t end = time(NULL) + timeout;
    mpin_status status = mpin_sdk_confirm_registration(sdk, user, NULL);
    if (status == MPIN_IDENTITY_NOT_VERIFIED)
        fputs("waiting for the activation mail\n", stderr);
    while (status == MPIN_IDENTITY_NOT_VERIFIED && time(NULL) < end) {
        nanosleep(&pause, NULL);
        status = mpin_sdk_confirm_registration(sdk, user, NULL);
    }
    return status;
}

/* Registers a new user, or goes on with an interrupted registration. */
static mpin_status registration(mpin_sdk *sdk, const struct arguments *args)
{
    mpin_user *user = NULL;
    int32_t state = MPIN_USER_INVALID;
    char pin[PIN_SIZE] = "", wish[8] = "", device[256] = "";
    size_t size = sizeof wish;
    /* The server's setting says whether it keeps names of devices. */
    const int is_named =
        mpin_sdk_get_client_param(sdk, wish, &size, "setDeviceName") ==
            MPIN_OK &&
        strcmp(wish, "true") == 0 && gethostname(device, sizeof device - 1) == 0;
    mpin_status status = mpin_sdk_make_new_user(sdk, &user, args->user,
                                                is_named ? device : NULL);
    if (status != MPIN_OK)
        return failed(sdk, "make_new_user", status);

    status = mpin_user_get_state(user, &state);
    if (status == MPIN_OK && state == MPIN_USER_INVALID) {
        status = mpin_sdk_start_registration(sdk, user, NULL, NULL);
        if (status != MPIN_OK)
            failed(sdk, "start_registration", status);
    }
    if (status == MPIN_OK) {
        status = wait_for_activation(sdk, user, args->timeout);
        if (status != MPIN_OK)
            failed(sdk, "confirm_registration", status);
    }
    if (status == MPIN_OK) {
        read_pin("PIN: ", pin, sizeof pin);
        status = mpin_sdk_finish_registration(sdk, user, pin);
        wipe(pin, sizeof pin);
        if (status != MPIN_OK)
            failed(sdk, "finish_registration", status);
    }
    mpin_user_free(user);
    return status;
}

/* Finds the named user. The caller must free the handle. */
static mpin_status known_user(mpin_sdk *sdk, const struct arguments *args,
                              mpin_user **user)
{
    mpin_status status = mpin_sdk_get_user(sdk, user, args->user);
    if (status != MPIN_OK)
        return failed(sdk, "get_user", status);
    if (*user != NULL)
        return MPIN_OK;
    fprintf(stderr, "mpin-example: %s is not registered\n", args->user);
    return MPIN_FLOW_ERROR;
}

/* Finishes a login with the PIN that the user entered, in the way that the
 * command needs. */
typedef mpin_status (*finish)(mpin_sdk *sdk, mpin_user *user,
                              const struct arguments *args, const char *pin);

/* The access code that the browser shows: an access number, or the part of the
 * QR code's URL after '#'. */
static const char *session_code(const struct arguments *args)
{
    const char *mark = strrchr(args->code, '#');
    return mark ? mark + 1 : args->code;
}

/* Shows who asks for the login and which server will check the PIN, before the
 * PIN is asked for, because the code may be that of an attacker's browser,
 * which the login would log in as the user. */
static mpin_status introduce(mpin_sdk *sdk, const struct arguments *args,
                             mpin_user *user)
{
    char backend[1024] = "";
    size_t size = sizeof backend;
    mpin_session_details details;
    mpin_status status = mpin_user_get_backend(user, backend, &size);
    details.size = sizeof details;
    if (status == MPIN_OK && args->code != NULL)
        status = mpin_sdk_get_session_details(sdk, &details,
                                              session_code(args));
    if (status != MPIN_OK)
        return failed(sdk, "get_session_details", status);
    fputs("login at ", stderr);
    if (args->code != NULL) {
        print_words(*details.app_name ? details.app_name : "no name");
        fputs(", ", stderr);
    }
    fprintf(stderr, "%s as %s\n", backend, args->user);
    return MPIN_OK;
}

static void print_attempts_left(mpin_sdk *sdk)
{
    int32_t left = -1;
    if (mpin_sdk_get_attempts_left(sdk, &left) == MPIN_OK && left >= 0)
        fprintf(stderr, "mpin-example: %d attempts left\n", (int)left);
}

/* Logs in. After the last allowed wrong PIN the user is BLOCKED. */
static mpin_status authentication(mpin_sdk *sdk, const struct arguments *args,
                                  finish finish)
{
    mpin_user *user = NULL;
    char pin[PIN_SIZE] = "";
    mpin_status status = known_user(sdk, args, &user);
    if (status != MPIN_OK)
        return status;
    status = mpin_sdk_start_authentication(sdk, user);
    if (status != MPIN_OK)
        failed(sdk, "start_authentication", status);
    if (status == MPIN_OK)
        status = introduce(sdk, args, user);
    if (status == MPIN_OK) {
        read_pin("PIN: ", pin, sizeof pin);
        status = finish(sdk, user, args, pin);
        wipe(pin, sizeof pin);
        if (status == MPIN_INCORRECT_PIN)
            print_attempts_left(sdk);
        else if (status != MPIN_OK)
            failed(sdk, "login", status);
    }
    mpin_user_free(user);
    return status;
}

static mpin_status finish_here(mpin_sdk *sdk, mpin_user *user,
                               const struct arguments *args, const char *pin)
{
    (void)args;
    return mpin_sdk_finish_authentication(sdk, user, NULL, NULL, pin);
}

static mpin_status login(mpin_sdk *sdk, const struct arguments *args)
{
    return authentication(sdk, args, finish_here);
}

static mpin_status finish_browser(mpin_sdk *sdk, mpin_user *user,
                                  const struct arguments *args, const char *pin)
{
    return mpin_sdk_finish_authentication_an(sdk, user, pin,
                                             session_code(args));
}

static mpin_status login_browser(mpin_sdk *sdk, const struct arguments *args)
{
    return authentication(sdk, args, finish_browser);
}

/* The length of "https://host:port" in a URL. */
static size_t origin_length(const char *url)
{
    const char *host = strstr(url, "://");
    return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#")
                : strlen(url);
}

static int is_same_origin(const char *one, const char *other)
{
    const size_t n = origin_length(one);
    return n == origin_length(other) && strncasecmp(one, other, n) == 0;
}

/* Logs in a browser by its QR code. If the code belongs to another host than
 * the backend, asks that host for its service. The service becomes the backend
 * only if the user agrees. */
static mpin_status login_qr(mpin_sdk *sdk, const struct arguments *args)
{
    char origin[1024], answer[16] = "";
    mpin_service_details service;
    mpin_status status = MPIN_OK;
    /* A code without a host is a code of the backend. */
    if (*args->code == '#' || is_same_origin(args->code, args->backend))
        return login_browser(sdk, args);
    snprintf(origin, sizeof origin, "%.*s", (int)origin_length(args->code),
             args->code);
    service.size = sizeof service;
    status = mpin_sdk_get_service_details(sdk, &service, origin);
    if (status != MPIN_OK)
        return failed(sdk, "the QR code is of another host", status);
    if (!is_same_origin(service.backend_url, args->backend)) {
        fprintf(stderr, "the QR code is of %s: service ", origin);
        print_words(service.name);
        fputs(", at ", stderr);
        print_words(service.backend_url);
        fputs("; log in there? [y/N] ", stderr);
        if (!read_line(answer, sizeof answer) ||
            (*answer != 'y' && *answer != 'Y')) {
            fputs("mpin-example: refused\n", stderr);
            return MPIN_UNTRUSTED_DOMAIN_ERROR;
        }
        status = mpin_sdk_set_backend(sdk, service.backend_url,
                                      service.rps_prefix);
        if (status != MPIN_OK)
            return failed(sdk, "set_backend", status);
    }
    return login_browser(sdk, args);
}

static mpin_status finish_otp(mpin_sdk *sdk, mpin_user *user,
                              const struct arguments *args, const char *pin)
{
    mpin_otp otp;
    (void)args;
    otp.size = sizeof otp;
    mpin_status status =
        mpin_sdk_finish_authentication_otp(sdk, user, &otp, pin);
    if (status == MPIN_OK && otp.otp[0] == '\0')
        status = otp.status;
    else if (status == MPIN_OK && otp.ttl_seconds > 0)
        printf("%s, for %d seconds\n", otp.otp, (int)otp.ttl_seconds);
    else if (status == MPIN_OK)
        printf("%s\n", otp.otp);
    wipe(otp.otp, sizeof otp.otp);
    return status;
}

static mpin_status one_time_password(mpin_sdk *sdk,
                                     const struct arguments *args)
{
    return authentication(sdk, args, finish_otp);
}

/* Logs in with the old PIN first, because a wrong old PIN would destroy the
 * token. */
static mpin_status finish_change(mpin_sdk *sdk, mpin_user *user,
                                 const struct arguments *args, const char *pin)
{
    char new_pin[PIN_SIZE] = "";
    mpin_status status = finish_here(sdk, user, args, pin);
    if (status != MPIN_OK)
        return status;
    read_pin("new PIN: ", new_pin, sizeof new_pin);
    status = mpin_sdk_change_pin(sdk, user, pin, new_pin);
    wipe(new_pin, sizeof new_pin);
    return status;
}

static mpin_status change_pin(mpin_sdk *sdk, const struct arguments *args)
{
    return authentication(sdk, args, finish_change);
}

static mpin_status delete_user(mpin_sdk *sdk, const struct arguments *args)
{
    mpin_user *user = NULL;
    mpin_status status = known_user(sdk, args, &user);
    if (status == MPIN_OK)
        status = mpin_sdk_delete_user(sdk, user);
    mpin_user_free(user);
    return status;
}

static int32_t state_of(mpin_user *user)
{
    int32_t state = MPIN_USER_INVALID;
    return mpin_user_get_state(user, &state) == MPIN_OK ? state
                                                        : MPIN_USER_INVALID;
}

static void print_user(mpin_user *user)
{
    static const char *const names[] = {"INVALID", "STARTED_VERIFICATION",
                                        "STARTED_REGISTRATION", "ACTIVATED",
                                        "REGISTERED", "BLOCKED"};
    char id[256];
    size_t size = sizeof id;
    if (mpin_user_get_id(user, id, &size) == MPIN_OK)
        printf("%s %s\n", id, names[state_of(user)]);
}

static mpin_status list(mpin_sdk *sdk, const struct arguments *args)
{
    mpin_user *users[100];
    size_t count = sizeof users / sizeof users[0];
    mpin_status status = mpin_sdk_list_users(sdk, users, &count);
    (void)args;
    if (status != MPIN_OK)
        return failed(sdk, "list_users", status);
    for (size_t i = 0; i < count; i++) {
        print_user(users[i]);
        mpin_user_free(users[i]);
    }
    return MPIN_OK;
}

static const struct command {
    const char *name;
    int arguments;
    mpin_status (*run)(mpin_sdk *, const struct arguments *);
} commands[] = {
    {"register", 1, registration},    {"login", 1, login},
    {"login-number", 2, login_browser}, {"login-qr", 2, login_qr},
    {"otp", 1, one_time_password},    {"change-pin", 1, change_pin},
    {"list", 0, list},                {"delete", 1, delete_user},
};

static int is_blocked(mpin_sdk *sdk, const struct arguments *args)
{
    mpin_user *user = NULL;
    int blocked = args->user != NULL &&
                  mpin_sdk_get_user(sdk, &user, args->user) == MPIN_OK &&
                  user != NULL && state_of(user) == MPIN_USER_BLOCKED;
    mpin_user_free(user);
    return blocked;
}

/* Opens the store, sets the backend, and runs the command. */
static int run(const struct command *command, const struct arguments *args)
{
    mpin_sdk *sdk = NULL;
    mpin_config config = {0};
    int blocked = 0;
    mpin_status status = mpin_sdk_new(&sdk);
    if (status != MPIN_OK)
        return EXIT_FAILED;

    config.size = sizeof config;
    config.storage_path = args->store;
    config.backend = args->backend;
    status = mpin_sdk_init(sdk, &config);
    if (status != MPIN_OK) {
        failed(sdk, "init", status);
    } else {
        status = command->run(sdk, args);
        blocked = status != MPIN_OK && is_blocked(sdk, args);
    }
    mpin_sdk_free(sdk);

    puts(blocked ? "BLOCKED" : mpin_status_name(status));
    if (blocked)
        return EXIT_BLOCKED;
    if (status == MPIN_INCORRECT_PIN)
        return EXIT_INCORRECT_PIN;
    return status == MPIN_OK ? EXIT_OK : EXIT_FAILED;
}

static int usage(const char *problem)
{
    fprintf(stderr,
            "mpin-example: %s\n"
            "usage: mpin-example --backend URL --store PATH"
            " [--timeout SECONDS] COMMAND\n"
            "commands: register USER, login USER, login-number USER NUMBER,\n"
            "          login-qr USER URL, otp USER, change-pin USER, list,"
            " delete USER\n"
            "PINs are read from standard input.\n"
            "example: mpin-example --backend http://127.0.0.1:8005"
            " --store ~/.mpin register alice@example.com\n",
            problem);
    return EXIT_USAGE;
}

static const struct command *find(const char *name, int arguments)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0 &&
            commands[i].arguments == arguments)
            return &commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    struct arguments args = {NULL, NULL, NULL, NULL, 300};
    const struct command *command;
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--backend") == 0)
            args.backend = argv[i + 1];
        else if (strcmp(argv[i], "--store") == 0)
            args.store = argv[i + 1];
        else if (strcmp(argv[i], "--timeout") == 0)
            args.timeout = strtol(argv[i + 1], NULL, 10);
        else
            return usage("unknown option");
    }
    command = i < argc ? find(argv[i], argc - i - 1) : NULL;
    if (command == NULL)
        return usage("a command with its arguments is needed");
    if (args.backend == NULL)
        return usage("no backend: --backend URL");
    if (args.store == NULL)
        return usage("no store: --store PATH");
    args.user = command->arguments > 0 ? argv[i + 1] : NULL;
    args.code = command->arguments > 1 ? argv[i + 2] : NULL;
    return run(command, &args);
}

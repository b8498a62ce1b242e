/* Registers a user, or logs one in, with libmpin.
 *
 *     mpin-example --backend URL --store PATH [--timeout SECONDS] register USER
 *     mpin-example --backend URL --store PATH login USER
 *
 * The PIN is read from standard input, one line; never pass one as an argument,
 * where every user of the machine can see it.
 *
 * Prints OK, or the name of the status that ended it, such as INCORRECT_PIN.
 * Exit code: 0 OK, 1 failed, 2 wrong usage, 3 INCORRECT_PIN, 4 BLOCKED.
 */
#define _POSIX_C_SOURCE 200809L

#include <mpin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INCORRECT_PIN, EXIT_BLOCKED };

struct arguments {
    const char *backend, *store, *command, *user;
    long timeout; /* seconds to wait for the activation mail */
};

/* Overwrites the PIN. The pointer is volatile, so that the compiler may not
 * leave out writes to memory that nobody reads again. */
static void wipe(char *text, size_t size)
{
    volatile char *p = text;
    while (size--)
        *p++ = 0;
}

/* Reads the PIN from standard input: without a buffer that would keep it, and
 * without echo on a terminal. An empty line means that the user gave up. */
static void read_pin(char *pin, size_t size)
{
    struct termios shown, hidden;
    const int terminal = tcgetattr(STDIN_FILENO, &shown) == 0;
    size_t n = 0;
    char c;
    if (terminal) {
        fputs("PIN: ", stderr);
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

/* Says what went wrong and returns the status, for the exit code. */
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

/* A new user, or one whose registration was interrupted, gets a token. */
static mpin_status registration(mpin_sdk *sdk, const struct arguments *args)
{
    mpin_user *user = NULL;
    int32_t state = MPIN_USER_INVALID;
    char pin[16] = "";
    mpin_status status = mpin_sdk_make_new_user(sdk, &user, args->user, NULL);
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
        read_pin(pin, sizeof pin);
        status = mpin_sdk_finish_registration(sdk, user, pin);
        wipe(pin, sizeof pin);
        if (status != MPIN_OK)
            failed(sdk, "finish_registration", status);
    }
    mpin_user_free(user);
    return status;
}

/* Proves the PIN; tells by *blocked that the user has no token any more. */
static mpin_status authentication(mpin_sdk *sdk, const struct arguments *args,
                                  int *blocked)
{
    mpin_user *user = NULL;
    int32_t state = MPIN_USER_INVALID;
    char pin[16] = "";
    mpin_status status = mpin_sdk_get_user(sdk, &user, args->user);
    if (status != MPIN_OK)
        return failed(sdk, "get_user", status);
    if (user == NULL) {
        fprintf(stderr, "mpin-example: %s is not registered\n", args->user);
        return MPIN_FLOW_ERROR;
    }

    status = mpin_sdk_start_authentication(sdk, user);
    if (status != MPIN_OK)
        failed(sdk, "start_authentication", status);
    if (status == MPIN_OK) {
        read_pin(pin, sizeof pin);
        status = mpin_sdk_finish_authentication(sdk, user, NULL, NULL, pin);
        wipe(pin, sizeof pin);
        if (status != MPIN_OK && status != MPIN_INCORRECT_PIN)
            failed(sdk, "finish_authentication", status);
    }
    *blocked = mpin_user_get_state(user, &state) == MPIN_OK &&
               state == MPIN_USER_BLOCKED;
    mpin_user_free(user);
    return status;
}

/* Opens the store and the backend, and does what was asked for. */
static int run(const struct arguments *args)
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
    if (status != MPIN_OK)
        failed(sdk, "init", status);
    else if (strcmp(args->command, "register") == 0)
        status = registration(sdk, args);
    else
        status = authentication(sdk, args, &blocked);
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
            " [--timeout SECONDS] register USER\n"
            "       mpin-example --backend URL --store PATH login USER\n"
            "The PIN is read from standard input.\n"
            "example: mpin-example --backend http://127.0.0.1:8005"
            " --store ~/.mpin register alice@example.com\n",
            problem);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct arguments args = {NULL, NULL, NULL, NULL, 300};
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
    if (argc - i != 2)
        return usage("a command and a user are needed");
    args.command = argv[i];
    args.user = argv[i + 1];
    if (strcmp(args.command, "register") != 0 &&
        strcmp(args.command, "login") != 0)
        return usage("the command is register or login");
    if (args.backend == NULL || args.store == NULL)
        return usage("--backend and --store are needed");
    return run(&args);
}

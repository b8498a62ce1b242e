/* Tests what a disk, a kill and other processes may do to the store. Each
 * system call of a registration fails in turn (no space, I/O error,
 * interrupted, quota reached, read-only, done only half), or the process is
 * killed before or after it. 8 processes save at the same time. One process
 * holds the lock and is stopped. All that was acknowledged must be in the
 * store, and nothing may ever be damaged.
 *
 * usage: disk_test [STRIDE] [UPDATES]     every STRIDE-th call; updates of
 * each process */
#define _GNU_SOURCE

#include "check.h"
#include "disk.h"
#include "program.h"
#include "store.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define PIN "1234"

static struct program p;

/* ---- A client on files ---------------------------------------------- */

static mpin_status open_store(mpin_sdk **sdk, const char *folder,
                              uint32_t timeout_ms)
{
    char path[160];
    mpin_config config = program_config(&p);
    p.context.storage_get = NULL;
    p.context.storage_set = NULL;
    /* Each process of the test is a fork. Its own seed makes its random
     * numbers differ from those of the others. */
    p.random_state = PROGRAM_SEED ^ ((uint64_t)getpid() << 20);
    snprintf(path, sizeof path, "%s/store", folder);
    config.storage_path = path;
    config.timeout_ms = timeout_ms;
    return mpin_sdk_init(*sdk, &config);
}

enum { MAKE, START, CONFIRM, FINISH, BEGIN, LOGIN, STEPS };

static mpin_status step(mpin_sdk *sdk, mpin_user **user, int number,
                        const char *id)
{
    switch (number) {
    case MAKE: return mpin_sdk_make_new_user(sdk, user, id, NULL);
    case START: return mpin_sdk_start_registration(sdk, *user, NULL, NULL);
    case CONFIRM: return mpin_sdk_confirm_registration(sdk, *user, NULL);
    case FINISH: return mpin_sdk_finish_registration(sdk, *user, PIN);
    case BEGIN: return mpin_sdk_start_authentication(sdk, *user);
    default:
        return mpin_sdk_finish_authentication(sdk, *user, NULL, NULL, PIN);
    }
}

static int register_user(const char *folder, const char *id)
{
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    int bad = mpin_sdk_new(&sdk) != MPIN_OK ||
              open_store(&sdk, folder, 10000) != MPIN_OK ||
              mpin_sdk_set_backend(sdk, PROGRAM_BACKEND, NULL) != MPIN_OK;
    for (int i = 0; i < STEPS && !bad; i++)
        bad = step(sdk, &user, i, id) != MPIN_OK;
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    return bad;
}

/* Returns the state of a user in the store, as after a restart; -1 if the
 * store cannot be read or contains damaged records. */
static int stored_state(const char *folder, const char *id)
{
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    size_t damaged = 99;
    int32_t state = -1;
    if (mpin_sdk_new(&sdk) == MPIN_OK &&
        open_store(&sdk, folder, 10000) == MPIN_OK &&
        mpin_sdk_set_backend(sdk, PROGRAM_BACKEND, NULL) == MPIN_OK &&
        mpin_sdk_damaged_records(sdk, &damaged) == MPIN_OK && damaged == 0 &&
        mpin_sdk_get_user(sdk, &user, id) == MPIN_OK) {
        state = MPIN_USER_INVALID;
        if (user && mpin_user_get_state(user, &state) != MPIN_OK)
            state = -1;
    }
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    return state;
}

/* ---- Processes ------------------------------------------------------ */

/* Runs `body` in a separate process and returns how it ended. */
static int in_a_process(int (*body)(void *), void *argument)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(body(argument));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* A process with a fault, and what it has reported before it ended. */
struct run {
    const char *folder;
    enum disk_fault fault;
    int at;
    /* The process sends through this pipe the last step that it has
     * finished, and at its end STEPS plus the number of its system calls. */
    int pipe[2];
    int acknowledged;
};

static void tell(const struct run *run, int number)
{
    if (write(run->pipe[1], &number, sizeof number) != sizeof number)
        _exit(9);
}

/* Registers bob while the disk has a fault. A step may fail once, and must
 * succeed when it is repeated. */
static int bad_disk(void *argument)
{
    struct run *run = argument;
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    mpin_status status;
    if (mpin_sdk_new(&sdk) != MPIN_OK)
        return 2;
    disk_arm(run->folder, run->at, run->fault);
    status = open_store(&sdk, run->folder, 10000);
    if (status == MPIN_STORAGE_ERROR)
        status = open_store(&sdk, run->folder, 10000);
    if (status != MPIN_OK ||
        mpin_sdk_set_backend(sdk, PROGRAM_BACKEND, NULL) != MPIN_OK)
        return 3;
    for (int i = 0; i < STEPS; i++) {
        status = step(sdk, &user, i, "bob");
        if (status == MPIN_STORAGE_ERROR) {
            if (i == LOGIN && step(sdk, &user, BEGIN, "bob") != MPIN_OK)
                return 4;
            status = step(sdk, &user, i, "bob");
            /* The first try was stored although the disk reported an error.
             * The repeated step notices it and returns MPIN_FLOW_ERROR. */
            if (status == MPIN_FLOW_ERROR && (i == START || i == FINISH))
                status = MPIN_OK;
        }
        if (status != MPIN_OK) {
            fprintf(stderr, "step %d: %s\n", i, mpin_status_name(status));
            return 5;
        }
        tell(run, i);
    }
    tell(run, STEPS + disk_calls());
    return 0;
}

/* Makes a folder with a store that contains alice, or an empty folder. */
static void make_folder(const char *folder, int with_alice)
{
    mkdir(folder, 0700);
    if (with_alice)
        CHECK(register_user(folder, "alice") == 0, "no alice");
}

static int make_template(void *argument)
{
    make_folder(argument, 1);
    return failures;
}

static void copy_folder(const char *from, const char *to)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s' && cp -a '%s' '%s'", to,
             from, to);
    CHECK(system(command) == 0, "%s", command);
}

struct question {
    const char *folder, *id;
};

static int ask(void *argument)
{
    struct question *question = argument;
    return stored_state(question->folder, question->id) & 0xff;
}

/* Reads a user's state in a separate process, because this process must have
 * no file of the store open. */
static int state_in(const char *folder, const char *id)
{
    struct question question = {folder, id};
    const int status = in_a_process(ask, &question);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static int save_again(void *argument)
{
    return register_user(argument, "carol");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Checks what is left in the folder: alice must be registered, bob must be at
 * least as far as was acknowledged, and saving must still be possible. */
static void check_folder(const struct run *run, int with_alice)
{
    const int bob = state_in(run->folder, "bob");
    const char *where = run->folder;
    CHECK(run->acknowledged >= FINISH
              ? bob == MPIN_USER_REGISTERED
              : run->acknowledged >= START
                    ? bob == MPIN_USER_ACTIVATED || bob == MPIN_USER_REGISTERED
                    : bob == MPIN_USER_INVALID || bob == MPIN_USER_ACTIVATED,
          "fault %d at %d: %d steps acknowledged, bob is %d", run->fault,
          run->at, run->acknowledged, bob);
    if (with_alice)
        CHECK(state_in(where, "alice") == MPIN_USER_REGISTERED,
              "fault %d at %d: alice is lost", run->fault, run->at);
    const double start = now();
    CHECK(in_a_process(save_again, (void *)(size_t)where) == 0,
          "fault %d at %d: no more saving", run->fault, run->at);
    CHECK(now() - start < 2, "the lock was held %.3f s", now() - start);
}

/* Registers bob once, with the fault of `run`. Returns the number of system
 * calls, or 0 after a kill. */
static int run_once(struct run *run, const char *template, int with_alice)
{
    int number, calls = 0;
    faults += run->fault != DISK_GOOD;
    copy_folder(template, run->folder);
    run->acknowledged = -1;
    if (pipe(run->pipe) != 0)
        return -1;
    const int status = in_a_process(bad_disk, run);
    close(run->pipe[1]);
    while (read(run->pipe[0], &number, sizeof number) == sizeof number) {
        if (number < STEPS)
            run->acknowledged = number;
        else
            calls = number - STEPS;
    }
    close(run->pipe[0]);
    const int is_kill =
        run->fault == DISK_KILL_BEFORE || run->fault == DISK_KILL_AFTER;
    CHECK(is_kill ? WIFSIGNALED(status) || calls > 0
                  : WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "fault %d at %d: ended with %d", run->fault, run->at, status);
    check_folder(run, with_alice);
    return calls;
}

static void every_call(int with_alice, int stride)
{
    char template[128], folder[128];
    struct run run = {0};
    snprintf(template, sizeof template, "%s/template%d", store_folder,
             with_alice);
    snprintf(folder, sizeof folder, "%s/run", store_folder);
    if (with_alice)
        CHECK(in_a_process(make_template, template) == 0, "no template");
    else
        mkdir(template, 0700);
    run.folder = folder;
    run.fault = DISK_GOOD;
    const int calls = run_once(&run, template, with_alice);
    CHECK(calls > 40, "%d system calls only", calls);
    for (int fault = DISK_FULL; fault <= DISK_KILL_AFTER; fault++)
        for (int at = 1 + fault % stride; at <= calls; at += stride) {
            run.fault = (enum disk_fault)fault;
            run.at = at;
            run_once(&run, template, with_alice);
        }
    printf("%s store: %d system calls, %d checks so far\n",
           with_alice ? "used" : "new", calls, checks);
    fflush(stdout);
}

/* ---- Several processes ---------------------------------------------- */

enum { PROCESSES = 8 };

struct updater {
    const char *folder;
    int number, updates;
};

/* Restarts a registration again and again. Each restart stores another
 * identity, which must still be in the store before the next restart. */
static int update(void *argument)
{
    const struct updater *updater = argument;
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    char id[16], last[FAKE_HEX_ID] = "", seen[FAKE_HEX_ID];
    size_t n;
    p.server.mailed = 1;
    snprintf(id, sizeof id, "user%d", updater->number);
    if (mpin_sdk_new(&sdk) != MPIN_OK ||
        open_store(&sdk, updater->folder, 30000) != MPIN_OK ||
        mpin_sdk_set_backend(sdk, PROGRAM_BACKEND, NULL) != MPIN_OK ||
        mpin_sdk_make_new_user(sdk, &user, id, NULL) != MPIN_OK ||
        mpin_sdk_start_registration(sdk, user, NULL, NULL) != MPIN_OK)
        return 2;
    for (int i = 0; i < updater->updates; i++) {
        size_t users = 0;
        /* Reads the store, with what the other processes have saved. */
        if (mpin_sdk_list_users(sdk, NULL, &users) != MPIN_OK)
            return 3;
        n = sizeof seen;
        if (mpin_user_get_mpin_id(user, seen, &n) != MPIN_OK ||
            (i > 0 && strcmp(seen, last) != 0))
            return 4;
        if (mpin_sdk_restart_registration(sdk, user, NULL) != MPIN_OK)
            return 5;
        n = sizeof last;
        if (mpin_user_get_mpin_id(user, last, &n) != MPIN_OK)
            return 6;
    }
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    return 0;
}

static void many_processes(int updates)
{
    char folder[128];
    pid_t children[PROCESSES];
    struct updater updater = {folder, 0, updates};
    snprintf(folder, sizeof folder, "%s/many", store_folder);
    mkdir(folder, 0700);
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        updater.number = i;
        children[i] = fork();
        if (children[i] == 0)
            _exit(update(&updater));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        CHECK(status == 0, "process %d ended with %d", i, status);
    }
    for (int i = 0; i < PROCESSES; i++) {
        char id[16];
        snprintf(id, sizeof id, "user%d", i);
        CHECK(state_in(folder, id) == MPIN_USER_STARTED_REGISTRATION, "%s",
              id);
    }
    printf("%d processes, %d updates each\n", PROCESSES, updates);
}

static int stop_in_a_save(void *argument)
{
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    if (mpin_sdk_new(&sdk) != MPIN_OK ||
        open_store(&sdk, argument, 10000) != MPIN_OK ||
        mpin_sdk_set_backend(sdk, PROGRAM_BACKEND, NULL) != MPIN_OK ||
        step(sdk, &user, MAKE, "dave") != MPIN_OK)
        return 2;
    /* Stops the process at the eighth call: after stat, open and flock of
     * the lock, in the middle of saving. */
    disk_arm(argument, 8, DISK_STOP);
    return step(sdk, &user, START, "dave") != MPIN_OK;
}

static int wait_for_lock(void *argument)
{
    mpin_sdk *sdk = NULL;
    mpin_user *user = NULL;
    if (mpin_sdk_new(&sdk) != MPIN_OK ||
        open_store(&sdk, argument, 1000) != MPIN_OK ||
        mpin_sdk_set_backend(sdk, PROGRAM_BACKEND, NULL) != MPIN_OK ||
        step(sdk, &user, MAKE, "erin") != MPIN_OK)
        return 2;
    return step(sdk, &user, START, "erin") == MPIN_STORAGE_ERROR ? 0 : 3;
}

/* Tests a process that holds the lock and is stopped. Others must wait for
 * the lock until their deadline. When the process is killed, the lock must
 * be free. */
static void lock_held(void)
{
    char folder[128];
    int status;
    snprintf(folder, sizeof folder, "%s/held", store_folder);
    mkdir(folder, 0700);
    CHECK(in_a_process(save_again, folder) == 0, "no store");
    fflush(NULL);
    pid_t holder = fork();
    if (holder == 0)
        _exit(stop_in_a_save(folder));
    CHECK(waitpid(holder, &status, WUNTRACED) == holder && WIFSTOPPED(status),
          "it did not stop: %d", status);
    const double start = now();
    status = in_a_process(wait_for_lock, folder);
    CHECK(status == 0, "the other one ended with %d", status);
    CHECK(now() - start < 10, "it waited %.3f s", now() - start);
    kill(holder, SIGKILL);
    waitpid(holder, &status, 0);
    CHECK(in_a_process(save_again, folder) == 0 ||
              state_in(folder, "carol") == MPIN_USER_REGISTERED,
          "the lock is still held");
    CHECK(state_in(folder, "carol") == MPIN_USER_REGISTERED, "carol is lost");
}

int main(int argc, char **argv)
{
    const int stride = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 1;
    const int updates = argc > 2 ? atoi(argv[2]) : 1000;
    if (store_open() != 0)
        return perror("disk_test"), 1;
    program_open(&p);
    program_forget(&p);
    every_call(1, stride);
    every_call(0, stride);
    lock_held();
    many_processes(updates);
    program_close(&p);
    store_close();
    return report("disk_test");
}

/* The calls that use the network, in their order. Before each call, the
 * user, the store and the server are saved, so that the test can return to
 * this point. */
#ifndef STEPS_H
#define STEPS_H

#include "check.h"
#include "program.h"
#include "state.h"

#include <time.h>

#define PIN "1234"

static struct program p;
static mpin_sdk *sdk;
static mpin_user *user;
static char backend[64] = PROGRAM_BACKEND;

enum { BACKEND, START, CONFIRM, BEGIN, LOGIN, STEPS };

static const struct {
    const char *name;
    /* The kinds of the first and the last request that the call makes. */
    int first, last;
    /* The state of the user before the call. */
    int32_t before;
} steps[STEPS] = {
    {"set_backend", FAKE_SETTINGS, FAKE_SETTINGS, -1},
    {"start_registration", FAKE_REGISTER, FAKE_REGISTER,
     MPIN_USER_INVALID},
    {"confirm_registration", FAKE_SIGNATURE, FAKE_SECRET,
     MPIN_USER_ACTIVATED},
    {"start_authentication", FAKE_PERMIT, FAKE_SECOND_PERMIT,
     MPIN_USER_REGISTERED},
    {"finish_authentication", FAKE_PASS_1, FAKE_AUTHENTICATE,
     MPIN_USER_REGISTERED},
};

static mpin_status run(int step)
{
    switch (step) {
    case BACKEND: return mpin_sdk_set_backend(sdk, backend, NULL);
    case START: return mpin_sdk_start_registration(sdk, user, NULL, NULL);
    case CONFIRM: return mpin_sdk_confirm_registration(sdk, user, NULL);
    case BEGIN: return mpin_sdk_start_authentication(sdk, user);
    default:
        return mpin_sdk_finish_authentication(sdk, user, NULL, NULL, PIN);
    }
}

/* Runs a call without a fault. It is tried again if it times out, because
 * its deadline may be too short for a busy machine. */
static void run_well(int step)
{
    mpin_status status = MPIN_TIMED_OUT;
    for (int i = 0; i < 100 && status == MPIN_TIMED_OUT; i++) {
        if (i > 0 && step == LOGIN && run(BEGIN) != MPIN_OK)
            continue;
        status = run(step);
    }
    CHECK(status == MPIN_OK, "%s: %s", steps[step].name,
          mpin_status_name(status));
}

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct {
    struct fake server;
    char stored[2][PROGRAM_STORE];
    size_t stored_len[2];
} kept;

static void keep(void)
{
    kept.server = p.server;
    memcpy(kept.stored, p.stored, sizeof kept.stored);
    memcpy(kept.stored_len, p.stored_len, sizeof kept.stored_len);
}

static void close_sdk(void)
{
    mpin_user_free(user);
    mpin_sdk_free(sdk);
    user = NULL;
    sdk = NULL;
}

static uint32_t timeout_ms = 2000;

static void open_sdk(mpin_sdk **handle)
{
    mpin_config config = program_config(&p);
    config.timeout_ms = timeout_ms;
    CHECK_STATUS(mpin_sdk_new(handle), MPIN_OK);
    CHECK_STATUS(mpin_sdk_init(*handle, &config), MPIN_OK);
}

/* Restores the user, the store and the server as they were before the step. */
static void come_back(int step)
{
    close_sdk();
    p.server = kept.server;
    memcpy(p.stored, kept.stored, sizeof p.stored);
    memcpy(p.stored_len, kept.stored_len, sizeof p.stored_len);
    open_sdk(&sdk);
    if (step == BACKEND)
        return;
    run_well(BACKEND);
    CHECK_STATUS(mpin_sdk_make_new_user(sdk, &user, "alice", NULL), MPIN_OK);
}

/* Makes the step without a fault and saves the result, which is the point
 * before the next step. */
static void go_on(int step)
{
    come_back(step);
    run_well(step);
    if (step == CONFIRM)
        CHECK_STATUS(mpin_sdk_finish_registration(sdk, user, PIN), MPIN_OK);
    keep();
}

static int32_t stored_state(void)
{
    mpin_sdk *other = NULL;
    open_sdk(&other);
    return state_after_restart(other);
}

/* Checks that a call that failed has left the user unchanged, in memory and
 * in the store. In every 16th case it also checks that the right answer
 * still works. */
static void check_unchanged(int step)
{
    static int count;
    CHECK(state_of(user) == steps[step].before, "%s: state %d",
          steps[step].name, state_of(user));
    if (step != BACKEND)
        CHECK(stored_state() == steps[step].before, "%s: stored state %d",
              steps[step].name, stored_state());
    if (++count % 16 != 0)
        return;
    if (step == LOGIN)
        run_well(BEGIN);
    run_well(step);
    come_back(step);
}

#endif

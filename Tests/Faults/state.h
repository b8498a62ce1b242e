/* Returns the state of a user in memory and in the store. */
#ifndef STATE_H
#define STATE_H

#include "check.h"

#include <mpin.h>

static int32_t state_of(mpin_user *of)
{
    int32_t state = -1;
    if (of)
        CHECK_STATUS(mpin_user_get_state(of, &state), MPIN_OK);
    return state;
}

/* Returns the state of the only user in the store; INVALID if there is none.
 * `other` must have just read the store, as after a restart. Frees `other`. */
static int32_t state_after_restart(mpin_sdk *other)
{
    mpin_user *found[2] = {NULL, NULL};
    size_t n = 2;
    int32_t state = MPIN_USER_INVALID;
    CHECK_STATUS(mpin_sdk_list_all_users(other, found, &n), MPIN_OK);
    CHECK(n <= 1, "%zu users", n);
    if (n == 1)
        state = state_of(found[0]);
    mpin_user_free(found[0]);
    mpin_sdk_free(other);
    return state;
}

#endif

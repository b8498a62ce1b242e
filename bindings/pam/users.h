/* The map of users: which person may log in as which user of this machine. */
#ifndef PAM_MPIN_USERS_H
#define PAM_MPIN_USERS_H

#include <security/pam_modules.h>

/** What the provider says about the person who has logged in. */
struct person {
    const char *sub;
    /** Empty unless the provider has verified it. */
    const char *email;
};

/** Checks the whole map, and logs the number of a malformed line.
 *
 * Returns: 0, or -1 if a line is malformed.
 * In: map: lines "USER sub:VALUE" and "USER email:VALUE".
 */
int check_map(pam_handle_t *pamh, const char *map);

/** Whether anybody may log in as the user.
 *
 * Returns: 1 or 0.
 * In: map: one that check_map() accepts.
 */
int is_mapped(const char *map, const char *user);

/** Whether this person may log in as the user. All bytes are compared; upper
 * and lower case differ.
 *
 * In, returns: as is_mapped().
 */
int may_log_in(const char *map, const char *user, const struct person *person);

/** Whether a name can be one of a user in the map: 1 to 255 bytes without
 * blanks, control characters, '#' and '/'. */
int is_name(const char *user);

#endif

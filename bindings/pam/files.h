/* Files that say who may log in. */
#ifndef PAM_MPIN_FILES_H
#define PAM_MPIN_FILES_H

#include <security/pam_modules.h>
#include <sys/types.h>

/** Reads a file as a text, if nobody but root can have written it: the file
 * and all folders above it belong to root, and no other user may write to them.
 * A folder with the sticky bit may be writable. Logs what is wrong.
 *
 * Returns: the text with its NUL, released by free_text(); NULL if the file
 *   cannot be trusted or read, has more than `most` bytes, or contains a NUL.
 * In: path: absolute; forbidden: the permission bits that the file must not
 *   have, in addition.
 */
char *read_trusted(pam_handle_t *pamh, const char *path, mode_t forbidden,
                   size_t most);

/** Wipes a text and releases it; NULL is ignored. */
void free_text(char *text);

#endif

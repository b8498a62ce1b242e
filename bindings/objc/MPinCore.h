/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_OBJC_CORE_H
#define MPIN_OBJC_CORE_H

/* What the classes share. Not for programs.
 *
 * Nothing here checks what mpin.h checks: a nil text becomes NULL, and an
 * object that is no user becomes no handle, for which every function of mpin.h
 * returns an error. */

#import "MPinMemory.h"
#import "MPinResults.h"

#include <mpin.h>

/** The sdk of the process. It is made at the first use and never freed, so that
 * no thread can free it while another one uses it. */
mpin_sdk *MPinHandle(void);

/** The result of a call of mpin.h, with the error text of this thread. */
MpinStatus *MPinTell(mpin_status code);

/** The result INVALID_ARGUMENT of a call that was not made. */
MpinStatus *MPinRefuse(NSString *reason);

/* ---- Texts ---------------------------------------------------------- */

/** A text for C. */
@interface MPinText : NSObject {
    char *_chars;
    size_t _size;
}
/** NULL for nil. If the object is no string, or C cannot have the string
 * because a NUL is in it or half a character, the result is a byte that is no
 * UTF-8, which every function of mpin.h refuses. */
+ (const char *)from:(const id)text;
/** The same for an argument that may be left out: NULL for an empty text,
 * too. */
+ (const char *)fromOptional:(const id)text;
@end

/** A text from C. Never nil. */
NSString *MPinString(const char *text);

/** Digits for C, in memory that the caller overwrites by MPinWipe. */
typedef struct MPinDigits {
    char chars[16];
} MPinDigits;

/** NULL for nil. What is no PIN becomes one that mpin.h refuses. */
const char *MPinPin(MPinDigits *digits, const id pin);

/** Overwrites memory. The compiler cannot remove the writes. */
void MPinWipe(void *bytes, size_t size);

/* ---- Users ---------------------------------------------------------- */

/** A user with the states of the MIRACL MFA SDK. */
@interface MPinUser : NSObject {
    mpin_user *_handle;
}
/** The object releases the handle. */
- (instancetype)initWithHandle:(mpin_user *)handle;
- (mpin_user *)handle;
@end

/** A user with the states of the Milagro SDK. */
@interface MPinMilagroUser : MPinUser
@end

/** The handle of a user, NULL for anything else. */
mpin_user *MPinHandleOf(const id user);

/** Adds the second factor, if there is one, for the next call that takes a PIN.
 * Refuses a call without a PIN before that, because the factor would stay.
 * Returns nil if the call may be made. */
MpinStatus *MPinAddFactor(const id user, const id pin, const id factor);

#endif

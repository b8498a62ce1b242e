/* SPDX-License-Identifier: Apache-2.0 */
#import "MPinCore.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static mpin_sdk *sharedHandle;

static void makeHandle(void) {
    if (mpin_sdk_new(&sharedHandle) != MPIN_OK) sharedHandle = NULL;
}

mpin_sdk *MPinHandle(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, makeHandle);
    return sharedHandle;
}

MpinStatus *MPinTell(mpin_status code) {
    mpin_error error;
    memset(&error, 0, sizeof error);
    error.size = sizeof error;
    /* Not every status is that of the call before: the text may be older. */
    const BOOL hasText =
        code != MPIN_OK &&
        mpin_sdk_get_last_error(MPinHandle(), &error) == MPIN_OK &&
        error.status == code;
    const char *name = code == MPIN_OK ? "" : mpin_status_name(code);
    MpinStatus *status =
        [[MpinStatus alloc] initWith:(MPinStatus)code
                        errorMessage:MPinString(hasText ? error.text : name)];
    return MPIN_AUTORELEASE(status);
}

MpinStatus *MPinRefuse(NSString *reason) {
    MpinStatus *status = [[MpinStatus alloc] initWith:INVALID_ARGUMENT
                                         errorMessage:reason];
    return MPIN_AUTORELEASE(status);
}

void MPinWipe(void *bytes, size_t size) {
    volatile char *place = bytes;
    while (size--) *place++ = 0;
}

NSString *MPinString(const char *text) {
    NSString *string = [NSString stringWithUTF8String:text];
    return string ? string : @"";
}

/* Whether the text has the same bytes in C, with a NUL behind them. */
static BOOL copyChars(const id text, char *chars, size_t size) {
    return [text getCString:chars
                  maxLength:size
                   encoding:NSUTF8StringEncoding] &&
           strlen(chars) == size - 1;
}

@implementation MPinText

- (instancetype)initWithText:(const id)text {
    self = [super init];
    if (!self) return nil;
    const BOOL isText = [text isKindOfClass:[NSString class]];
    _size = 1 + (isText ? [text
                              lengthOfBytesUsingEncoding:NSUTF8StringEncoding]
                        : 0);
    _chars = calloc(_size + 1, 1);
    if (_chars && (!isText || !copyChars(text, _chars, _size))) {
        MPinWipe(_chars, _size);
        _chars[0] = '\xff';
    }
    return self;
}

- (const char *)chars MPIN_INNER {
    return _chars;
}

- (void)dealloc {
    if (_chars) MPinWipe(_chars, _size);
    free(_chars);
#if !MPIN_ARC
    [super dealloc];
#endif
}

+ (const char *)from:(const id)text {
    if (!text) return NULL;
    MPinText *copy = [[MPinText alloc] initWithText:text];
    return [MPIN_AUTORELEASE(copy) chars];
}

+ (const char *)fromOptional:(const id)text {
    const char *chars = [self from:text];
    return chars && *chars ? chars : NULL;
}

@end

const char *MPinPin(MPinDigits *digits, const id pin) {
    memset(digits, 0, sizeof *digits);
    if (!pin) return NULL;
    const BOOL isText = [pin isKindOfClass:[NSString class]];
    const size_t size =
        isText ? 1 + [pin lengthOfBytesUsingEncoding:NSUTF8StringEncoding] : 0;
    if (!isText || size > sizeof digits->chars ||
        !copyChars(pin, digits->chars, size))
        strcpy(digits->chars, "?");
    return digits->chars;
}

mpin_user *MPinHandleOf(const id user) {
    return [user isKindOfClass:[MPinUser class]] ? [(MPinUser *)user handle]
                                                 : NULL;
}

MpinStatus *MPinAddFactor(const id user, const id pin, const id factor) {
    if (!pin) return MPinRefuse(@"the PIN is nil");
    if (!factor || ([factor isKindOfClass:[NSString class]] &&
                    [factor length] == 0))
        return nil;
    MPinDigits digits;
    const mpin_status code = mpin_sdk_add_factor(
        MPinHandle(), MPinHandleOf(user), MPinPin(&digits, factor));
    MPinWipe(&digits, sizeof digits);
    return code == MPIN_OK ? nil : MPinTell(code);
}

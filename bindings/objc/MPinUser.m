/* SPDX-License-Identifier: Apache-2.0 */
#import "MPinCore.h"
#import "MPinMFA.h"

typedef mpin_status (*TextGetter)(mpin_user *user, char *out, size_t *out_len);

@interface MPinUser (IUser) <IUser>
@end

@implementation MPinUser

- (instancetype)initWithHandle:(mpin_user *)handle {
    self = [super init];
    if (self) _handle = handle;
    return self;
}

- (void)dealloc {
    mpin_user_free(_handle);
#if !MPIN_ARC
    [super dealloc];
#endif
}

- (mpin_user *)handle {
    return _handle;
}

- (NSString *)textOf:(TextGetter)getter {
    /* The longest is the M-Pin ID, which may have the user id twice. */
    char text[1 << 14] = "";
    size_t size = sizeof text;
    return getter(_handle, text, &size) == MPIN_OK ? MPinString(text) : @"";
}

- (NSString *)getIdentity {
    return [self textOf:mpin_user_get_id];
}

- (NSString *)getBackend {
    return [self textOf:mpin_user_get_backend];
}

- (NSString *)getCustomerId {
    return [self textOf:mpin_user_get_customer_id];
}

- (NSString *)getAppId {
    return [self textOf:mpin_user_get_app_id];
}

- (NSString *)getMPinId {
    return [self textOf:mpin_user_get_mpin_id];
}

- (NSString *)getVerificationType {
    return [self textOf:mpin_user_get_verification_type];
}

- (NSString *)GetCustomerId {
    return [self getCustomerId];
}

- (NSString *)GetAppId {
    return [self getAppId];
}

- (NSString *)GetMPinId {
    return [self getMPinId];
}

- (UserState)getState {
    int32_t state = MPIN_USER_INVALID;
    return mpin_user_get_state(_handle, &state) == MPIN_OK ? (UserState)state
                                                           : INVALID;
}

- (int)getPinLength {
    int32_t digits = 0;
    return mpin_user_get_pin_length(_handle, &digits) == MPIN_OK ? digits : 0;
}

- (BOOL)canSign {
    int32_t can = 0;
    return mpin_user_get_can_sign(_handle, &can) == MPIN_OK && can == 1;
}

- (Expiration *)getRegistrationExpiration {
    mpin_expiration times;
    memset(&times, 0, sizeof times);
    times.size = sizeof times;
    Expiration *expiration = [[Expiration alloc] init];
    if (mpin_user_get_registration_expiration(_handle, &times) == MPIN_OK) {
        expiration.expireTimeSeconds = (NSInteger)times.expire_time;
        expiration.nowTimeSeconds = (NSInteger)times.now_time;
    }
    return MPIN_AUTORELEASE(expiration);
}

- (NSString *)description {
    return [NSString stringWithFormat:@"<%@ %@>", [self class],
                                      [self getIdentity]];
}

@end

@implementation MPinMilagroUser

- (UserState)getState {
    int32_t state = MPIN_USER_INVALID;
    return mpin_user_get_state_legacy([self handle], &state) == MPIN_OK
               ? (UserState)state
               : INVALID;
}

@end

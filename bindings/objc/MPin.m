/* SPDX-License-Identifier: Apache-2.0 */
#import "MPin.h"
#import "MPinMethods.h"

@implementation MPin

+ (Class)userClass {
    return [MPinMilagroUser class];
}

+ (NSMutableArray *)listUsers {
    return [self usersOf:NULL with:mpin_sdk_list_users];
}

+ (MpinStatus *)StartRegistration:(const id<IUser>)user {
    return [self StartRegistration:user activateCode:nil userData:nil];
}

+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                         userData:(NSString *)userData {
    return [self StartRegistration:user activateCode:nil userData:userData];
}

+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                     activateCode:(NSString *)activateCode {
    return [self StartRegistration:user
                      activateCode:activateCode
                          userData:nil];
}

+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                     activateCode:(NSString *)activateCode
                         userData:(NSString *)userData {
    return MPinTell(mpin_sdk_start_registration(
        MPinHandle(), MPinHandleOf(user),
        [MPinText fromOptional:activateCode],
        [MPinText fromOptional:userData]));
}

+ (MpinStatus *)RestartRegistration:(const id<IUser>)user
                           userData:(const NSString *)userData {
    return MPinTell(mpin_sdk_restart_registration(
        MPinHandle(), MPinHandleOf(user), [MPinText fromOptional:userData]));
}

+ (MpinStatus *)FinishRegistration:(const id<IUser>)user pin:(NSString *)pin {
    return [self finishRegistration:user pin:pin factor:nil];
}

+ (MpinStatus *)StartAuthentication:(const id<IUser>)user {
    return MPinTell(
        mpin_sdk_start_authentication(MPinHandle(), MPinHandleOf(user)));
}

+ (MpinStatus *)StartAuthentication:(const id<IUser>)user
                         accessCode:(NSString *)accessCode {
    return [self startAuthentication:user accessCode:accessCode];
}

+ (MpinStatus *)CheckAccessNumber:(NSString *)accessNumber {
    return MPinTell(mpin_sdk_check_access_number(
        MPinHandle(), [MPinText from:accessNumber]));
}

+ (MpinStatus *)FinishAuthentication:(const id<IUser>)user
                                 pin:(NSString *)pin {
    return [self finishAuthentication:user pin:pin factor:nil];
}

/* The application's answer to the last login; nil if it cannot be read. */
static NSString *answerFor(const id user) {
    size_t size = 0;
    mpin_user *handle = MPinHandleOf(user);
    mpin_status code =
        mpin_sdk_get_auth_data(MPinHandle(), handle, NULL, &size);
    while (code == MPIN_OK || code == MPIN_BUFFER_TOO_SMALL) {
        NSMutableData *room = [NSMutableData dataWithLength:size];
        code = mpin_sdk_get_auth_data(MPinHandle(), handle,
                                      [room mutableBytes], &size);
        NSString *answer = code == MPIN_OK ? MPinString([room bytes]) : nil;
        MPinWipe([room mutableBytes], [room length]);
        if (answer) return answer;
    }
    return nil;
}

+ (MpinStatus *)FinishAuthentication:(const id<IUser>)user
                                 pin:(NSString *)pin
                      authResultData:(NSString **)authResultData {
    MpinStatus *status = [self finishAuthentication:user pin:pin factor:nil];
    if (status.status == OK && authResultData) {
        NSString *answer = answerFor(user);
        if (answer) *authResultData = answer;
    }
    return status;
}

+ (MpinStatus *)FinishAuthenticationOTP:(const id<IUser>)user
                                    pin:(NSString *)pin
                                    otp:(OTP **)otp {
    return [self finish:mpin_sdk_finish_authentication_otp
               password:otp
                     of:[OTP class]
                   user:user
                    pin:pin
                 factor:nil];
}

+ (MpinStatus *)FinishAuthenticationAN:(const id<IUser>)user
                                   pin:(NSString *)pin
                          accessNumber:(NSString *)accessNumber {
    return [self finishAuthentication:user
                                  pin:pin
                               factor:nil
                         accessNumber:accessNumber];
}

@end

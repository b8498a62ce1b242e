/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_OBJC_METHODS_H
#define MPIN_OBJC_METHODS_H

/* The methods of MPinClient that MPin and MPinMFA build theirs from. Not for
 * programs. A source file imports MPin.h or MPinMFA.h first. */

#import "MPinClient.h"
#import "MPinCore.h"

typedef mpin_status (*MPinPasswordCall)(mpin_sdk *sdk, mpin_user *user,
                                        mpin_otp *password, const char *pin);

@interface MPinClient (Methods)

/** The class of the users, whose states have the numbers of the SDK. */
+ (Class)userClass;
/** The object releases the handle; nil for NULL. */
+ (id<IUser>)userWith:(mpin_user *)handle;
/** The users that `list` gives: those of `backend`, if it is not NULL. */
+ (NSMutableArray *)usersOf:(const char *)backend
                       with:(mpin_status (*)(mpin_sdk *, mpin_user **,
                                             size_t *))list;

+ (MpinStatus *)finishRegistration:(const id)user
                               pin:(NSString *)pin
                            factor:(NSString *)factor;
+ (MpinStatus *)startAuthentication:(const id)user
                         accessCode:(NSString *)accessCode;
+ (MpinStatus *)finishAuthentication:(const id)user
                                 pin:(NSString *)pin
                              factor:(NSString *)factor;
+ (MpinStatus *)finishAuthentication:(const id)user
                                 pin:(NSString *)pin
                              factor:(NSString *)factor
                        accessNumber:(NSString *)accessNumber;
/** Logs in for a one-time password or a registration code of class `class`. */
+ (MpinStatus *)finish:(MPinPasswordCall)call
              password:(OTP **)password
                    of:(Class)class
                  user:(const id)user
                   pin:(NSString *)pin
                factor:(NSString *)factor;

@end

#endif

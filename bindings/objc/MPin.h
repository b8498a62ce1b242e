/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_OBJC_MPIN_H
#define MPIN_OBJC_MPIN_H

#ifdef MPIN_OBJC_MPINMFA_H
#error "a source file imports either MPin.h or MPinMFA.h"
#endif

#import "MPinClient.h"

/** The class of the Milagro SDK for iOS, over mpin.h: logins at a Milagro
 * server. */
@interface MPin : MPinClient

/** The server mails a link to the user. After that the user's state is
 * STARTED_REGISTRATION, or ACTIVATED if no confirmation is needed. */
+ (MpinStatus *)StartRegistration:(const id<IUser>)user;
+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                         userData:(NSString *)userData;
+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                     activateCode:(NSString *)activateCode;
+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                     activateCode:(NSString *)activateCode
                         userData:(NSString *)userData;
+ (MpinStatus *)RestartRegistration:(const id<IUser>)user
                           userData:(const NSString *)userData;
+ (MpinStatus *)FinishRegistration:(const id<IUser>)user pin:(NSString *)pin;

+ (MpinStatus *)StartAuthentication:(const id<IUser>)user;
+ (MpinStatus *)StartAuthentication:(const id<IUser>)user
                         accessCode:(NSString *)accessCode;
+ (MpinStatus *)CheckAccessNumber:(NSString *)accessNumber;
/** INCORRECT_PIN after a wrong PIN. If no attempt is left, the user's state is
 * BLOCKED then. */
+ (MpinStatus *)FinishAuthentication:(const id<IUser>)user pin:(NSString *)pin;
/** authResultData: the application's answer, JSON text; may be NULL. */
+ (MpinStatus *)FinishAuthentication:(const id<IUser>)user
                                 pin:(NSString *)pin
                      authResultData:(NSString **)authResultData;
+ (MpinStatus *)FinishAuthenticationOTP:(const id<IUser>)user
                                    pin:(NSString *)pin
                                    otp:(OTP **)otp;
/** Logs in a browser that shows an access number or a QR code. */
+ (MpinStatus *)FinishAuthenticationAN:(const id<IUser>)user
                                   pin:(NSString *)pin
                          accessNumber:(NSString *)accessNumber;

@end

#endif

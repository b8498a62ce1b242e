/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_OBJC_MPINMFA_H
#define MPIN_OBJC_MPINMFA_H

#ifdef MPIN_OBJC_MPIN_H
#error "a source file imports either MPin.h or MPinMFA.h"
#endif

#import "MPinClient.h"

/** The class of the MIRACL MFA SDK for iOS, over mpin.h: logins of apps and of
 * websites.
 *
 * An accessCode is the session that a login is for: the part of the QR code's
 * URL after '#', or what GetAccessCode gives. Where none is needed it is empty,
 * never nil. pin0 is the PIN, pin1 a second factor, nil without one. pmi is the
 * device's identifier for push messages; it may be empty or nil. */
@interface MPinMFA : MPinClient

/** Opens a session at the application's authorization URL, for a login on this
 * device. */
+ (MpinStatus *)GetAccessCode:(NSString *)authzUrl
                   accessCode:(NSString **)accessCode;

/** The server mails a code that verifies the user id. The redirect URI is not
 * sent: the server knows that of the client. */
+ (MpinStatus *)StartVerification:(const id<IUser>)user
                         clientId:(NSString *)clientId
                       accessCode:(NSString *)accessCode;
+ (MpinStatus *)StartVerification:(const id<IUser>)user
                         clientId:(NSString *)clientId
                      redirectURI:(NSURL *)redirectURI
                       accessCode:(NSString *)accessCode;
+ (MpinStatus *)FinishVerification:(const id<IUser>)user
                  verificationCode:(NSString *)code
                verificationResult:(VerificationResult **)result;

/** The server mails a link to the user. After that the user's state is
 * STARTED_REGISTRATION, or ACTIVATED if no confirmation is needed. */
+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                       accessCode:(NSString *)accessCode
                              pmi:(NSString *)pmi;
/** regCode: of another device of the user, or an activation token. */
+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                       accessCode:(NSString *)accessCode
                          regCode:(NSString *)regCode
                              pmi:(NSString *)pmi;
/** The same without a session. */
+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                     activateCode:(NSString *)activateCode
                              pmi:(NSString *)pmi;
+ (MpinStatus *)SetRegistrationToken:(const id<IUser>)user
                               token:(NSString *)token;
+ (BOOL)isRegistrationTokenSet:(const id<IUser>)user;
+ (MpinStatus *)FinishRegistration:(const id<IUser>)user
                              pin0:(NSString *)pin0
                              pin1:(NSString *)pin1;

+ (MpinStatus *)StartAuthentication:(const id<IUser>)user
                         accessCode:(NSString *)accessCode;
/** Logs in the browser whose session the code names. */
+ (MpinStatus *)FinishAuthentication:(const id<IUser>)user
                                pin0:(NSString *)pin0
                                pin1:(NSString *)pin1
                          accessCode:(NSString *)accessCode;
/** Logs in on this device: the app gives the authorization code to its back
 * end. */
+ (MpinStatus *)FinishAuthentication:(const id<IUser>)user
                                 pin:(NSString *)pin
                                pin1:(NSString *)pin1
                          accessCode:(NSString *)accessCode
                           authzCode:(NSString **)authzCode;
+ (MpinStatus *)StartAuthenticationOTP:(const id<IUser>)user;
+ (MpinStatus *)FinishAuthenticationOTP:(const id<IUser>)user
                                    pin:(NSString *)pin
                                    otp:(OTP **)otp;
+ (MpinStatus *)StartAuthenticationRegCode:(const id<IUser>)user;
+ (MpinStatus *)FinishAuthenticationRegCode:(const id<IUser>)user
                                        pin:(NSString *)pin
                                       pin1:(NSString *)pin1
                                    regCode:(RegCode **)regCode;

/** Logs in and gets permission to make a signing key. */
+ (MpinStatus *)StartRegistrationDVS:(const id<IUser>)user
                                pin0:(NSString *)pin0
                                pin1:(NSString *)pin1;
/** pinDVS: the signing PIN; nfc: a second factor, nil without one. */
+ (MpinStatus *)FinishRegistrationDVS:(const id<IUser>)user
                               pinDVS:(NSString *)pinDVS
                                  nfc:(NSString *)nfc;
/** The SHA-256 hash of the text's UTF-8 bytes; nil for nil. */
+ (NSData *)HashDocument:(NSString *)document;
+ (BOOL)VerifyDocument:(NSString *)document hash:(NSData *)hash;
/** epochTime: seconds since 1970; 0 means now. */
+ (MpinStatus *)Sign:(const id<IUser>)user
        documentHash:(NSData *)hash
                pin0:(NSString *)pin0
                pin1:(NSString *)pin1
           epochTime:(double)epochTime
              result:(BridgeSignature **)result;

@end

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_OBJC_IUSER_H
#define MPIN_OBJC_IUSER_H

#import <Foundation/Foundation.h>

#import "MPinResults.h"

/* The states have the numbers of the SDK that the program was written for, and
 * a user gives the numbers of the class that it comes from. So a source file
 * uses MPin or MPinMFA, and this header can not know which. */
#if defined(MPIN_OBJC_MPIN_H)
typedef NS_ENUM(NSInteger, UserState) {
    INVALID = 0,
    STARTED_REGISTRATION = 1,
    ACTIVATED = 2,
    REGISTERED = 3,
    BLOCKED = 4
};
#elif defined(MPIN_OBJC_MPINMFA_H)
typedef NS_ENUM(NSInteger, UserState) {
    INVALID = 0,
    STARTED_VERIFICATION = 1,
    STARTED_REGISTRATION = 2,
    ACTIVATED = 3,
    REGISTERED = 4,
    BLOCKED = 5
};
#else
#error "import MPin.h or MPinMFA.h"
#endif

/** A user. Two objects of the same user have the same state at any time, until
 * Destroy: list the users again after the next initSDK. */
@protocol IUser <NSObject>

- (NSString *)getIdentity;
- (UserState)getState;
- (NSString *)getBackend;
/** Empty if the server has no customers; so is the application. */
- (NSString *)getCustomerId;
- (NSString *)getAppId;
/** The M-Pin ID in hex; empty before the registration has started. */
- (NSString *)getMPinId;
/** When the registration that was started ends. */
- (Expiration *)getRegistrationExpiration;
/** 4 to 6; 0 if the server does not say. */
- (int)getPinLength;
- (BOOL)canSign;
/** "em", "pv", "rc" or "dvs" (mpin.h, mpin_user_get_verification_type). */
- (NSString *)getVerificationType;
/** The three getters of the Milagro SDK with a capital letter. */
- (NSString *)GetCustomerId;
- (NSString *)GetAppId;
- (NSString *)GetMPinId;

@end

#endif

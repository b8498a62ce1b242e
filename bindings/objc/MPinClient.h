/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_OBJC_CLIENT_H
#define MPIN_OBJC_CLIENT_H

/* What MPin and MPinMFA have in common. Import MPin.h or MPinMFA.h. */

#import "IUser.h"
#import "MPinResults.h"
#import "MpinStatus.h"

struct mpin_config;

/**
 * The client of the process. All methods may be called from any thread; those
 * that talk to a server wait for its answer, so do not call them in the thread
 * of the user interface.
 *
 * No method raises an exception. A required argument that is nil, and an object
 * of a wrong class, gives INVALID_ARGUMENT, or INVALID_HANDLE if it is the user.
 * Methods that return a user, a text or a list return nil or an empty list
 * after a failure, and lastStatus says why. An output that a failed call would
 * have written keeps its value.
 *
 * A PIN is a string of 4 to 6 digits; the empty string says that the user has
 * cancelled. Strings of Foundation cannot be overwritten, so do not keep them.
 */
@interface MPinClient : NSObject

/* ---- Life cycle ----------------------------------------------------- */

/** Opens the store of this program: the file mpin/users, with its key next to
 * it, in the folder of the program's name in the user's folder for application
 * support. If it is open already, does nothing. */
+ (MpinStatus *)initSDK;
/** The same, and the headers are added to every request. */
+ (MpinStatus *)initSDKWithHeaders:(NSDictionary *)headers;
/** The same with a configuration of mpin.h: another place of the store, its key
 * from the keychain, certificates, a proxy. */
+ (MpinStatus *)initSDKWithConfig:(const struct mpin_config *)config;
/** Undoes initSDK. The stored data stays. */
+ (MpinStatus *)Destroy;
/** Removes the users from memory, not from the store. */
+ (MpinStatus *)ClearUsers;
/** Ends the call that another thread has made, with CANCELED. */
+ (MpinStatus *)Cancel;
/** The result of the last call in this thread that has failed. */
+ (MpinStatus *)lastStatus;

/* ---- Backend -------------------------------------------------------- */

+ (MpinStatus *)TestBackend:(const NSString *)url;
+ (MpinStatus *)TestBackend:(const NSString *)url
                  rpsPrefix:(const NSString *)rpsPrefix;
+ (MpinStatus *)SetBackend:(const NSString *)url;
+ (MpinStatus *)SetBackend:(const NSString *)url
                 rpsPrefix:(const NSString *)rpsPrefix;
/** A member of the backend's client settings; nil without a backend, empty if
 * there is no such member. */
+ (NSString *)GetClientParam:(const NSString *)key;
+ (MpinStatus *)SetClientId:(NSString *)clientId;
+ (MpinStatus *)AddCustomHeaders:(NSDictionary *)headers;
+ (MpinStatus *)ClearCustomHeaders;
/** Once there is a trusted domain, requests go only to it and its subdomains,
 * by https. */
+ (MpinStatus *)AddTrustedDomain:(NSString *)domain;
+ (MpinStatus *)ClearTrustedDomains;
/** Asks the website whose address the QR code has for its service. */
+ (MpinStatus *)GetServiceDetails:(NSString *)url
                   serviceDetails:(ServiceDetails **)details;

/* ---- Users ---------------------------------------------------------- */

/** A user in state INVALID, or the known user with this id. Nothing is stored
 * or sent. */
+ (id<IUser>)MakeNewUser:(const NSString *)identity;
+ (id<IUser>)MakeNewUser:(const NSString *)identity
              deviceName:(const NSString *)deviceName;
+ (BOOL)IsUserExisting:(NSString *)identity
            customerId:(NSString *)customerId
                 appId:(NSString *)appId;
+ (id<IUser>)getIUserById:(NSString *)identity;
/** Erases the user and its token. The server is not told. */
+ (MpinStatus *)DeleteUser:(const id<IUser>)user;
/** The users of the backend that is set (MPin), or of all (MPinMFA). */
+ (NSMutableArray *)listUsers;
+ (NSMutableArray *)listUsers:(NSString *)backend;
/** The URLs of the backends that have users. */
+ (NSMutableArray *)listBackends;

/* ---- Flows ---------------------------------------------------------- */

+ (MpinStatus *)RestartRegistration:(const id<IUser>)user;
/** IDENTITY_NOT_VERIFIED until the user has opened the link in the mail. */
+ (MpinStatus *)ConfirmRegistration:(const id<IUser>)user;
+ (MpinStatus *)ConfirmRegistration:(const id<IUser>)user
         pushNotificationIdentifier:(NSString *)identifier;
/** Whether the session of the last login can be ended by Logout. */
+ (BOOL)CanLogout:(const id<IUser>)user;
+ (BOOL)Logout:(const id<IUser>)user;
/** The session of the browser that shows this code; nil after a failure. */
+ (SessionDetails *)GetSessionDetails:(NSString *)accessCode;
/** Tells the page that shows this code that the user declines. */
+ (MpinStatus *)AbortSession:(NSString *)accessCode;

@end

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_OBJC_RESULTS_H
#define MPIN_OBJC_RESULTS_H

#import <Foundation/Foundation.h>

#import "MpinStatus.h"

/** The service that a website offers. Texts that the server does not send are
 * empty, here and in the other classes. */
@interface ServiceDetails : NSObject {
    NSString *_name, *_backendUrl, *_rpsPrefix, *_logoUrl;
}
@property(nonatomic, copy) NSString *name;
/** The argument for SetBackend:. */
@property(nonatomic, copy) NSString *backendUrl;
@property(nonatomic, copy) NSString *rpsPrefix;
@property(nonatomic, copy) NSString *logoUrl;
@end

/** The session of a browser that asks for a login. */
@interface SessionDetails : NSObject {
    NSString *_prerollId, *_appName, *_appIconUrl, *_customerId,
        *_customerName, *_customerIconUrl, *_clientId, *_redirectURI;
    BOOL _registerOnly;
}
/** The user id that the page suggests. */
@property(nonatomic, copy) NSString *prerollId;
@property(nonatomic, copy) NSString *appName;
@property(nonatomic, copy) NSString *appIconUrl;
@property(nonatomic, copy) NSString *customerId;
@property(nonatomic, copy) NSString *customerName;
@property(nonatomic, copy) NSString *customerIconUrl;
@property(nonatomic, copy) NSString *clientId;
@property(nonatomic, copy) NSString *redirectURI;
@property(nonatomic) BOOL registerOnly;

- (instancetype)initWith:(NSString *)prerollId
                 appName:(NSString *)appName
              appIconUrl:(NSString *)appIconUrl;
@end

/** Times of the server's clock, in seconds since 1970. Both are 0 if the server
 * does not send them. */
@interface Expiration : NSObject {
    NSInteger _expireTimeSeconds, _nowTimeSeconds;
}
@property(nonatomic) NSInteger expireTimeSeconds;
@property(nonatomic) NSInteger nowTimeSeconds;
@end

/** A one-time password. */
@interface OTP : NSObject {
    MpinStatus *_status;
    NSString *_otp;
    long _expireTime, _nowTime;
    int _ttlSeconds;
}
/** Whether the server issued one: OK, RESPONSE_PARSE_ERROR if a time is
 * missing, else FLOW_ERROR. */
@property(nonatomic, retain, readonly) MpinStatus *status;
@property(nonatomic, copy, readonly) NSString *otp;
/** Seconds since 1970 on the server's clock. */
@property(nonatomic, readonly) long expireTime;
@property(nonatomic, readonly) int ttlSeconds;
@property(nonatomic, readonly) long nowTime;

- (instancetype)initWith:(MpinStatus *)status
                     otp:(NSString *)otp
              expireTime:(long)expireTime
              ttlSeconds:(int)ttlSeconds
                 nowTime:(long)nowTime;
@end

/** A code with which another device of the user registers. */
@interface RegCode : OTP
@end

/** The result of FinishVerification. */
@interface VerificationResult : NSObject {
    NSString *_accessCode, *_activationToken;
    NSInteger _expireTime;
}
/** The browser session that asked for the verification; may be empty. */
@property(nonatomic, copy) NSString *accessCode;
/** The regCode for StartRegistration. */
@property(nonatomic, copy) NSString *activationToken;
/** Seconds since 1970 on the server's clock; 0 if it does not say. */
@property(nonatomic) NSInteger expireTime;
@end

/** A signature, with what its verifier needs. */
@interface BridgeSignature : NSObject {
    NSData *_strHash, *_strU, *_strV, *_strPublicKey;
    NSString *_strMpinId, *_strDtas;
    NSInteger _timestamp;
}
/** What was signed. */
@property(nonatomic, copy) NSData *strHash;
/** The M-Pin ID in hex. */
@property(nonatomic, copy) NSString *strMpinId;
/** The two G1 points of the signature, 65 bytes each. */
@property(nonatomic, copy) NSData *strU;
@property(nonatomic, copy) NSData *strV;
/** A G2 point, 128 bytes. */
@property(nonatomic, copy) NSData *strPublicKey;
/** The names of the D-TAs in base64. */
@property(nonatomic, copy) NSString *strDtas;
/** The time that was signed, in seconds since 1970. */
@property(nonatomic) NSInteger timestamp;
@end

#endif

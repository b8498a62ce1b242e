/* SPDX-License-Identifier: Apache-2.0 */
#import "MPinResults.h"
#import "MPinMemory.h"

@implementation ServiceDetails
@synthesize name = _name, backendUrl = _backendUrl, rpsPrefix = _rpsPrefix,
            logoUrl = _logoUrl;
#if !MPIN_ARC
- (void)dealloc {
    [_name release];
    [_backendUrl release];
    [_rpsPrefix release];
    [_logoUrl release];
    [super dealloc];
}
#endif
@end

@implementation SessionDetails
@synthesize prerollId = _prerollId, appName = _appName,
            appIconUrl = _appIconUrl, customerId = _customerId,
            customerName = _customerName, customerIconUrl = _customerIconUrl,
            clientId = _clientId, redirectURI = _redirectURI,
            registerOnly = _registerOnly;

- (instancetype)initWith:(NSString *)prerollId
                 appName:(NSString *)appName
              appIconUrl:(NSString *)appIconUrl {
    self = [super init];
    if (self) {
        _prerollId = [prerollId copy];
        _appName = [appName copy];
        _appIconUrl = [appIconUrl copy];
    }
    return self;
}

#if !MPIN_ARC
- (void)dealloc {
    [_prerollId release];
    [_appName release];
    [_appIconUrl release];
    [_customerId release];
    [_customerName release];
    [_customerIconUrl release];
    [_clientId release];
    [_redirectURI release];
    [super dealloc];
}
#endif
@end

@implementation Expiration
@synthesize expireTimeSeconds = _expireTimeSeconds,
            nowTimeSeconds = _nowTimeSeconds;
@end

@implementation OTP
@synthesize status = _status, otp = _otp, expireTime = _expireTime,
            ttlSeconds = _ttlSeconds, nowTime = _nowTime;

- (instancetype)initWith:(MpinStatus *)status
                     otp:(NSString *)otp
              expireTime:(long)expireTime
              ttlSeconds:(int)ttlSeconds
                 nowTime:(long)nowTime {
    self = [super init];
    if (self) {
#if MPIN_ARC
        _status = status;
#else
        _status = [status retain];
#endif
        _otp = [otp copy];
        _expireTime = expireTime;
        _ttlSeconds = ttlSeconds;
        _nowTime = nowTime;
    }
    return self;
}

#if !MPIN_ARC
- (void)dealloc {
    [_status release];
    [_otp release];
    [super dealloc];
}
#endif
@end

@implementation RegCode
@end

@implementation VerificationResult
@synthesize accessCode = _accessCode, activationToken = _activationToken,
            expireTime = _expireTime;
#if !MPIN_ARC
- (void)dealloc {
    [_accessCode release];
    [_activationToken release];
    [super dealloc];
}
#endif
@end

@implementation BridgeSignature
@synthesize strHash = _strHash, strMpinId = _strMpinId, strU = _strU,
            strV = _strV, strPublicKey = _strPublicKey, strDtas = _strDtas,
            timestamp = _timestamp;
#if !MPIN_ARC
- (void)dealloc {
    [_strHash release];
    [_strMpinId release];
    [_strU release];
    [_strV release];
    [_strPublicKey release];
    [_strDtas release];
    [super dealloc];
}
#endif
@end

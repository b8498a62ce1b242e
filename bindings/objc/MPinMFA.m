/* SPDX-License-Identifier: Apache-2.0 */
#import "MPinMFA.h"
#import "MPinMethods.h"

#include <string.h>

/* Enough for an access code or an authorization code of any known server. */
enum { CODE_SIZE = 1 << 14 };

/* An empty code stands for no session. */
static NSString *const noCode = @"the access code is nil";

@implementation MPinMFA

+ (id<IUser>)MakeNewUser:(const NSString *)identity
              deviceName:(const NSString *)deviceName {
    /* Several customers of a server may have users with this id, so the user is
     * another one until the server names its customer. */
    mpin_user *handle = NULL;
    const mpin_status code = mpin_sdk_make_new_user_mfa(
        MPinHandle(), &handle, [MPinText from:identity],
        [MPinText fromOptional:deviceName], "", "");
    return code == MPIN_OK ? [self userWith:handle] : nil;
}

+ (MpinStatus *)GetAccessCode:(NSString *)authzUrl
                   accessCode:(NSString **)accessCode {
    if (!accessCode) return MPinRefuse(@"there is no place for the code");
    char text[CODE_SIZE] = "";
    size_t size = sizeof text;
    const mpin_status code = mpin_sdk_get_access_code(
        MPinHandle(), text, &size, [MPinText from:authzUrl]);
    if (code == MPIN_OK) *accessCode = MPinString(text);
    return MPinTell(code);
}

/* ---- Verification --------------------------------------------------- */

+ (MpinStatus *)StartVerification:(const id<IUser>)user
                         clientId:(NSString *)clientId
                       accessCode:(NSString *)accessCode {
    if (!accessCode) return MPinRefuse(noCode);
    return MPinTell(mpin_sdk_start_verification(
        MPinHandle(), MPinHandleOf(user), [MPinText from:clientId],
        [MPinText fromOptional:accessCode]));
}

+ (MpinStatus *)StartVerification:(const id<IUser>)user
                         clientId:(NSString *)clientId
                      redirectURI:(NSURL *)redirectURI
                       accessCode:(NSString *)accessCode {
    (void)redirectURI;
    return [self StartVerification:user
                          clientId:clientId
                        accessCode:accessCode];
}

+ (MpinStatus *)FinishVerification:(const id<IUser>)user
                  verificationCode:(NSString *)code
                verificationResult:(VerificationResult **)result {
    if (!result) return MPinRefuse(@"there is no place for the result");
    mpin_verification verification;
    memset(&verification, 0, sizeof verification);
    verification.size = sizeof verification;
    const mpin_status status =
        mpin_sdk_finish_verification(MPinHandle(), MPinHandleOf(user),
                                     &verification, [MPinText from:code]);
    if (status == MPIN_OK) {
        VerificationResult *made = [[VerificationResult alloc] init];
        made.accessCode = MPinString(verification.access_id);
        made.activationToken = MPinString(verification.activation_token);
        made.expireTime = (NSInteger)verification.expire_time;
        *result = MPIN_AUTORELEASE(made);
    }
    MPinWipe(&verification, sizeof verification);
    return MPinTell(status);
}

/* ---- Registration --------------------------------------------------- */

+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                       accessCode:(NSString *)accessCode
                              pmi:(NSString *)pmi {
    return [self StartRegistration:user
                        accessCode:accessCode
                           regCode:nil
                               pmi:pmi];
}

+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                       accessCode:(NSString *)accessCode
                          regCode:(NSString *)regCode
                              pmi:(NSString *)pmi {
    if (!accessCode) return MPinRefuse(noCode);
    return MPinTell(mpin_sdk_start_registration_mfa(
        MPinHandle(), MPinHandleOf(user), [MPinText fromOptional:accessCode],
        [MPinText fromOptional:regCode], [MPinText fromOptional:pmi]));
}

+ (MpinStatus *)StartRegistration:(const id<IUser>)user
                     activateCode:(NSString *)activateCode
                              pmi:(NSString *)pmi {
    return [self StartRegistration:user
                        accessCode:@""
                           regCode:activateCode
                               pmi:pmi];
}

+ (MpinStatus *)SetRegistrationToken:(const id<IUser>)user
                               token:(NSString *)token {
    return MPinTell(mpin_sdk_set_registration_token(
        MPinHandle(), MPinHandleOf(user), [MPinText from:token]));
}

+ (BOOL)isRegistrationTokenSet:(const id<IUser>)user {
    int32_t isSet = 0;
    return mpin_user_is_registration_token_set(MPinHandleOf(user), &isSet) ==
               MPIN_OK &&
           isSet == 1;
}

+ (MpinStatus *)FinishRegistration:(const id<IUser>)user
                              pin0:(NSString *)pin0
                              pin1:(NSString *)pin1 {
    return [self finishRegistration:user pin:pin0 factor:pin1];
}

/* ---- Authentication ------------------------------------------------- */

+ (MpinStatus *)StartAuthentication:(const id<IUser>)user
                         accessCode:(NSString *)accessCode {
    return [self startAuthentication:user accessCode:accessCode];
}

+ (MpinStatus *)FinishAuthentication:(const id<IUser>)user
                                pin0:(NSString *)pin0
                                pin1:(NSString *)pin1
                          accessCode:(NSString *)accessCode {
    if (!accessCode) return MPinRefuse(noCode);
    if ([accessCode isKindOfClass:[NSString class]] && [accessCode length] == 0)
        return [self finishAuthentication:user pin:pin0 factor:pin1];
    return [self finishAuthentication:user
                                  pin:pin0
                               factor:pin1
                         accessNumber:accessCode];
}

+ (MpinStatus *)FinishAuthentication:(const id<IUser>)user
                                 pin:(NSString *)pin
                                pin1:(NSString *)pin1
                          accessCode:(NSString *)accessCode
                           authzCode:(NSString **)authzCode {
    if (!accessCode) return MPinRefuse(noCode);
    if (!authzCode) return MPinRefuse(@"there is no place for the code");
    MpinStatus *refusal = MPinAddFactor(user, pin, pin1);
    if (refusal) return refusal;
    char text[CODE_SIZE] = "";
    size_t size = sizeof text;
    MPinDigits digits;
    const mpin_status code = mpin_sdk_finish_authentication_mfa(
        MPinHandle(), MPinHandleOf(user), text, &size, MPinPin(&digits, pin),
        [MPinText fromOptional:accessCode]);
    MPinWipe(&digits, sizeof digits);
    if (code == MPIN_OK) *authzCode = MPinString(text);
    MPinWipe(text, sizeof text);
    return MPinTell(code);
}

+ (MpinStatus *)StartAuthenticationOTP:(const id<IUser>)user {
    return MPinTell(
        mpin_sdk_start_authentication_otp(MPinHandle(), MPinHandleOf(user)));
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

+ (MpinStatus *)StartAuthenticationRegCode:(const id<IUser>)user {
    return MPinTell(mpin_sdk_start_authentication_reg_code(
        MPinHandle(), MPinHandleOf(user)));
}

+ (MpinStatus *)FinishAuthenticationRegCode:(const id<IUser>)user
                                        pin:(NSString *)pin
                                       pin1:(NSString *)pin1
                                    regCode:(RegCode **)regCode {
    OTP *code = nil;
    if (!regCode) return MPinRefuse(@"there is no place for the code");
    MpinStatus *status = [self finish:mpin_sdk_finish_authentication_reg_code
                             password:&code
                                   of:[RegCode class]
                                 user:user
                                  pin:pin
                               factor:pin1];
    if (status.status == OK) *regCode = (RegCode *)code;
    return status;
}

/* ---- Signing -------------------------------------------------------- */

+ (MpinStatus *)StartRegistrationDVS:(const id<IUser>)user
                                pin0:(NSString *)pin0
                                pin1:(NSString *)pin1 {
    MpinStatus *refusal = MPinAddFactor(user, pin0, pin1);
    if (refusal) return refusal;
    MPinDigits digits;
    const mpin_status code = mpin_sdk_start_registration_dvs(
        MPinHandle(), MPinHandleOf(user), MPinPin(&digits, pin0));
    MPinWipe(&digits, sizeof digits);
    return MPinTell(code);
}

+ (MpinStatus *)FinishRegistrationDVS:(const id<IUser>)user
                               pinDVS:(NSString *)pinDVS
                                  nfc:(NSString *)nfc {
    MpinStatus *refusal = MPinAddFactor(user, pinDVS, nfc);
    if (refusal) return refusal;
    MPinDigits digits;
    const mpin_status code = mpin_sdk_finish_registration_dvs(
        MPinHandle(), MPinHandleOf(user), MPinPin(&digits, pinDVS));
    MPinWipe(&digits, sizeof digits);
    return MPinTell(code);
}

/* The bytes of a document; nil if it is no text. */
static NSData *bytesOf(const id document) {
    return [document isKindOfClass:[NSString class]]
               ? [document dataUsingEncoding:NSUTF8StringEncoding]
               : nil;
}

+ (NSData *)HashDocument:(NSString *)document {
    NSData *bytes = bytesOf(document);
    uint8_t hash[MPIN_DOCUMENT_HASH_SIZE];
    const uint8_t *start = [bytes length] ? [bytes bytes] : (const void *)"";
    if (!bytes ||
        mpin_sdk_hash_document(hash, start, [bytes length]) != MPIN_OK)
        return nil;
    return [NSData dataWithBytes:hash length:sizeof hash];
}

+ (BOOL)VerifyDocument:(NSString *)document hash:(NSData *)hash {
    NSData *bytes = bytesOf(document);
    int32_t isSame = 0;
    if (!bytes || ![hash isKindOfClass:[NSData class]] ||
        [hash length] != MPIN_DOCUMENT_HASH_SIZE)
        return NO;
    const uint8_t *start = [bytes length] ? [bytes bytes] : (const void *)"";
    return mpin_sdk_verify_document(&isSame, start, [bytes length],
                                    [hash bytes]) == MPIN_OK &&
           isSame == 1;
}

/* The signature as an object. */
static BridgeSignature *signatureFrom(const mpin_signature *made,
                                      NSData *hash) {
    BridgeSignature *signature = [[BridgeSignature alloc] init];
    signature.strHash = hash;
    signature.strMpinId = MPinString(made->mpin_id);
    signature.strU = [NSData dataWithBytes:made->u length:sizeof made->u];
    signature.strV = [NSData dataWithBytes:made->v length:sizeof made->v];
    signature.strPublicKey = [NSData dataWithBytes:made->public_key
                                            length:sizeof made->public_key];
    signature.strDtas = MPinString(made->dtas);
    signature.timestamp = (NSInteger)made->timestamp;
    return MPIN_AUTORELEASE(signature);
}

+ (MpinStatus *)Sign:(const id<IUser>)user
        documentHash:(NSData *)hash
                pin0:(NSString *)pin0
                pin1:(NSString *)pin1
           epochTime:(double)epochTime
              result:(BridgeSignature **)result {
    if (!result) return MPinRefuse(@"there is no place for the signature");
    if (![hash isKindOfClass:[NSData class]])
        return MPinRefuse(@"the hash is no data");
    /* NaN is refused, too. */
    if (!(epochTime >= 0 && epochTime < 4294967296.0))
        return MPinRefuse(@"the time is not below 2^32 seconds");
    MpinStatus *refusal = MPinAddFactor(user, pin0, pin1);
    if (refusal) return refusal;
    mpin_signature made;
    memset(&made, 0, sizeof made);
    made.size = sizeof made;
    MPinDigits digits;
    const mpin_status code = mpin_sdk_sign(
        MPinHandle(), MPinHandleOf(user), &made, [hash bytes], [hash length],
        MPinPin(&digits, pin0), (int64_t)epochTime, NULL);
    MPinWipe(&digits, sizeof digits);
    if (code == MPIN_OK) *result = signatureFrom(&made, hash);
    return MPinTell(code);
}

@end

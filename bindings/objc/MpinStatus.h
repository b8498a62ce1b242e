/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIN_OBJC_STATUS_H
#define MPIN_OBJC_STATUS_H

#import <Foundation/Foundation.h>

/** The codes of the Milagro SDK (0 to 16) and of the MIRACL MFA SDK (0 to 21),
 * with their numbers. Codes from 32 on are new. mpin.h explains all of them. */
typedef NS_ENUM(NSInteger, MPinStatus) {
    /* Written by Sources/Packaging/statuses.py. */
    OK = 0,
    PIN_INPUT_CANCELED = 1,
    CRYPTO_ERROR = 2,
    STORAGE_ERROR = 3,
    NETWORK_ERROR = 4,
    RESPONSE_PARSE_ERROR = 5,
    FLOW_ERROR = 6,
    IDENTITY_NOT_AUTHORIZED = 7,
    IDENTITY_NOT_VERIFIED = 8,
    REQUEST_EXPIRED = 9,
    REVOKED = 10,
    INCORRECT_PIN = 11,
    INCORRECT_ACCESS_NUMBER = 12,
    HTTP_SERVER_ERROR = 13,
    HTTP_REQUEST_ERROR = 14,
    BAD_USER_AGENT = 15,
    CLIENT_SECRET_EXPIRED = 16,
    BAD_CLIENT_VERSION = 17,
    UNTRUSTED_DOMAIN_ERROR = 18,
    REGISTRATION_EXPIRED = 19,
    OPERATION_NOT_ALLOWED = 20,
    VERIFICATION_FAILED = 21,
    INVALID_HANDLE = 32,
    INVALID_ARGUMENT = 33,
    BUFFER_TOO_SMALL = 34,
    CANCELED = 35,
    TIMED_OUT = 36,
    PIN_INVALID = 37,
    UNSUPPORTED_FORMAT = 38,
    TOO_MANY_REQUESTS = 39,
    RANDOM_FAILED = 40,
    REQUEST_BACKOFF = 41,
    ACTIVATION_TOKEN_INVALID = 42,
    PROJECT_MISMATCH = 43,
    UNSUPPORTED_CURVE = 44,
    SESSION_INVALID = 45,
    USER_NOT_FOUND = 46,
    FORKED = 75,
};

/** The result of a call. */
@interface MpinStatus : NSObject {
    MPinStatus _status;
    NSString *_errorMessage;
}

@property(nonatomic, readwrite) MPinStatus status;
/** What went wrong; empty after a success. It never contains a secret. */
@property(nonatomic, copy) NSString *errorMessage;
/** The name of the code, such as "INCORRECT_PIN". */
@property(nonatomic, readonly, copy, getter=getStatusCodeAsString)
    NSString *statusCodeAsString;

- (instancetype)initWith:(MPinStatus)status errorMessage:(NSString *)error;

@end

#endif

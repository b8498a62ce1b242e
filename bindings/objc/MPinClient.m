/* SPDX-License-Identifier: Apache-2.0 */
#import "MPinMFA.h"
#import "MPinMethods.h"

#include <stdlib.h>
#include <string.h>

/* The folder of the store, which is made if it is missing. */
static NSString *storeFolder(void) {
    NSArray *folders = NSSearchPathForDirectoriesInDomains(
        NSApplicationSupportDirectory, NSUserDomainMask, YES);
    if ([folders count] == 0) return nil;
    NSString *folder = [[[folders objectAtIndex:0]
        stringByAppendingPathComponent:[[NSProcessInfo processInfo]
                                           processName]]
        stringByAppendingPathComponent:@"mpin"];
    NSDictionary *attributes =
        [NSDictionary dictionaryWithObject:[NSNumber numberWithInt:0700]
                                    forKey:NSFilePosixPermissions];
    return [[NSFileManager defaultManager] createDirectoryAtPath:folder
                                     withIntermediateDirectories:YES
                                                      attributes:attributes
                                                           error:NULL]
               ? folder
               : nil;
}

@implementation MPinClient

+ (Class)userClass {
    return [MPinUser class];
}

+ (id<IUser>)userWith:(mpin_user *)handle {
    if (!handle) return nil;
    MPinUser *user = [[[self userClass] alloc] initWithHandle:handle];
    return (id<IUser>)MPIN_AUTORELEASE(user);
}

/* ---- Life cycle ----------------------------------------------------- */

+ (MpinStatus *)initSDK {
    NSString *folder = storeFolder();
    if (!folder) {
        MpinStatus *status =
            [[MpinStatus alloc] initWith:STORAGE_ERROR
                            errorMessage:@"the folder of the store cannot be "
                                         @"made"];
        return MPIN_AUTORELEASE(status);
    }
    mpin_config config;
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.storage_path =
        [MPinText from:[folder stringByAppendingPathComponent:@"users"]];
    return [self initSDKWithConfig:&config];
}

+ (MpinStatus *)initSDKWithHeaders:(NSDictionary *)headers {
    MpinStatus *status = [self AddCustomHeaders:headers];
    return status.status == OK ? [self initSDK] : status;
}

+ (MpinStatus *)initSDKWithConfig:(const struct mpin_config *)config {
    return MPinTell(mpin_sdk_init(MPinHandle(), config));
}

+ (MpinStatus *)Destroy {
    return MPinTell(mpin_sdk_destroy(MPinHandle()));
}

+ (MpinStatus *)ClearUsers {
    return MPinTell(mpin_sdk_clear_users(MPinHandle()));
}

+ (MpinStatus *)Cancel {
    return MPinTell(mpin_sdk_cancel(MPinHandle()));
}

+ (MpinStatus *)lastStatus {
    mpin_error error;
    memset(&error, 0, sizeof error);
    error.size = sizeof error;
    const mpin_status code = mpin_sdk_get_last_error(MPinHandle(), &error);
    return MPinTell(code == MPIN_OK ? error.status : code);
}

/* ---- Backend -------------------------------------------------------- */

+ (MpinStatus *)TestBackend:(const NSString *)url {
    return [self TestBackend:url rpsPrefix:nil];
}

+ (MpinStatus *)TestBackend:(const NSString *)url
                  rpsPrefix:(const NSString *)rpsPrefix {
    return MPinTell(mpin_sdk_test_backend(MPinHandle(), [MPinText from:url],
                                          [MPinText fromOptional:rpsPrefix]));
}

+ (MpinStatus *)SetBackend:(const NSString *)url {
    return [self SetBackend:url rpsPrefix:nil];
}

+ (MpinStatus *)SetBackend:(const NSString *)url
                 rpsPrefix:(const NSString *)rpsPrefix {
    return MPinTell(mpin_sdk_set_backend(MPinHandle(), [MPinText from:url],
                                         [MPinText fromOptional:rpsPrefix]));
}

+ (NSString *)GetClientParam:(const NSString *)key {
    size_t size = 0;
    const char *name = [MPinText from:key];
    mpin_status code =
        mpin_sdk_get_client_param(MPinHandle(), NULL, &size, name);
    /* The settings may change between two calls. */
    for (;;) {
        NSMutableData *room = [NSMutableData dataWithLength:size];
        if (code != MPIN_OK && code != MPIN_BUFFER_TOO_SMALL) return nil;
        code = mpin_sdk_get_client_param(MPinHandle(), [room mutableBytes],
                                         &size, name);
        if (code == MPIN_OK) return MPinString([room bytes]);
    }
}

+ (MpinStatus *)SetClientId:(NSString *)clientId {
    return MPinTell(
        mpin_sdk_set_client_id(MPinHandle(), [MPinText from:clientId]));
}

+ (MpinStatus *)AddCustomHeaders:(NSDictionary *)headers {
    if (headers && ![headers isKindOfClass:[NSDictionary class]])
        return MPinRefuse(@"the headers are no dictionary");
    for (id name in headers) {
        const mpin_status code = mpin_sdk_add_custom_header(
            MPinHandle(), [MPinText from:name],
            [MPinText from:[headers objectForKey:name]]);
        if (code != MPIN_OK) return MPinTell(code);
    }
    return MPinTell(MPIN_OK);
}

+ (MpinStatus *)ClearCustomHeaders {
    return MPinTell(mpin_sdk_clear_custom_headers(MPinHandle()));
}

+ (MpinStatus *)AddTrustedDomain:(NSString *)domain {
    return MPinTell(
        mpin_sdk_add_trusted_domain(MPinHandle(), [MPinText from:domain]));
}

+ (MpinStatus *)ClearTrustedDomains {
    return MPinTell(mpin_sdk_clear_trusted_domains(MPinHandle()));
}

+ (MpinStatus *)GetServiceDetails:(NSString *)url
                   serviceDetails:(ServiceDetails **)details {
    if (!details) return MPinRefuse(@"there is no place for the details");
    mpin_service_details service;
    memset(&service, 0, sizeof service);
    service.size = sizeof service;
    const mpin_status code = mpin_sdk_get_service_details(
        MPinHandle(), &service, [MPinText from:url]);
    if (code != MPIN_OK) return MPinTell(code);
    ServiceDetails *result = [[ServiceDetails alloc] init];
    result.name = MPinString(service.name);
    result.backendUrl = MPinString(service.backend_url);
    result.rpsPrefix = MPinString(service.rps_prefix);
    result.logoUrl = MPinString(service.logo_url);
    *details = MPIN_AUTORELEASE(result);
    return MPinTell(code);
}

/* ---- Users ---------------------------------------------------------- */

+ (id<IUser>)MakeNewUser:(const NSString *)identity {
    return [self MakeNewUser:identity deviceName:nil];
}

+ (id<IUser>)MakeNewUser:(const NSString *)identity
              deviceName:(const NSString *)deviceName {
    mpin_user *handle = NULL;
    const mpin_status code =
        mpin_sdk_make_new_user(MPinHandle(), &handle, [MPinText from:identity],
                               [MPinText fromOptional:deviceName]);
    return code == MPIN_OK ? [self userWith:handle] : nil;
}

+ (BOOL)IsUserExisting:(NSString *)identity
            customerId:(NSString *)customerId
                 appId:(NSString *)appId {
    int32_t exists = 0;
    const mpin_status code = mpin_sdk_user_exists(
        MPinHandle(), &exists, [MPinText from:identity],
        [MPinText fromOptional:customerId], [MPinText fromOptional:appId]);
    return code == MPIN_OK && exists == 1;
}

+ (id<IUser>)getIUserById:(NSString *)identity {
    mpin_user *handle = NULL;
    const mpin_status code = mpin_sdk_get_user(MPinHandle(), &handle,
                                               [MPinText from:identity]);
    return code == MPIN_OK ? [self userWith:handle] : nil;
}

+ (MpinStatus *)DeleteUser:(const id<IUser>)user {
    return MPinTell(mpin_sdk_delete_user(MPinHandle(), MPinHandleOf(user)));
}

/* The users that `list` gives: those of `backend`, if it is not NULL. */
+ (NSMutableArray *)usersOf:(const char *)backend
                       with:(mpin_status (*)(mpin_sdk *, mpin_user **,
                                             size_t *))list {
    NSMutableArray *users = [NSMutableArray array];
    mpin_user **handles = NULL;
    size_t count = 0, held = 0;
    mpin_status code = MPIN_OK;
    /* Another thread may add users between two calls. */
    do {
        held = count + 8;
        count = held;
        free(handles);
        handles = calloc(held, sizeof *handles);
        if (!handles) return users;
        code = backend ? mpin_sdk_list_backend_users(MPinHandle(), handles,
                                                     &count, backend)
                       : list(MPinHandle(), handles, &count);
    } while (code == MPIN_BUFFER_TOO_SMALL);
    for (size_t i = 0; code == MPIN_OK && i < count; i++)
        [users addObject:[self userWith:handles[i]]];
    free(handles);
    return users;
}

+ (NSMutableArray *)listUsers {
    return [self usersOf:NULL with:mpin_sdk_list_all_users];
}

+ (NSMutableArray *)listUsers:(NSString *)backend {
    const char *url = [MPinText from:backend];
    return url ? [self usersOf:url with:NULL] : [NSMutableArray array];
}

+ (NSMutableArray *)listBackends {
    size_t size = 0;
    NSMutableData *room = nil;
    mpin_status code = mpin_sdk_list_backends(MPinHandle(), NULL, &size);
    do {
        room = [NSMutableData dataWithLength:size];
        if (code == MPIN_OK || code == MPIN_BUFFER_TOO_SMALL)
            code = mpin_sdk_list_backends(MPinHandle(), [room mutableBytes],
                                          &size);
    } while (code == MPIN_BUFFER_TOO_SMALL);
    NSMutableArray *backends = [NSMutableArray array];
    if (code != MPIN_OK) return backends;
    for (NSString *line in
         [MPinString([room bytes]) componentsSeparatedByString:@"\n"])
        if ([line length] > 0) [backends addObject:line];
    return backends;
}

/* ---- Flows ---------------------------------------------------------- */

+ (MpinStatus *)RestartRegistration:(const id<IUser>)user {
    return MPinTell(mpin_sdk_restart_registration(MPinHandle(),
                                                  MPinHandleOf(user), NULL));
}

+ (MpinStatus *)ConfirmRegistration:(const id<IUser>)user {
    return [self ConfirmRegistration:user pushNotificationIdentifier:nil];
}

+ (MpinStatus *)ConfirmRegistration:(const id<IUser>)user
         pushNotificationIdentifier:(NSString *)identifier {
    return MPinTell(mpin_sdk_confirm_registration(
        MPinHandle(), MPinHandleOf(user),
        [MPinText fromOptional:identifier]));
}

+ (BOOL)CanLogout:(const id<IUser>)user {
    int32_t can = 0;
    return mpin_sdk_can_logout(MPinHandle(), MPinHandleOf(user), &can) ==
               MPIN_OK &&
           can == 1;
}

+ (BOOL)Logout:(const id<IUser>)user {
    return mpin_sdk_logout(MPinHandle(), MPinHandleOf(user)) == MPIN_OK;
}

+ (SessionDetails *)GetSessionDetails:(NSString *)accessCode {
    mpin_session_details session;
    memset(&session, 0, sizeof session);
    session.size = sizeof session;
    if (mpin_sdk_get_session_details(MPinHandle(), &session,
                                     [MPinText from:accessCode]) != MPIN_OK)
        return nil;
    SessionDetails *details = [[SessionDetails alloc]
          initWith:MPinString(session.preroll_id)
           appName:MPinString(session.app_name)
        appIconUrl:MPinString(session.app_icon_url)];
    details.customerId = MPinString(session.customer_id);
    details.customerName = MPinString(session.customer_name);
    details.customerIconUrl = MPinString(session.customer_icon_url);
    details.clientId = MPinString(session.client_id);
    details.redirectURI = MPinString(session.redirect_uri);
    [details setRegisterOnly:session.register_only == 1];
    return MPIN_AUTORELEASE(details);
}

+ (MpinStatus *)AbortSession:(NSString *)accessCode {
    return MPinTell(
        mpin_sdk_abort_session(MPinHandle(), [MPinText from:accessCode]));
}

/* ---- For the subclasses --------------------------------------------- */

+ (MpinStatus *)finishRegistration:(const id)user
                               pin:(NSString *)pin
                            factor:(NSString *)factor {
    MpinStatus *refusal = MPinAddFactor(user, pin, factor);
    if (refusal) return refusal;
    MPinDigits digits;
    const mpin_status code = mpin_sdk_finish_registration(
        MPinHandle(), MPinHandleOf(user), MPinPin(&digits, pin));
    MPinWipe(&digits, sizeof digits);
    return MPinTell(code);
}

+ (MpinStatus *)startAuthentication:(const id)user
                         accessCode:(NSString *)accessCode {
    return MPinTell(mpin_sdk_start_authentication_mfa(
        MPinHandle(), MPinHandleOf(user), [MPinText from:accessCode]));
}

+ (MpinStatus *)finishAuthentication:(const id)user
                                 pin:(NSString *)pin
                              factor:(NSString *)factor {
    MpinStatus *refusal = MPinAddFactor(user, pin, factor);
    if (refusal) return refusal;
    MPinDigits digits;
    const mpin_status code =
        mpin_sdk_finish_authentication(MPinHandle(), MPinHandleOf(user), NULL,
                                       NULL, MPinPin(&digits, pin));
    MPinWipe(&digits, sizeof digits);
    return MPinTell(code);
}

+ (MpinStatus *)finishAuthentication:(const id)user
                                 pin:(NSString *)pin
                              factor:(NSString *)factor
                        accessNumber:(NSString *)accessNumber {
    MpinStatus *refusal = MPinAddFactor(user, pin, factor);
    if (refusal) return refusal;
    MPinDigits digits;
    const mpin_status code = mpin_sdk_finish_authentication_an(
        MPinHandle(), MPinHandleOf(user), MPinPin(&digits, pin),
        [MPinText from:accessNumber]);
    MPinWipe(&digits, sizeof digits);
    return MPinTell(code);
}

+ (MpinStatus *)finish:(MPinPasswordCall)call
              password:(OTP **)password
                    of:(Class)class
                  user:(const id)user
                   pin:(NSString *)pin
                factor:(NSString *)factor {
    if (!password) return MPinRefuse(@"there is no place for the result");
    MpinStatus *refusal = MPinAddFactor(user, pin, factor);
    if (refusal) return refusal;
    mpin_otp result;
    memset(&result, 0, sizeof result);
    result.size = sizeof result;
    MPinDigits digits;
    const mpin_status code = call(MPinHandle(), MPinHandleOf(user), &result,
                                  MPinPin(&digits, pin));
    MPinWipe(&digits, sizeof digits);
    if (code == MPIN_OK) {
        OTP *made = [[class alloc] initWith:MPinTell(result.status)
                                        otp:MPinString(result.otp)
                                 expireTime:(long)result.expire_time
                                 ttlSeconds:result.ttl_seconds
                                    nowTime:(long)result.now_time];
        *password = MPIN_AUTORELEASE(made);
    }
    MPinWipe(&result, sizeof result);
    return MPinTell(code);
}

@end

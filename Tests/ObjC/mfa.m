/* MPinMFA. The lines between "the app's line" and "its end" are those that apps
 * were written with, unchanged. They have subscripts, which gcc does not know:
 * the Makefile lets clang check them, and gives gcc the messages that they stand
 * for. */
#import "MPinMFA.h"

#include "check.h"

@interface Config : NSObject
+ (NSString *)companyId;
+ (NSArray *)trustedDomains;
+ (NSString *)authBackend;
+ (NSString *)authzUrl;
+ (NSString *)authCheckUrl;
@end

@implementation Config
+ (NSString *)companyId {
    return @"a company";
}
/* The server is on this machine, by http. */
+ (NSArray *)trustedDomains {
    return @[];
}
+ (NSString *)authBackend {
    return named("MPIN_BACKEND");
}
+ (NSString *)authzUrl {
    return [named("APP_BACK_END") stringByAppendingString:@"/authzurl"];
}
+ (NSString *)authCheckUrl {
    return [named("APP_BACK_END") stringByAppendingString:@"/authtoken"];
}
@end

/* Has the names that the apps' view controllers have. */
@interface Controller : NSObject {
    id<IUser> _user;
    NSString *_accessCode;
}
@property(nonatomic, retain) id<IUser> user;
@property(nonatomic, retain) NSString *accessCode;
@end

@interface Field : NSObject {
    NSString *_text;
}
@property(nonatomic, retain) NSString *text;
@end

@implementation Field
@synthesize text = _text;
@end

@implementation Controller
@synthesize user = _user, accessCode = _accessCode;

/* ---- A login in the app --------------------------------------------- */

- (void)viewDidLoad {
    /* the app's line */
    [MPinMFA initSDK];
    [MPinMFA SetClientId:[Config companyId]];
    NSArray *domains = [Config trustedDomains];
    for (NSString *domain in domains) {
      [MPinMFA AddTrustedDomain: domain];
    }
    /* its end */
}

- (void)setBackend {
    /* the app's line */
    MpinStatus *mpinStatus = [MPinMFA SetBackend: [Config authBackend]];
    /* its end */
    EXPECT(OK, mpinStatus);
}

- (void)getAccessCode {
    NSInteger answered = 0;
    NSDictionary *jsonObject = post([Config authzUrl], @{}, &answered);
    CHECK(answered == 200);
    NSString *strAccessCode = nil;
    /* the app's line */
    MpinStatus *mpinStatus = [MPinMFA GetAccessCode:jsonObject[@"authorizeURL"] accessCode:&strAccessCode];
    /* its end */
    EXPECT(OK, mpinStatus);
    CHECK([strAccessCode length] > 0);
    self.accessCode = strAccessCode;
}

- (void)setupAddId {
    self.user = nil;
}

- (void)deleteUsers {
    NSArray *arrUsers = [MPinMFA listUsers];
    /* the app's line */
    if (arrUsers.count > 1) {
      for (int i = 0; i < arrUsers.count; i++) {
        [MPinMFA DeleteUser:arrUsers[i]];
      }
      [self setupAddId];
    }
    /* its end */
    CHECK([[MPinMFA listUsers] count] == 0);
}

- (void)addUser:(NSString *)strUserName {
    /* the app's line */
    self.user = [MPinMFA MakeNewUser:strUserName deviceName:@"SampleDevName"];
    MpinStatus *mpinStatus = [MPinMFA StartRegistration:self.user accessCode:self.accessCode pmi:@""];
    /* its end */
    EXPECT(OK, mpinStatus);
    CHECK([self.user getState] == STARTED_REGISTRATION);
}

- (void)resendMail {
    /* the app's line */
    NSString *strUserID = [self.user getIdentity];
    [MPinMFA DeleteUser:self.user];
    self.user = [MPinMFA MakeNewUser:strUserID deviceName:@"SampleDevName"];
    MpinStatus *mpinStatus = [MPinMFA StartRegistration:self.user accessCode:self.accessCode pmi:@""];
    /* its end */
    EXPECT(OK, mpinStatus);
}

- (MpinStatus *)confirm {
    /* the app's line */
    MpinStatus *mpinStatus = [MPinMFA ConfirmRegistration:self.user];
    /* its end */
    return mpinStatus;
}

- (void)finishRegistration:(NSString *)strPIN {
    /* the app's line */
    MpinStatus *mpinStatus = [MPinMFA FinishRegistration:self.user pin0:strPIN pin1:nil];
    /* its end */
    EXPECT(OK, mpinStatus);
    CHECK([self.user getState] == REGISTERED);
}

- (void)findUser {
    self.user = nil;
    NSArray *arrUsers = [MPinMFA listUsers];
    BOOL isRegistered = NO;
    /* the app's line */
    self.user = arrUsers[0];
    switch ([self.user getState]) {
      /* its end */
    case REGISTERED:
        isRegistered = YES;
        break;
    default:
        break;
    }
    CHECK(isRegistered);
    /* the app's line */
    self.user = [MPinMFA listUsers][0];
    /* its end */
    CHECK([[self.user getBackend] isEqual:[Config authBackend]]);
    CHECK([self.user getCustomerId]);
}

- (void)startAuthentication {
    /* the app's line */
    MpinStatus *mpinStatus = [MPinMFA StartAuthentication:self.user accessCode:self.accessCode];
    /* its end */
    EXPECT(OK, mpinStatus);
}

/* Returns the status of the login, and lets the back end redeem the code. */
- (MPinStatus)logIn:(NSString *)strPIN {
    [self getAccessCode];
    [self startAuthentication];
    NSString *strAuthzCode = @"unchanged";
    /* the app's line */
    MpinStatus *mpinStatus = [MPinMFA FinishAuthentication:self.user pin:strPIN pin1:nil accessCode:self.accessCode authzCode:&strAuthzCode];
    /* its end */
    if (mpinStatus.status != OK) {
        CHECK([strAuthzCode isEqual:@"unchanged"]);
        return mpinStatus.status;
    }
    NSInteger answered = 0;
    NSMutableDictionary *body = [NSMutableDictionary dictionary];
    [body setObject:strAuthzCode forKey:@"code"];
    [body setObject:[self.user getIdentity] forKey:@"userID"];
    post([Config authCheckUrl], body, &answered);
    CHECK(answered == 200);
    return OK;
}

/* ---- A login in a browser ------------------------------------------- */

/* Reads the QR code as the app does, and returns the access code. */
- (NSString *)parseResponse:(NSString *)strResponse {
    NSRange mark = [strResponse rangeOfString:@"#"];
    ServiceDetails *service = nil;
    EXPECT(OK, [MPinMFA
                   GetServiceDetails:[strResponse substringToIndex:mark.location]
                      serviceDetails:&service]);
    CHECK([service.name length] > 0 && [service.rpsPrefix isEqual:@"rps"]);
    NSDictionary *config = @{@"url" : service.backendUrl};
    /* the app's line */
    MpinStatus *mpinStatus = [MPinMFA SetBackend:config[@"url"]];
    /* its end */
    EXPECT(OK, mpinStatus);
    return [strResponse substringFromIndex:mark.location + 1];
}

- (void)onSetBackendCompleted:(NSString *)accessCode {
    /* the app's line */
    NSArray* usersList = [MPinMFA listUsers];
    id<IUser> user = usersList[0];
    /* its end */
    CHECK([user getState] == REGISTERED);
    self.user = user;
    self.accessCode = accessCode;
    /* the app's line */
    MpinStatus *mpinStatus = [MPinMFA StartAuthentication:user accessCode:accessCode];
    /* its end */
    EXPECT(OK, mpinStatus);
}

- (MPinStatus)enterPin:(NSString *)text {
    Controller *qvc = self;
    Field *_txtPinPad = [[[Field alloc] init] autorelease];
    _txtPinPad.text = text;
    /* the app's line */
    MpinStatus *mpinStatus = [MPinMFA FinishAuthentication:self.user pin0:_txtPinPad.text pin1:nil accessCode:qvc.accessCode];
    /* its end */
    return mpinStatus.status;
}

/* The lines of the website app about registration that differ from those of the
 * mobile app. */
- (void)registerAt:(NSString *)name {
    Field *_txtAddUser = [[[Field alloc] init] autorelease];
    Field *_txtPinPad = [[[Field alloc] init] autorelease];
    _txtAddUser.text = name;
    _txtPinPad.text = @"5678";
    /* the app's line */
    self.user = [MPinMFA MakeNewUser:_txtAddUser.text deviceName:@"SampleDevName"];
    MpinStatus *mpinStatus = [MPinMFA StartRegistration:self.user accessCode:self.accessCode pmi:@""];
    /* its end */
    EXPECT(OK, mpinStatus);
    openMail(1);
    EXPECT(OK, [self confirm]);
    {
        /* the app's line */
        MpinStatus *mpinStatus = [MPinMFA FinishRegistration:self.user pin0:_txtPinPad.text pin1:nil];
        /* its end */
        EXPECT(OK, mpinStatus);
    }
}
@end

void useWithoutInit(void) {
    id<IUser> none = nil;
    NSString *text = @"unchanged";
    EXPECT(FLOW_ERROR, [MPinMFA SetBackend:named("MPIN_BACKEND")]);
    CHECK(![MPinMFA MakeNewUser:@"alice@example.com"]);
    CHECK([MPinMFA lastStatus].status == FLOW_ERROR);
    CHECK([[MPinMFA listUsers] count] == 0);
    CHECK([[MPinMFA listBackends] count] == 0);
    CHECK(![MPinMFA getIUserById:@"alice@example.com"]);
    CHECK(![MPinMFA GetSessionDetails:@"0123456"]);
    CHECK(![MPinMFA GetClientParam:@"appID"]);
    EXPECT(INVALID_HANDLE, [MPinMFA ConfirmRegistration:none]);
    EXPECT(FLOW_ERROR, [MPinMFA GetAccessCode:named("MPIN_BACKEND")
                                   accessCode:&text]);
    CHECK([text isEqual:@"unchanged"]);
}

void useMobileApp(void) {
    Controller *app = [[[Controller alloc] init] autorelease];
    [app viewDidLoad];
    EXPECT(OK, [MPinMFA initSDK]);
    [app setBackend];
    [app getAccessCode];
    [app addUser:@"alice@example.com"];
    [app resendMail];
    EXPECT(IDENTITY_NOT_VERIFIED, [app confirm]);
    openMail(2);
    EXPECT(OK, [app confirm]);
    [app finishRegistration:@"1234"];
    /* The store has the user when the app starts again. */
    EXPECT(OK, [MPinMFA Destroy]);
    [app viewDidLoad];
    [app setBackend];
    [app findUser];
    CHECK([[app.user getIdentity] isEqual:@"alice@example.com"]);
    CHECK([app logIn:@"1234"] == OK);
    CHECK([app logIn:@"4321"] == INCORRECT_PIN);
    CHECK([app logIn:@""] == PIN_INPUT_CANCELED);
    CHECK([app logIn:@"12a4"] == PIN_INVALID);
    CHECK([app logIn:@"123456789012345678901234567890"] == PIN_INVALID);
    CHECK([app logIn:@"1234"] == OK);
}

void useWebsite(void) {
    Controller *app = [[[Controller alloc] init] autorelease];
    Page *page = [Page open];
    NSString *code = [app parseResponse:[page qrURL]];
    SessionDetails *details = [MPinMFA GetSessionDetails:code];
    CHECK([details.appName isEqual:@"The app"]);
    CHECK([details.prerollId isEqual:@""] && !details.registerOnly);
    [page wait];
    [app onSetBackendCompleted:code];
    CHECK([app enterPin:@"4321"] == INCORRECT_PIN);
    CHECK([app enterPin:@"1234"] == OK);
    CHECK([[[page state] objectForKey:@"status"] isEqual:@"authenticated"]);
    CHECK([[[page state] objectForKey:@"redirectURL"]
              rangeOfString:@"code="]
              .length);
    /* Another user registers with the session of a website. */
    app.accessCode = [app parseResponse:[[Page open] qrURL]];
    [app registerAt:@"bob@example.com"];
    CHECK([[MPinMFA listUsers] count] == 2);
    /* A session that nobody shows. */
    CHECK([[MPinMFA GetSessionDetails:@"no such session"].appName
        isEqual:@""]);
    EXPECT(OK, [MPinMFA StartAuthentication:app.user
                                 accessCode:@"no such session"]);
    EXPECT(INCORRECT_ACCESS_NUMBER,
           [MPinMFA FinishAuthentication:app.user
                                    pin0:@"5678"
                                    pin1:nil
                              accessCode:@"no such session"]);
    /* The user declines. */
    page = [Page open];
    [page wait];
    EXPECT(OK, [MPinMFA AbortSession:[app parseResponse:[page qrURL]]]);
    CHECK([[[page state] objectForKey:@"status"] isEqual:@"abort"]);
}

static void block(id<IUser> user) {
    for (int i = 0; i < 3; i++)
        EXPECT(INCORRECT_PIN, [MPinMFA FinishAuthentication:user
                                                       pin0:@"0000"
                                                       pin1:nil
                                                 accessCode:@""]);
    CHECK([user getState] == BLOCKED && BLOCKED == 5);
}

void useMFA(void) {
    id<IUser> user = [MPinMFA getIUserById:@"bob@example.com"];
    OTP *otp = nil;
    RegCode *code = nil;
    CHECK([[user description] rangeOfString:@"bob@example.com"].length);
    CHECK([[user getMPinId] length] > 0);
    CHECK([[user getMPinId] isEqual:[user GetMPinId]]);
    CHECK([user getRegistrationExpiration]);
    CHECK([MPinMFA IsUserExisting:@"bob@example.com" customerId:nil appId:nil]);
    CHECK(![MPinMFA IsUserExisting:@"eve@example.com" customerId:nil appId:nil]);
    CHECK([[MPinMFA GetClientParam:@"no such member"] isEqual:@""]);
    CHECK([[MPinMFA GetClientParam:@"registerURL"]
        hasPrefix:named("MPIN_BACKEND")]);
    NSArray *backends = @[ named("MPIN_BACKEND") ];
    CHECK([[MPinMFA listBackends] isEqual:backends]);
    CHECK([[MPinMFA listUsers:named("MPIN_BACKEND")] count] == 2);
    CHECK([[MPinMFA listUsers:@"http://elsewhere.example.com"] count] == 0);
    EXPECT(OK, [MPinMFA StartAuthenticationOTP:user]);
    EXPECT(OK, [MPinMFA FinishAuthenticationOTP:user pin:@"5678" otp:&otp]);
    CHECK(otp.status.status == OK && [otp.otp length] > 0);
    CHECK(otp.ttlSeconds > 0 && otp.expireTime > otp.nowTime);
    MpinStatus *status = [MPinMFA StartAuthenticationRegCode:user];
    if (status.status == OK)
        EXPECT(OK, [MPinMFA FinishAuthenticationRegCode:user
                                                    pin:@"5678"
                                                   pin1:nil
                                                regCode:&code]);
    /* A custom header does not change anything here; a wrong one is refused. */
    EXPECT(OK, [MPinMFA AddCustomHeaders:@{@"X-App" : @"1"}]);
    EXPECT(OK, [MPinMFA TestBackend:named("MPIN_BACKEND")]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA AddCustomHeaders:@{@"X-App" : @"1\r\n"}]);
    EXPECT(OK, [MPinMFA ClearCustomHeaders]);
    /* Only trusted domains. */
    EXPECT(OK, [MPinMFA AddTrustedDomain:@"example.com"]);
    EXPECT(UNTRUSTED_DOMAIN_ERROR, [MPinMFA SetBackend:named("MPIN_BACKEND")]);
    EXPECT(OK, [MPinMFA ClearTrustedDomains]);
    EXPECT(OK, [MPinMFA SetBackend:named("MPIN_BACKEND")]);
    EXPECT(NETWORK_ERROR, [MPinMFA TestBackend:named("NOBODY")]);
    block(user);
    EXPECT(OK, [MPinMFA DeleteUser:user]);
    CHECK([user getState] == INVALID);
    /* Documents. */
    NSData *hash = [MPinMFA HashDocument:@"a contract"];
    CHECK([hash length] == 32);
    CHECK([MPinMFA VerifyDocument:@"a contract" hash:hash]);
    CHECK(![MPinMFA VerifyDocument:@"another" hash:hash]);
    CHECK([[MPinMFA HashDocument:@""] length] == 32);
}

/* ---- Wrong values ---------------------------------------------------- */

void useWrongValues(void) {
    id<IUser> user = [MPinMFA getIUserById:@"alice@example.com"];
    const unichar half = 0xd800, nul = 0;
    NSString *broken = [NSString stringWithCharacters:&half length:1];
    NSString *cut = [@"abc" stringByAppendingString:
                                [NSString stringWithCharacters:&nul length:1]];
    id number = @7, null = [NSNull null], list = @[];
    NSString *text = @"unchanged";
    ServiceDetails *service = nil;
    BridgeSignature *signature = nil;
    OTP *otp = nil;
    VerificationResult *verified = nil;
    RegCode *code = nil;
    NSData *hash = [MPinMFA HashDocument:@"a contract"];

    for (id wrong in @[ broken, cut, number, null, list ]) {
        EXPECT(INVALID_ARGUMENT, [MPinMFA SetBackend:wrong]);
        EXPECT(INVALID_ARGUMENT,
               [MPinMFA SetBackend:named("MPIN_BACKEND") rpsPrefix:wrong]);
        EXPECT(INVALID_ARGUMENT, [MPinMFA SetClientId:wrong]);
        CHECK(![MPinMFA MakeNewUser:wrong]);
        CHECK(![MPinMFA MakeNewUser:@"a" deviceName:wrong]);
        CHECK(![MPinMFA getIUserById:wrong]);
        CHECK(![MPinMFA GetClientParam:wrong]);
        CHECK(![MPinMFA IsUserExisting:wrong customerId:@"" appId:@""]);
        EXPECT(INVALID_ARGUMENT, [MPinMFA AddTrustedDomain:wrong]);
        EXPECT(INVALID_ARGUMENT, [MPinMFA GetAccessCode:wrong
                                             accessCode:&text]);
        EXPECT(PIN_INVALID, [MPinMFA FinishAuthentication:user
                                                     pin0:wrong
                                                     pin1:nil
                                               accessCode:@""]);
        EXPECT(PIN_INVALID, [MPinMFA FinishAuthentication:user
                                                     pin0:@"1234"
                                                     pin1:wrong
                                               accessCode:@""]);
        EXPECT(INVALID_ARGUMENT, [MPinMFA FinishAuthentication:user
                                                          pin0:@"1234"
                                                          pin1:nil
                                                    accessCode:wrong]);
        /* What is no user of this library. */
        EXPECT(INVALID_HANDLE, [MPinMFA DeleteUser:wrong]);
        EXPECT(INVALID_HANDLE, [MPinMFA StartAuthentication:wrong
                                                 accessCode:@"0123456"]);
        CHECK(![MPinMFA CanLogout:wrong] && ![MPinMFA Logout:wrong]);
        CHECK(![MPinMFA HashDocument:wrong] || wrong == (id)cut);
    }
    EXPECT(INVALID_ARGUMENT, [MPinMFA SetBackend:nil]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA TestBackend:nil]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA AddTrustedDomain:nil]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA AddCustomHeaders:number]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA AddCustomHeaders:@{@"X" : @7}]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA initSDKWithHeaders:number]);
    EXPECT(OK, [MPinMFA SetClientId:nil]);
    CHECK(![MPinMFA MakeNewUser:nil]);
    CHECK(![MPinMFA getIUserById:nil]);
    CHECK(![MPinMFA GetClientParam:nil]);
    CHECK(![MPinMFA GetSessionDetails:nil]);
    CHECK([[MPinMFA listUsers:nil] count] == 0);
    EXPECT(INVALID_ARGUMENT, [MPinMFA AbortSession:nil]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA GetServiceDetails:nil
                                         serviceDetails:&service]);
    EXPECT(INVALID_ARGUMENT,
           [MPinMFA GetServiceDetails:named("MPIN_BACKEND")
                       serviceDetails:NULL]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA GetAccessCode:nil accessCode:&text]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA GetAccessCode:named("MPIN_BACKEND")
                                         accessCode:NULL]);
    EXPECT(INVALID_HANDLE, [MPinMFA StartRegistration:nil
                                           accessCode:@""
                                                  pmi:@""]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA StartRegistration:user
                                             accessCode:nil
                                                    pmi:@""]);
    EXPECT(INVALID_HANDLE, [MPinMFA RestartRegistration:nil]);
    EXPECT(INVALID_HANDLE, [MPinMFA ConfirmRegistration:nil]);
    EXPECT(INVALID_HANDLE, [MPinMFA FinishRegistration:nil
                                                  pin0:@"1234"
                                                  pin1:nil]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishRegistration:user
                                                    pin0:nil
                                                    pin1:nil]);
    EXPECT(INVALID_HANDLE, [MPinMFA SetRegistrationToken:nil token:@"t"]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA SetRegistrationToken:user token:nil]);
    CHECK(![MPinMFA isRegistrationTokenSet:nil]);
    EXPECT(INVALID_HANDLE, [MPinMFA StartAuthentication:nil
                                             accessCode:@"0123456"]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA StartAuthentication:user
                                               accessCode:nil]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishAuthentication:user
                                                      pin0:nil
                                                      pin1:@"1234"
                                                accessCode:@""]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishAuthentication:user
                                                      pin0:@"1234"
                                                      pin1:nil
                                                accessCode:nil]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishAuthentication:user
                                                       pin:@"1234"
                                                      pin1:nil
                                                accessCode:@""
                                                 authzCode:NULL]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishAuthentication:user
                                                       pin:@"1234"
                                                      pin1:nil
                                                accessCode:nil
                                                 authzCode:&text]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishAuthenticationOTP:user
                                                          pin:@"1234"
                                                          otp:NULL]);
    EXPECT(INVALID_HANDLE, [MPinMFA FinishAuthenticationOTP:nil
                                                        pin:@"1234"
                                                        otp:&otp]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishAuthenticationRegCode:user
                                                              pin:nil
                                                             pin1:nil
                                                          regCode:&code]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishAuthenticationRegCode:user
                                                              pin:@"1234"
                                                             pin1:nil
                                                          regCode:NULL]);
    EXPECT(INVALID_HANDLE, [MPinMFA StartVerification:nil
                                             clientId:@"app"
                                          redirectURI:nil
                                           accessCode:@""]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA StartVerification:user
                                               clientId:@"app"
                                             accessCode:nil]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishVerification:user
                                        verificationCode:@"1"
                                      verificationResult:NULL]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishVerification:user
                                        verificationCode:nil
                                      verificationResult:&verified]);
    EXPECT(INVALID_HANDLE, [MPinMFA StartRegistrationDVS:nil
                                                    pin0:@"1234"
                                                    pin1:nil]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA FinishRegistrationDVS:user
                                                     pinDVS:nil
                                                        nfc:nil]);
    CHECK(![MPinMFA HashDocument:nil]);
    CHECK(![MPinMFA VerifyDocument:nil hash:hash]);
    CHECK(![MPinMFA VerifyDocument:@"a contract" hash:nil]);
    CHECK(![MPinMFA VerifyDocument:@"a contract" hash:[NSData data]]);
    EXPECT(INVALID_ARGUMENT, [MPinMFA Sign:user
                              documentHash:nil
                                      pin0:@"1234"
                                      pin1:nil
                                 epochTime:0
                                    result:&signature]);
    for (int i = 0; i < 3; i++) {
        const double times[] = {-1, 4294967296.0, 0.0 / 0.0};
        EXPECT(INVALID_ARGUMENT, [MPinMFA Sign:user
                                  documentHash:hash
                                          pin0:@"1234"
                                          pin1:nil
                                     epochTime:times[i]
                                        result:&signature]);
    }
    EXPECT(INVALID_ARGUMENT, [MPinMFA Sign:user
                              documentHash:hash
                                      pin0:@"1234"
                                      pin1:nil
                                 epochTime:0
                                    result:NULL]);
    CHECK([text isEqual:@"unchanged"] && !service && !signature && !otp &&
          !verified && !code);
    /* None of this has cost an attempt, and no factor has stayed. */
    EXPECT(OK, [MPinMFA FinishAuthentication:user
                                        pin0:@"1234"
                                        pin1:nil
                                  accessCode:@""]);
    MpinStatus *status = [[[MpinStatus alloc] initWith:INCORRECT_PIN
                                          errorMessage:nil] autorelease];
    CHECK([status.statusCodeAsString isEqual:@"INCORRECT_PIN"]);
    CHECK([[status getStatusCodeAsString] isEqual:@"INCORRECT_PIN"]);
    CHECK(VERIFICATION_FAILED == 21 && BAD_CLIENT_VERSION == 17 &&
          RANDOM_FAILED == 40);
    CHECK(INVALID == 0 && STARTED_VERIFICATION == 1 &&
          STARTED_REGISTRATION == 2 && ACTIVATED == 3 && REGISTERED == 4);
}

/* MPin, by every method that the documentation of the Milagro SDK lists. */
#import "MPin.h"

#include "check.h"

static void checkNumbers(void) {
    CHECK(OK == 0 && PIN_INPUT_CANCELED == 1 && CRYPTO_ERROR == 2 &&
          STORAGE_ERROR == 3 && NETWORK_ERROR == 4);
    CHECK(RESPONSE_PARSE_ERROR == 5 && FLOW_ERROR == 6 &&
          IDENTITY_NOT_AUTHORIZED == 7 && IDENTITY_NOT_VERIFIED == 8);
    CHECK(REQUEST_EXPIRED == 9 && REVOKED == 10 && INCORRECT_PIN == 11 &&
          INCORRECT_ACCESS_NUMBER == 12);
    CHECK(HTTP_SERVER_ERROR == 13 && HTTP_REQUEST_ERROR == 14 &&
          BAD_USER_AGENT == 15 && CLIENT_SECRET_EXPIRED == 16);
    CHECK(INVALID == 0 && STARTED_REGISTRATION == 1 && ACTIVATED == 2 &&
          REGISTERED == 3 && BLOCKED == 4);
}

static id<IUser> registered(NSString *name) {
    id<IUser> user = [MPin MakeNewUser:name];
    CHECK([user getState] == INVALID);
    EXPECT(OK, [MPin StartRegistration:user]);
    CHECK([user getState] == STARTED_REGISTRATION);
    EXPECT(OK, [MPin RestartRegistration:user]);
    EXPECT(OK, [MPin RestartRegistration:user userData:@"data"]);
    EXPECT(FLOW_ERROR, [MPin FinishRegistration:user pin:@"1234"]);
    openMail(3);
    EXPECT(OK, [MPin ConfirmRegistration:user]);
    EXPECT(OK, [MPin ConfirmRegistration:user
                   pushNotificationIdentifier:@"device"]);
    EXPECT(OK, [MPin FinishRegistration:user pin:@"1234"]);
    CHECK([user getState] == REGISTERED);
    return user;
}

static void logIn(id<IUser> user) {
    NSString *answer = @"unchanged";
    OTP *otp = nil;
    EXPECT(OK, [MPin StartAuthentication:user]);
    EXPECT(OK, [MPin FinishAuthentication:user pin:@"1234"]);
    EXPECT(INCORRECT_PIN, [MPin FinishAuthentication:user
                                                 pin:@"4321"
                                      authResultData:&answer]);
    CHECK([answer isEqual:@"unchanged"]);
    EXPECT(OK, [MPin FinishAuthentication:user
                                      pin:@"1234"
                           authResultData:&answer]);
    CHECK([NSJSONSerialization
        JSONObjectWithData:[answer dataUsingEncoding:NSUTF8StringEncoding]
                   options:0
                     error:NULL]);
    EXPECT(OK, [MPin FinishAuthentication:user
                                      pin:@"1234"
                           authResultData:NULL]);
    EXPECT(OK, [MPin FinishAuthenticationOTP:user pin:@"1234" otp:&otp]);
    CHECK(otp.status.status == OK && [otp.otp length] > 0);
    Page *page = [Page open];
    [page wait];
    EXPECT(OK, [MPin StartAuthentication:user accessCode:[page accessCode]]);
    CHECK([[MPin GetSessionDetails:[page accessCode]].appName
        isEqual:@"The app"]);
    EXPECT(OK, [MPin FinishAuthenticationAN:user
                                        pin:@"1234"
                               accessNumber:[page accessCode]]);
    CHECK([[[page state] objectForKey:@"status"] isEqual:@"authenticated"]);
    EXPECT(INCORRECT_ACCESS_NUMBER, [MPin CheckAccessNumber:@"1234567"]);
    CHECK([MPin CanLogout:user] == [MPin Logout:user]);
    CHECK(![MPin CanLogout:user]);
}

static void refuse(void) {
    EXPECT(INVALID_HANDLE, [MPin StartRegistration:nil]);
    EXPECT(INVALID_HANDLE, [MPin FinishRegistration:nil pin:@"1234"]);
    EXPECT(INVALID_HANDLE, [MPin StartAuthentication:nil]);
    EXPECT(INVALID_HANDLE, [MPin FinishAuthentication:nil pin:@"1234"]);
    EXPECT(INVALID_ARGUMENT, [MPin CheckAccessNumber:nil]);
    EXPECT(INVALID_ARGUMENT, [MPin SetBackend:nil rpsPrefix:nil]);
}

void useMilagro(void) {
    checkNumbers();
    [MPin initSDK];
    EXPECT(OK, [MPin TestBackend:named("MPIN_BACKEND")]);
    EXPECT(OK, [MPin TestBackend:named("MPIN_BACKEND") rpsPrefix:@"rps"]);
    EXPECT(OK, [MPin SetBackend:named("MPIN_BACKEND") rpsPrefix:@"rps"]);
    id<IUser> user = registered(@"carol@example.com");
    CHECK([[user getIdentity] isEqual:@"carol@example.com"]);
    CHECK([[MPin listUsers] count] == 2);
    CHECK([(id<IUser>)[[MPin listUsers] lastObject] getState] == REGISTERED);
    logIn(user);
    refuse();
    /* A wrong activation code. */
    id<IUser> other = [MPin MakeNewUser:@"dave@example.com" deviceName:@"d"];
    EXPECT(IDENTITY_NOT_AUTHORIZED, [MPin StartRegistration:other
                                               activateCode:@"no such code"
                                                   userData:@"data"]);
    for (int i = 0; i < 3; i++)
        EXPECT(INCORRECT_PIN, [MPin FinishAuthentication:user pin:@"0000"]);
    CHECK([user getState] == BLOCKED);
    EXPECT(OK, [MPin DeleteUser:user]);
    EXPECT(OK, [MPin ClearUsers]);
    CHECK([[MPin listUsers] count] == 0);
    EXPECT(OK, [MPin Destroy]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An app on GNUstep whose user registers, and logs in with a PIN: in the app,
 * or in a browser that shows a QR code.
 *
 *     login --backend URL register USER         waits until the link in the mail
 *                                               is opened
 *     login --backend URL app USER URL          in the app; URL is that of its
 *                                               back end (bindings/samples/mobile)
 *     login website USER URL                    URL is that of the QR code
 *
 * The PIN is read from standard input. Prints OK, or the name of the status that
 * ended it. Exit code: 0 OK, 1 failed, 2 wrong usage, 3 INCORRECT_PIN, 4 BLOCKED.
 */
#import "MPinMFA.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INCORRECT_PIN, EXIT_BLOCKED };

/* Reads the PIN without a buffer, which would keep a copy. */
static NSString *readPin(void) {
    char digits[16] = "";
    size_t count = 0;
    char c = 0;
    while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
        if (count + 1 < sizeof digits) digits[count++] = c;
    NSString *pin = [NSString stringWithUTF8String:digits];
    memset(digits, 0, sizeof digits);
    return pin ? pin : @"";
}

/* POSTs a JSON object, and returns the answer's; nil unless it is 200. */
static NSDictionary *post(NSString *address, NSDictionary *body) {
    NSURL *url = [NSURL URLWithString:address];
    if (!url) return nil;
    NSMutableURLRequest *request = [NSMutableURLRequest requestWithURL:url];
    [request setHTTPMethod:@"POST"];
    [request setValue:@"application/json" forHTTPHeaderField:@"Content-Type"];
    [request setHTTPBody:[NSJSONSerialization dataWithJSONObject:body
                                                         options:0
                                                           error:NULL]];
    NSURLResponse *response = nil;
    NSData *answer = [NSURLConnection sendSynchronousRequest:request
                                           returningResponse:&response
                                                       error:NULL];
    if ([(NSHTTPURLResponse *)response statusCode] != 200 || !answer)
        return nil;
    id object = [NSJSONSerialization JSONObjectWithData:answer
                                                options:0
                                                  error:NULL];
    return [object isKindOfClass:[NSDictionary class]] ? object : nil;
}

static MpinStatus *failed(MPinStatus code, NSString *reason) {
    return [[[MpinStatus alloc] initWith:code
                            errorMessage:reason] autorelease];
}

static MpinStatus *registerUser(NSString *identity) {
    id<IUser> user = [MPinMFA getIUserById:identity];
    if (!user) user = [MPinMFA MakeNewUser:identity deviceName:@"GNUstep"];
    if (!user) return [MPinMFA lastStatus];
    MpinStatus *status = nil;
    if ([user getState] == INVALID) {
        status = [MPinMFA StartRegistration:user accessCode:@"" pmi:@""];
        if (status.status != OK) return status;
    }
    while ((status = [MPinMFA ConfirmRegistration:user]).status ==
           IDENTITY_NOT_VERIFIED)
        [NSThread sleepForTimeInterval:0.2];
    if (status.status != OK) return status;
    return [MPinMFA FinishRegistration:user pin0:readPin() pin1:nil];
}

/* Logs in here, and gives the code to the back end, which redeems it. */
static MpinStatus *logInToApp(id<IUser> user, NSString *backEnd) {
    NSString *accessCode = nil, *authzCode = nil;
    NSDictionary *answer =
        post([backEnd stringByAppendingString:@"/authzurl"],
             [NSDictionary dictionary]);
    MpinStatus *status =
        [MPinMFA GetAccessCode:[answer objectForKey:@"authorizeURL"]
                    accessCode:&accessCode];
    if (status.status == OK)
        status = [MPinMFA StartAuthentication:user accessCode:accessCode];
    if (status.status == OK)
        status = [MPinMFA FinishAuthentication:user
                                           pin:readPin()
                                          pin1:nil
                                    accessCode:accessCode
                                     authzCode:&authzCode];
    if (status.status != OK) return status;
    answer = post([backEnd stringByAppendingString:@"/authtoken"],
                  [NSDictionary dictionaryWithObjectsAndKeys:
                                    authzCode, @"code", [user getIdentity],
                                    @"userID", nil]);
    return [[answer objectForKey:@"userID"] isEqual:[user getIdentity]]
               ? status
               : failed(IDENTITY_NOT_AUTHORIZED, @"the back end refuses");
}

/* Logs the browser in that shows the QR code. */
static MpinStatus *logInToWebsite(NSString *identity, NSString *qrCode) {
    NSArray *parts = [qrCode componentsSeparatedByString:@"#"];
    if ([parts count] != 2)
        return failed(INVALID_ARGUMENT, @"this is no URL of a QR code");
    NSString *accessCode = [parts objectAtIndex:1];
    ServiceDetails *service = nil;
    MpinStatus *status = [MPinMFA GetServiceDetails:[parts objectAtIndex:0]
                                     serviceDetails:&service];
    if (status.status == OK)
        status = [MPinMFA SetBackend:service.backendUrl];
    if (status.status != OK) return status;
    SessionDetails *session = [MPinMFA GetSessionDetails:accessCode];
    id<IUser> user = [MPinMFA getIUserById:identity];
    if (!session || !user) return [MPinMFA lastStatus];
    fprintf(stderr, "%s asks for the login at %s\n",
            [session.appName UTF8String], [[user getBackend] UTF8String]);
    status = [MPinMFA StartAuthentication:user accessCode:accessCode];
    if (status.status != OK) return status;
    return [MPinMFA FinishAuthentication:user
                                    pin0:readPin()
                                    pin1:nil
                              accessCode:accessCode];
}

static MpinStatus *run(NSArray *words, NSString *backend) {
    NSString *command = [words objectAtIndex:0];
    NSString *identity = [words objectAtIndex:1];
    MpinStatus *status = [MPinMFA initSDK];
    if (status.status == OK && backend) status = [MPinMFA SetBackend:backend];
    if (status.status != OK) return status;
    if ([command isEqual:@"register"]) return registerUser(identity);
    if ([command isEqual:@"website"])
        return logInToWebsite(identity, [words objectAtIndex:2]);
    id<IUser> user = [MPinMFA getIUserById:identity];
    return user ? logInToApp(user, [words objectAtIndex:2])
                : failed(FLOW_ERROR, @"this user is not registered");
}

static BOOL isUsage(NSArray *words, NSString *backend) {
    if ([words count] == 2)
        return backend && [[words objectAtIndex:0] isEqual:@"register"];
    if ([words count] != 3) return NO;
    return [[words objectAtIndex:0] isEqual:@"website"] ||
           (backend && [[words objectAtIndex:0] isEqual:@"app"]);
}

static int exitCode(MpinStatus *status, NSString *identity) {
    if (status.status == OK) return EXIT_OK;
    fprintf(stderr, "login: %s\n", [[status description] UTF8String]);
    if ([[MPinMFA getIUserById:identity] getState] == BLOCKED)
        return EXIT_BLOCKED;
    return status.status == INCORRECT_PIN ? EXIT_INCORRECT_PIN : EXIT_FAILED;
}

int main(void) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    NSMutableArray *words = [NSMutableArray
        arrayWithArray:[[NSProcessInfo processInfo] arguments]];
    NSString *backend = nil;
    int code = EXIT_USAGE;
    [words removeObjectAtIndex:0];
    if ([words count] > 2 && [[words objectAtIndex:0] isEqual:@"--backend"]) {
        backend = [words objectAtIndex:1];
        [words removeObjectsInRange:NSMakeRange(0, 2)];
    }
    if (isUsage(words, backend)) {
        MpinStatus *status = run(words, backend);
        puts([[status getStatusCodeAsString] UTF8String]);
        code = exitCode(status, [words objectAtIndex:1]);
    } else {
        fputs("usage: login --backend URL register USER\n"
              "       login --backend URL app USER URL\n"
              "       login website USER URL\n",
              stderr);
    }
    [pool drain];
    return code;
}

/* Counts what the Objective-C programs compare, and ends at the first value that
 * is wrong. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

extern int cases;

#define CHECK(condition)                                                       \
    do {                                                                       \
        cases++;                                                               \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #condition);                                               \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

/* The status must have this code, and a text if it is an error. */
#define EXPECT(code, call)                                                     \
    do {                                                                       \
        MpinStatus *status_ = (call);                                          \
        cases++;                                                               \
        if (!status_ || status_.status != (code) ||                            \
            ((code) != OK && [status_.errorMessage length] == 0)) {            \
            fprintf(stderr, "%s:%d: %s, expected %s\n", __FILE__, __LINE__,    \
                    [[status_ description] UTF8String], #code);                \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

/* An address or a name in the environment. */
static inline NSString *named(const char *name) {
    return [NSString stringWithUTF8String:getenv(name)];
}

/* Opens the link in the newest mail, once there are so many. */
static inline void openMail(int count) {
    NSString *command =
        [NSString stringWithFormat:@"%s %d", getenv("OPEN_MAIL"), count];
    CHECK(system([command UTF8String]) == 0);
}

/* POSTs a JSON object. status: that of the answer, which is returned. */
NSDictionary *post(NSString *url, NSDictionary *body, NSInteger *status);

/* A page that shows a QR code, and asks how far its login is until it ends, in a
 * thread of its own: the phone's call waits until the page knows. */
@interface Page : NSObject {
    NSDictionary *_session, *_state;
    NSConditionLock *_ended;
}
+ (Page *)open;
/** The URL in the QR code, and its part after '#'. */
- (NSString *)qrURL;
- (NSString *)accessCode;
/** Begins to ask. */
- (void)wait;
/** What the page learned in the end. */
- (NSDictionary *)state;
@end

/* The steps, in files of their own because of the numbers of the states. */
void useWithoutInit(void);
void useMobileApp(void);
void useWebsite(void);
void useMFA(void);
void useWrongValues(void);
void useMilagro(void);

#endif

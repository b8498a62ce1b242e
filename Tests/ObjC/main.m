/* The classes of bindings/objc with a real server and a real back end, which
 * objc.sh starts. */
#import <Foundation/Foundation.h>

#include "check.h"

int cases = 0;

NSDictionary *post(NSString *address, NSDictionary *body, NSInteger *status) {
    NSMutableURLRequest *request =
        [NSMutableURLRequest requestWithURL:[NSURL URLWithString:address]];
    NSURLResponse *response = nil;
    [request setHTTPMethod:@"POST"];
    [request setValue:@"application/json" forHTTPHeaderField:@"Content-Type"];
    [request setHTTPBody:[NSJSONSerialization dataWithJSONObject:body
                                                         options:0
                                                           error:NULL]];
    NSData *answer = [NSURLConnection sendSynchronousRequest:request
                                           returningResponse:&response
                                                       error:NULL];
    if (!answer) {
        fprintf(stderr, "no answer from %s\n", [address UTF8String]);
        exit(1);
    }
    *status = [(NSHTTPURLResponse *)response statusCode];
    return [NSJSONSerialization JSONObjectWithData:answer
                                           options:0
                                             error:NULL];
}

@implementation Page

+ (Page *)open {
    NSInteger answered = 0;
    Page *page = [[[Page alloc] init] autorelease];
    NSDictionary *start =
        post([named("APP_BACK_END") stringByAppendingString:@"/authzurl"],
             [NSDictionary dictionary], &answered);
    page->_session = [post([start objectForKey:@"authorizeURL"],
                           [NSDictionary dictionary], &answered) retain];
    page->_ended = [[NSConditionLock alloc] initWithCondition:0];
    CHECK(answered == 200 && [page accessCode]);
    return page;
}

- (NSString *)qrURL {
    return [_session objectForKey:@"qrURL"];
}

- (NSString *)accessCode {
    return [_session objectForKey:@"accessId"];
}

- (void)ask {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    NSArray *ends = [NSArray arrayWithObjects:@"authenticated", @"abort",
                                              @"expired", nil];
    NSInteger answered = 200;
    do {
        [NSThread sleepForTimeInterval:0.05];
        [_state release];
        _state = [post([_session objectForKey:@"accessURL"],
                       [NSDictionary
                           dictionaryWithObject:[_session objectForKey:@"webOTT"]
                                         forKey:@"webOTT"],
                       &answered) retain];
    } while (answered == 200 &&
             ![ends containsObject:[_state objectForKey:@"status"]]);
    [_ended lock];
    [_ended unlockWithCondition:1];
    [pool drain];
}

- (void)wait {
    [NSThread detachNewThreadSelector:@selector(ask)
                             toTarget:self
                           withObject:nil];
}

- (NSDictionary *)state {
    [_ended lockWhenCondition:1];
    [_ended unlock];
    return _state;
}

- (void)dealloc {
    [_session release];
    [_state release];
    [_ended release];
    [super dealloc];
}

@end

static int passed = 0;

static void run(const char *name, void (*step)(void)) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    step();
    [pool drain];
    printf("ok: %s\n", name);
    passed++;
}

int main(void) {
    run("calls before initSDK", useWithoutInit);
    run("the mobile app's own lines", useMobileApp);
    run("the website app's own lines", useWebsite);
    run("the other methods of MPinMFA", useMFA);
    run("wrong values", useWrongValues);
    run("the Milagro class", useMilagro);
    printf("%d cases, %d passed\n", cases, passed);
    return 0;
}

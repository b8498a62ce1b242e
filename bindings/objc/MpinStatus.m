/* SPDX-License-Identifier: Apache-2.0 */
#import "MpinStatus.h"
#import "MPinMemory.h"

#include <mpin.h>

@implementation MpinStatus

@synthesize status = _status;
@synthesize errorMessage = _errorMessage;

- (instancetype)initWith:(MPinStatus)status errorMessage:(NSString *)error {
    self = [super init];
    if (self) {
        _status = status;
        _errorMessage = [error copy];
    }
    return self;
}

- (NSString *)getStatusCodeAsString {
    const char *name = mpin_status_name((mpin_status)_status);
    return [NSString stringWithUTF8String:name];
}

- (NSString *)description {
    return [NSString stringWithFormat:@"%@ (%@)", [self getStatusCodeAsString],
                                      _errorMessage];
}

#if !MPIN_ARC
- (void)dealloc {
    [_errorMessage release];
    [super dealloc];
}
#endif

@end

/* The answer of a server that asks for no permits. */
#ifndef CLIENT_SETTINGS_H
#define CLIENT_SETTINGS_H

/* The members of the client settings that a client requires. */
#define CLIENT_SETTINGS "{" CLIENT_SETTINGS_MEMBERS
#define CLIENT_SETTINGS_MEMBERS                                                \
    "\"appID\":\"c0ffee\",\"registerURL\":\"/rps/user\","                     \
    "\"signatureURL\":\"/rps/signature\",\"certivoxURL\":\"/dta/\","           \
    "\"timePermitsURL\":\"/rps/timePermit\","                                  \
    "\"mpinAuthServerURL\":\"/rps\",\"authenticateURL\":\"/authenticate\","    \
    "\"usePermits\":false,\"number\":7,\"text\":\"\xc3\xa4\"}"

#endif

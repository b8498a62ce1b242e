/* This file is only compiled. It ignores results that may be ignored, and
 * one that must not be. */
#include <mpin.h>

void end(mpin_sdk *sdk);
void end(mpin_sdk *sdk)
{
    mpin_sdk_cancel(sdk);
    mpin_sdk_abort_session(sdk, "abcdef");
    mpin_sdk_clear_custom_headers(sdk);
    mpin_sdk_clear_trusted_domains(sdk);
    mpin_sdk_clear_users(sdk);
    mpin_sdk_destroy(sdk);
#ifdef MUST_BE_LOOKED_AT
    mpin_sdk_init(sdk, NULL);
#endif
    mpin_sdk_free(sdk);
}

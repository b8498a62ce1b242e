/* Runs the library's own test, which needs no server and no files. */
#include <mpin.h>
#include <stdio.h>

int main(void)
{
    mpin_status status = mpin_sdk_self_test();
    printf("libmpin %s: %s\n", mpin_version(), mpin_status_name(status));
    return status == MPIN_OK ? 0 : 1;
}

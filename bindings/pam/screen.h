/* What a login shows in the terminal. */
#ifndef PAM_MPIN_SCREEN_H
#define PAM_MPIN_SCREEN_H

#include "options.h"

/** A login that waits for a phone. */
struct invitation {
    /** Who wants to log in, and where. */
    const char *user, *host;
    /** The link with the code in it, or without it if there is no such link. */
    const char *link;
    /** The code, as the page at the link shows it. */
    const char *code;
    /** How long the code is valid, in seconds. */
    long seconds;
    enum qr_style qr;
};

/** Makes the text that asks for a login with a phone, in at most 80 columns:
 * the link as a QR code and as a text, and the code.
 *
 * Returns: the text, to be freed; NULL without memory, or if the link is none
 *   that a terminal and a phone may be given.
 */
char *invitation_text(const struct invitation *invitation);

#endif

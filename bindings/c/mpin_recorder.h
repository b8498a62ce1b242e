/* Records what a client core says over HTTP into a file, and plays such a file
 * back, without network: for bug reports and for tests of your own program.
 * Both are an http_execute of mpin_context:
 *
 *     mpin_recorder *recorder = mpin_recorder_new("login.json");
 *     mpin_context context = {0};
 *     context.size = sizeof context;
 *     context.user = recorder;
 *     context.http_execute = mpin_recorder_execute;
 *     config.context = &context;
 *
 * A recording holds one-time tokens and shares of client secrets: it is made
 * for test identities, with mode 0600. Bodies are text in UTF-8.
 *
 * With a `random` callback of your own that gives the same bytes every time the
 * client says the same every time; without one, tell the player to leave out
 * what is random: mpin_player_ignore(player, "U") and so on for UT and V.
 *
 * Needs libcurl and jansson. Not for two threads at once. */
#ifndef MPIN_RECORDER_H
#define MPIN_RECORDER_H

#include <mpin.h>

typedef struct mpin_recorder mpin_recorder;
typedef struct mpin_player mpin_player;

/* A recorder that writes to `path` after every exchange; NULL if memory is
 * short. */
mpin_recorder *mpin_recorder_new(const char *path);
void mpin_recorder_free(mpin_recorder *recorder);

/* Sends a request by libcurl and writes down both sides. `recorder` is a
 * mpin_recorder. */
mpin_status mpin_recorder_execute(void *recorder,
                                  const mpin_http_request *request,
                                  mpin_http_response *response);

/* A player of the exchanges in `path`, in their order; NULL if there are
 * none. */
mpin_player *mpin_player_new(const char *path);
void mpin_player_free(mpin_player *player);

/* Leaves a member of request bodies out of the comparison, but not whether it
 * is there. At most eight. */
void mpin_player_ignore(mpin_player *player, const char *member);

/* Answers as recorded; MPIN_NETWORK_ERROR where the request is not the one
 * that was recorded. `player` is a mpin_player. */
mpin_status mpin_player_execute(void *player, const mpin_http_request *request,
                                mpin_http_response *response);

/* What the first request that was not as recorded was like; "" if all were. */
const char *mpin_player_complaint(const mpin_player *player);

/* Exchanges that have not been asked for. */
size_t mpin_player_left(const mpin_player *player);

#endif

/* A MIRACL server (Tests/C/mfa_server.h) that gives one wrong answer, and the
 * state in which each flow begins. For flows_test and trust_test. */
#include "cost.h"
#include "mfa_server.h"
#include "state.h"

static mpin_sdk *sdk;
static mpin_user *user;

#include "walk_host.h"

/* ---- One answer that is wrong --------------------------------------- */

static struct {
    /* The number (from 1) of the flow's request whose answer is changed; 0:
     * none. */
    int request;
    /* If `flip` is 0, the answer is cut before the byte at `at`. Otherwise
     * the bits of `flip` are flipped in this byte. */
    size_t at;
    unsigned char flip;
    /* The length of the right answer; 0 if the flow made no such request. */
    size_t length;
} fault;

static mpin_status faulty_execute(void *unused,
                                  const mpin_http_request *request,
                                  mpin_http_response *response)
{
    char out[ANSWER] = "";
    (void)unused;
    mfa_note(request);
    const int status = mfa_serve(request->method, out);
    size_t n = strlen(out);
    if (mfa.requests == fault.request) {
        fault.length = n;
        if (fault.flip && fault.at < n)
            out[fault.at] = (char)(out[fault.at] ^ fault.flip);
        else if (fault.at < n)
            n = fault.at;
    }
    CHECK_STATUS(mpin_http_response_set_status(response, status), MPIN_OK);
    return mpin_http_response_append_body(response, (uint8_t *)out, n);
}

/* ---- The state before a flow ---------------------------------------- */

static struct {
    uint8_t bytes[2][1 << 16];
    size_t size[2];
} kept_store;
static uint8_t kept_server[sizeof mfa];

static void keep(void)
{
    memcpy(kept_store.bytes, host.bytes, sizeof kept_store.bytes);
    memcpy(kept_store.size, host.size, sizeof kept_store.size);
    memcpy(kept_server, &mfa, sizeof mfa);
}

/* Brings back the store and the server, and opens them. */
static void restore(void)
{
    memcpy(host.bytes, kept_store.bytes, sizeof kept_store.bytes);
    memcpy(host.size, kept_store.size, sizeof kept_store.size);
    memcpy(&mfa, kept_server, sizeof mfa);
    fault.request = 0;
    open_mfa(&sdk, faulty_execute);
}

static int32_t stored_state(void)
{
    mpin_sdk *other = NULL;
    open_mfa(&other, faulty_execute);
    return state_after_restart(other);
}

/* ---- Faults --------------------------------------------------------- */

/* Runs the flow with `fault` in the answer to this request. */
static void try_fault(int flow, int request);

/* Cuts and changes the answer to one request of the flow. Returns 0 if there
 * is no such request. */
static int disturb(int flow, int request, size_t stride)
{
    /* Changes each bit in turn. */
    static const unsigned char flips[] = {0x01, 0x02, 0x04, 0x08,
                                          0x10, 0x20, 0x40, 0x80};
    fault.length = 0;
    fault.at = ANSWER;
    try_fault(flow, request);
    const size_t length = fault.length;
    for (fault.at = 0; fault.at < length; fault.at += stride) {
        fault.flip = 0;
        try_fault(flow, request);
        for (size_t k = 0; k < sizeof flips; k++) {
            fault.flip = flips[(k + fault.at) % sizeof flips];
            try_fault(flow, request);
            if (stride > 1)
                break;
        }
    }
    fault.flip = 0;
    return length > 0;
}

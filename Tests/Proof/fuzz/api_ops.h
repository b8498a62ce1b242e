/* The calls of api.c that have several outputs, or arguments other than
 * points, scalars and hashes. */
#ifndef API_OPS_H
#define API_OPS_H

#include "api_values.h"

static mpin_crypto_server_context *contexts[SLOTS];

/* Returns a valid context, a freed one, or an arbitrary number as a pointer. */
static mpin_crypto_server_context *context(void)
{
    uint8_t mode = byte();
    if (mode < 250)
        return contexts[mode % SLOTS];
    uint64_t number = (uint64_t)(uint32_t)word() << 32 | (uint32_t)word();
    return (mpin_crypto_server_context *)(uintptr_t)number;
}

static void client_1(void)
{
    out sec = output(G1), u = output(G1), ut = output(G1);
    int32_t date = day(), bits = width();
    in id = octets(), x = argument(SCALAR), pin = argument(SCALAR);
    in token = argument(G1), permit = argument(G1);
    int32_t code = mpin_crypto_client_1(OF(sec), OF(u), OF(ut), date, OF(id),
                                        OF(x), OF(pin), bits, OF(token),
                                        OF(permit));
    EXPECT(documented(code));
    result(sec, code == 0);
    result(u, code == 0);
    result(ut, code == 0);
}

static void server_2(void)
{
    out e = output(GT), f = output(GT);
    int32_t date = day();
    in hid = argument(G1), htid = argument(G1), y = argument(SCALAR);
    in secret = argument(G2), u = argument(G1), ut = argument(G1);
    in v = argument(G1);
    int32_t code = mpin_crypto_server_2(OF(e), OF(f), date, OF(hid), OF(htid),
                                        OF(y), OF(secret), OF(u), OF(ut),
                                        OF(v));
    EXPECT(documented(code));
    result(e, code == MPIN_CRYPTO_BAD_PIN);
    result(f, code == MPIN_CRYPTO_BAD_PIN);
}

static void server_1(void)
{
    out hid = output(G1), htid = output(G1);
    int32_t date = day();
    in id = octets();
    int32_t code = mpin_crypto_server_1(OF(hid), OF(htid), date, OF(id));
    EXPECT(documented(code));
    result(hid, code == 0);
    result(htid, code == 0);
}

static void pin_to_scalar(void)
{
    out scalar = output(SCALAR);
    int32_t bits = -1, mapping = (int8_t)byte();
    in pin = octets();
    int32_t code = mpin_crypto_pin_to_scalar(OF(scalar), byte() ? &bits : NULL,
                                             mapping, OF(pin));
    EXPECT(documented(code));
    EXPECT(code == 0 ? bits == 14 || bits == 20 : bits == -1);
    /* Does not keep the scalar of a right PIN in the pool, because it may be
     * 0, which the other functions refuse. After an error it checks that
     * nothing was written. */
    if (code != 0)
        result(scalar, 0);
}

static void new_context(void)
{
    uint8_t slot = byte() % SLOTS;
    mpin_crypto_server_context *handle = NULL;
    in secret = argument(G2);
    int32_t code = mpin_crypto_server_context_new(byte() ? &handle : NULL,
                                                  OF(secret));
    EXPECT(documented(code));
    EXPECT((code == 0) == (handle != NULL));
    if (handle) {
        mpin_crypto_server_context_free(contexts[slot]);
        contexts[slot] = handle;
    }
}

static void verify(void)
{
    mpin_crypto_server_context *handle = context();
    int32_t date = day();
    in id = octets(), u = argument(G1), y = argument(SCALAR), v = argument(G1);
    EXPECT(documented(mpin_crypto_server_context_verify(
        handle, date, OF(id), OF(u), OF(y), OF(v))));
}

static void kangaroo(void)
{
    int32_t error = 0x55555555;
    in e = argument(GT), f = argument(GT);
    int32_t range = byte() & 7 ? byte() : word();
    int32_t code = mpin_crypto_kangaroo(byte() ? &error : NULL, OF(e), OF(f),
                                        range);
    EXPECT(documented(code));
    EXPECT(code == 0 ? error <= range && error >= -range : error == 0x55555555);
}

static void extract_pin(void)
{
    out token = output(G1);
    in id = octets(), pin = argument(SCALAR), secret = argument(G1);
    int32_t bits = width();
    one_output(token, mpin_crypto_extract_pin(OF(token), OF(id), OF(pin), bits,
                                              OF(secret)));
}

static void extract_factor(void)
{
    out o = output(G1);
    in id = octets(), factor = argument(SCALAR), token = argument(G1);
    int32_t bits = width();
    one_output(o, mpin_crypto_extract_factor(OF(o), OF(id), OF(factor), bits,
                                             OF(token)));
}

static void restore_factor(void)
{
    out o = output(G1);
    in id = octets(), factor = argument(SCALAR), token = argument(G1);
    int32_t bits = width();
    one_output(o, mpin_crypto_restore_factor(OF(o), OF(id), OF(factor), bits,
                                             OF(token)));
}

static void change_pin(void)
{
    out o = output(G1);
    in id = octets(), old = argument(SCALAR), new = argument(SCALAR);
    in token = argument(G1);
    int32_t old_bits = width(), new_bits = width();
    one_output(o, mpin_crypto_change_pin(OF(o), OF(id), OF(old), old_bits,
                                         OF(new), new_bits, OF(token)));
}

static void get_dvs_keypair(void)
{
    out z = output(SCALAR), key = output(G2);
    int32_t code = mpin_crypto_get_dvs_keypair(OF(z), OF(key));
    EXPECT(documented(code));
    result(z, code == 0);
    result(key, code == 0);
}

static void verify_dvs(void)
{
    mpin_crypto_server_context *handle = context();
    in key = argument(G2), id = byte() & 1 ? argument(G2) : octets();
    in u = argument(G1), y = argument(SCALAR), v = argument(G1);
    EXPECT(documented(mpin_crypto_server_context_verify_dvs(
        handle, OF(key), OF(id), OF(u), OF(y), OF(v))));
}

static void get_y(void)
{
    out y = output(SCALAR);
    int64_t time = seconds();
    in u = argument(G1), message = octets();
    one_output(y, mpin_crypto_get_y(OF(y), time, OF(u), OF(message)));
}

static void client(void)
{
    out u = output(G1), ut = output(G1), v = output(G1);
    int32_t date = day(), bits = width();
    int64_t time = seconds();
    in id = octets(), x = argument(SCALAR), pin = argument(SCALAR);
    in token = argument(G1), permit = argument(G1), message = octets();
    int32_t code = mpin_crypto_client(OF(u), OF(ut), OF(v), date, OF(id),
                                      OF(x), OF(pin), bits, OF(token),
                                      OF(permit), time, OF(message));
    EXPECT(documented(code));
    result(u, code == 0);
    result(ut, code == 0);
    result(v, code == 0);
}

static void server(void)
{
    out e = output(GT), f = output(GT);
    int32_t date = day();
    int64_t time = seconds();
    in id = octets(), secret = argument(G2), key = argument(G2);
    in u = argument(G1), ut = argument(G1), v = argument(G1);
    in message = octets();
    int32_t code = mpin_crypto_server(OF(e), OF(f), date, OF(id), OF(secret),
                                      OF(key), OF(u), OF(ut), OF(v), time,
                                      OF(message));
    EXPECT(documented(code));
    result(e, code == MPIN_CRYPTO_BAD_PIN);
    result(f, code == MPIN_CRYPTO_BAD_PIN);
}

static void precompute(void)
{
    out g1 = output(GT), g2 = output(GT);
    in token = argument(G1), hash = argument(HASH);
    int32_t code = mpin_crypto_precompute(OF(g1), OF(g2), OF(token), OF(hash));
    EXPECT(documented(code));
    result(g1, code == 0);
    result(g2, code == 0);
}

static void client_key(void)
{
    out key = output(KEY);
    in g1 = argument(GT), g2 = argument(GT), pin = argument(SCALAR);
    in r = argument(SCALAR), x = argument(SCALAR), t = argument(G1);
    int32_t bits = width();
    one_output(key, mpin_crypto_client_key(OF(key), OF(g1), OF(g2), OF(pin),
                                           bits, OF(r), OF(x), OF(t)));
}

static void server_key(void)
{
    out key = output(KEY);
    in z = argument(G1), secret = argument(G2), w = argument(SCALAR);
    in u = argument(G1), ut = argument(G1);
    one_output(key, mpin_crypto_server_key(OF(key), OF(z), OF(secret), OF(w),
                                           OF(u), OF(ut)));
}

#endif

/* A libFuzzer target for sequences of mpin_crypto_* calls. One byte of the
 * input selects the function. More bytes select, for each argument, whether
 * it is right, has one wrong byte or another length, is taken from the
 * input, or is NULL. Results of calls become arguments of later calls. Every
 * buffer has its own allocation, so that the address sanitizer detects an
 * access one byte behind it.
 *
 * It checks that the result is a documented one, that a call that fails
 * writes nothing, and that the decoders accept every output. */
#include "api_ops.h"

/* The number of cases in call(). run.sh checks it. */
enum { OPERATIONS = 34 };

static void call(void)
{
    uint8_t op = byte() % OPERATIONS;
    out o;
    in a, b, c, d;
    switch (op) {
    case 0:
        o = output(HASH), a = octets();
        one_output(o, mpin_crypto_hash_id(OF(o), OF(a)));
        break;
    case 1:
        o = output(G1), a = argument(HASH);
        one_output(o, mpin_crypto_map_to_g1(OF(o), OF(a)));
        break;
    case 2:
        o = output(SCALAR);
        one_output(o, mpin_crypto_random_generate(OF(o)));
        break;
    case 3:
        o = output(G1), a = argument(SCALAR), b = argument(HASH);
        one_output(o, mpin_crypto_get_client_secret(OF(o), OF(a), OF(b)));
        break;
    case 4:
        o = output(G2), a = argument(SCALAR);
        one_output(o, mpin_crypto_get_server_secret(OF(o), OF(a)));
        break;
    case 5:
        o = output(G1), a = argument(SCALAR), b = argument(HASH);
        one_output(o, mpin_crypto_get_client_permit(OF(o), word(), OF(a),
                                                    OF(b)));
        break;
    case 6:
        o = output(G1), a = argument(G1), b = argument(G1);
        one_output(o, mpin_crypto_recombine_g1(OF(o), OF(a), OF(b)));
        break;
    case 7:
        o = output(G2), a = argument(G2), b = argument(G2);
        one_output(o, mpin_crypto_recombine_g2(OF(o), OF(a), OF(b)));
        break;
    case 8:
        pin_to_scalar();
        break;
    case 9:
        extract_pin();
        break;
    case 10:
        client_1();
        break;
    case 11:
        o = output(G1), a = argument(SCALAR), b = argument(SCALAR);
        c = argument(G1);
        one_output(o, mpin_crypto_client_2(OF(o), OF(a), OF(b), OF(c)));
        break;
    case 12:
        server_1();
        break;
    case 13:
        new_context();
        break;
    case 14:
        mpin_crypto_server_context_free(context());
        break;
    case 15:
        verify();
        break;
    case 16:
        server_2();
        break;
    case 17:
        kangaroo();
        break;
    case 18:
        o = output(GT), a = argument(G2), b = argument(G1);
        if (byte() & 1) {
            one_output(o, mpin_crypto_pairing(OF(o), OF(a), OF(b)));
        } else {
            c = argument(G2), d = argument(G1);
            one_output(o, mpin_crypto_pairing_product(OF(o), OF(a), OF(b),
                                                      OF(c), OF(d)));
        }
        break;
    case 19:
        extract_factor();
        break;
    case 20:
        restore_factor();
        break;
    case 21:
        change_pin();
        break;
    case 22:
        get_dvs_keypair();
        break;
    case 23:
        o = output(G2), a = argument(SCALAR);
        one_output(o, mpin_crypto_get_dvs_public_key(OF(o), OF(a)));
        break;
    case 24:
        o = output(G1), a = argument(SCALAR), b = argument(G1);
        one_output(o, mpin_crypto_get_g1_multiple(OF(o), OF(a), OF(b)));
        break;
    case 25:
        verify_dvs();
        break;
    case 26:
        get_y();
        break;
    case 27:
        client();
        break;
    case 28:
        server();
        break;
    case 29:
        precompute();
        break;
    case 30:
        client_key();
        break;
    case 31:
        server_key();
        break;
    case 32:
        o = output(ENCODED), a = argument(G1);
        one_output(o, mpin_crypto_encoding(OF(o), OF(a)));
        break;
    case 33:
        o = output(G1), a = argument(ENCODED);
        one_output(o, mpin_crypto_decoding(OF(o), OF(a)));
        break;
    }
    while (owned_count)
        free(owned[--owned_count]);
}

static void check_sizes(void)
{
    EXPECT(mpin_crypto_g1_size() == MPIN_G1_SIZE);
    EXPECT(mpin_crypto_g2_size() == MPIN_G2_SIZE);
    EXPECT(mpin_crypto_gt_size() == MPIN_GT_SIZE);
    EXPECT(mpin_crypto_scalar_size() == MPIN_SCALAR_SIZE);
    EXPECT(mpin_crypto_hash_size() == MPIN_HASH_SIZE);
    EXPECT(mpin_crypto_key_size() == MPIN_KEY_SIZE);
}

/* Fills the pool with right values. They are the same for every input, so
 * that a finding can be reproduced. */
static void fill_pool(void)
{
    static uint8_t start[KINDS][SLOTS][MPIN_GT_SIZE];
    static int is_made;
    for (uint8_t i = 0; i < SLOTS && !is_made; i++) {
        uint8_t *s = start[SCALAR][i], *hash = start[HASH][i];
        s[31] = (uint8_t)(i + 1);
        if (i == 3)
            memset(s + 1, 0x5A, MPIN_SCALAR_SIZE - 1);
        EXPECT(mpin_crypto_hash_id(hash, MPIN_HASH_SIZE, s,
                                   MPIN_SCALAR_SIZE) == 0);
        EXPECT(mpin_crypto_get_client_secret(start[G1][i], MPIN_G1_SIZE, s,
                                             MPIN_SCALAR_SIZE, hash,
                                             MPIN_HASH_SIZE) == 0);
        EXPECT(mpin_crypto_get_server_secret(start[G2][i], MPIN_G2_SIZE, s,
                                             MPIN_SCALAR_SIZE) == 0);
        EXPECT(mpin_crypto_pairing(start[GT][i], MPIN_GT_SIZE, start[G2][i],
                                   MPIN_G2_SIZE, start[G1][i],
                                   MPIN_G1_SIZE) == 0);
        /* Makes encodings of a point from two signs and two numbers. Nearly
         * all such values encode a point. */
        start[ENCODED][i][0] = i;
        memcpy(start[ENCODED][i] + 1, hash, MPIN_HASH_SIZE);
        memcpy(start[ENCODED][i] + 33, start[G1][i] + 1, 32);
        EXPECT(accepts(start[ENCODED][i], ENCODED));
    }
    if (!is_made)
        check_sizes();
    is_made = 1;
    memcpy(pool, start, sizeof pool);
    for (int i = 0; i < SLOTS; i++)
        mpin_crypto_server_context_free(contexts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cursor = data;
    left = size;
    fill_pool();
    for (int calls = 0; left && calls < 16; calls++)
        call();
    return 0;
}

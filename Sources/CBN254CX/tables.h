/*
 * Constants of the curve BN254CX, x = -0x4000000003C012B1: little-endian 64-bit limbs, Montgomery radix 2^320.
 * Tests/BN254CXTests recomputes every constant from x.
 *
 * The constants are in C because a Swift global with an initialiser costs a check at every use. Each table has an
 * accessor function, because Swift imports a C array as a tuple, whose address it cannot take.
 */
#ifndef BN254CX_TABLES_H
#define BN254CX_TABLES_H

/* The limb of GMP, 64 bits everywhere, as the C type that matches the type `Limb` in Swift. */
#ifdef __wasm__
typedef unsigned long long bn_limb;
#else
typedef unsigned long bn_limb;
#endif

/* Overwrites secrets with zeros, in a way that the compiler must not leave out. Needs no function of the system. */
static inline void bn_wipe(void *bytes, unsigned long count) {
    __builtin_memset(bytes, 0, count);
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

/* -1/p mod 2^64 */
#define BN_MONTGOMERY_FACTOR 0xef4e205bf9789e85ULL
/* floor(2^124 / (p_3 + 1)), where p_3 is the highest limb of p: for estimating a quotient by p */
#define BN_QUOTIENT_FACTOR 0x71c71c71ac714232ULL

/* p = 36x^4 + 36x^3 + 24x^2 + 6x + 1 */
static const bn_limb bn_p_table[4] = {
    0xbe6623ef5c1b55b3ULL, 0x243fd6ee18093ee1ULL, 0xb0bddf647a6366d3ULL, 0x2400000008702a0dULL,
};
static inline const bn_limb *bn_p(void) { return bn_p_table; }

/* r = 36x^4 + 36x^3 + 18x^2 + 6x + 1 */
static const bn_limb bn_r_table[4] = {
    0xbe11c0a636eb1f6dULL, 0xc43fd6ee0cc906ceULL, 0xb0bddf647a6366d2ULL, 0x2400000008702a0dULL,
};
static inline const bn_limb *bn_r(void) { return bn_r_table; }

/* k p(p + 2^199), k = 0..36, eight limbs a row: multiples of p a little above k p^2 */
static const bn_limb bn_wide_multiples_table[296] = {
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
    0x94409ebdd8725b29ULL, 0x9add1846b0a6a4a0ULL, 0x082095341c8696e2ULL, 0xbf07e6e0ab7c7a4eULL,
    0x5b3a21be279d4f41ULL, 0x3b4e3c7224e50ab4ULL, 0xd9fc9a9e286ffe97ULL, 0x05100000025f8be5ULL,
    0x28813d7bb0e4b652ULL, 0x35ba308d614d4941ULL, 0x10412a68390d2dc5ULL, 0x7e0fcdc156f8f49cULL,
    0xb674437c4f3a9e83ULL, 0x769c78e449ca1568ULL, 0xb3f9353c50dffd2eULL, 0x0a20000004bf17cbULL,
    0xbcc1dc398957117bULL, 0xd09748d411f3ede1ULL, 0x1861bf9c5593c4a7ULL, 0x3d17b4a202756eeaULL,
    0x11ae653a76d7edc5ULL, 0xb1eab5566eaf201dULL, 0x8df5cfda794ffbc5ULL, 0x0f300000071ea3b1ULL,
    0x51027af761c96ca4ULL, 0x6b74611ac29a9282ULL, 0x208254d0721a5b8aULL, 0xfc1f9b82adf1e938ULL,
    0x6ce886f89e753d06ULL, 0xed38f1c893942ad1ULL, 0x67f26a78a1bffa5cULL, 0x14400000097e2f97ULL,
    0xe54319b53a3bc7cdULL, 0x0651796173413722ULL, 0x28a2ea048ea0f26dULL, 0xbb278263596e6386ULL,
    0xc822a8b6c6128c48ULL, 0x28872e3ab8793585ULL, 0x41ef0516ca2ff8f4ULL, 0x195000000bddbb7dULL,
    0x7983b87312ae22f6ULL, 0xa12e91a823e7dbc3ULL, 0x30c37f38ab27894fULL, 0x7a2f694404eaddd4ULL,
    0x235cca74edafdb8aULL, 0x63d56aacdd5e403aULL, 0x1beb9fb4f29ff78bULL, 0x1e6000000e3d4763ULL,
    0x0dc45730eb207e1fULL, 0x3c0ba9eed48e8064ULL, 0x38e4146cc7ae2032ULL, 0x39375024b0675822ULL,
    0x7e96ec33154d2accULL, 0x9f23a71f02434aeeULL, 0xf5e83a531b0ff622ULL, 0x23700000109cd348ULL,
    0xa204f5eec392d948ULL, 0xd6e8c23585352504ULL, 0x4104a9a0e434b714ULL, 0xf83f37055be3d270ULL,
    0xd9d10df13cea7a0dULL, 0xda71e391272855a2ULL, 0xcfe4d4f1437ff4b9ULL, 0x2880000012fc5f2eULL,
    0x364594ac9c053471ULL, 0x71c5da7c35dbc9a5ULL, 0x49253ed500bb4df7ULL, 0xb7471de607604cbeULL,
    0x350b2faf6487c94fULL, 0x15c020034c0d6057ULL, 0xa9e16f8f6beff351ULL, 0x2d900000155beb14ULL,
    0xca86336a74778f9aULL, 0x0ca2f2c2e6826e45ULL, 0x5145d4091d41e4daULL, 0x764f04c6b2dcc70cULL,
    0x9045516d8c251891ULL, 0x510e5c7570f26b0bULL, 0x83de0a2d945ff1e8ULL, 0x32a0000017bb76faULL,
    0x5ec6d2284ce9eac3ULL, 0xa7800b09972912e6ULL, 0x5966693d39c87bbcULL, 0x3556eba75e59415aULL,
    0xeb7f732bb3c267d3ULL, 0x8c5c98e795d775bfULL, 0x5ddaa4cbbccff07fULL, 0x37b000001a1b02e0ULL,
    0xf30770e6255c45ecULL, 0x425d235047cfb786ULL, 0x6186fe71564f129fULL, 0xf45ed28809d5bba8ULL,
    0x46b994e9db5fb714ULL, 0xc7aad559babc8074ULL, 0x37d73f69e53fef16ULL, 0x3cc000001c7a8ec6ULL,
    0x87480fa3fdcea115ULL, 0xdd3a3b96f8765c27ULL, 0x69a793a572d5a981ULL, 0xb366b968b55235f6ULL,
    0xa1f3b6a802fd0656ULL, 0x02f911cbdfa18b28ULL, 0x11d3da080dafedaeULL, 0x41d000001eda1aacULL,
    0x1b88ae61d640fc3eULL, 0x781753dda91d00c8ULL, 0x71c828d98f5c4064ULL, 0x726ea04960ceb044ULL,
    0xfd2dd8662a9a5598ULL, 0x3e474e3e048695dcULL, 0xebd074a6361fec45ULL, 0x46e000002139a691ULL,
    0xafc94d1faeb35767ULL, 0x12f46c2459c3a568ULL, 0x79e8be0dabe2d747ULL, 0x3176872a0c4b2a92ULL,
    0x5867fa245237a4daULL, 0x79958ab0296ba091ULL, 0xc5cd0f445e8feadcULL, 0x4bf0000023993277ULL,
    0x4409ebdd8725b290ULL, 0xadd1846b0a6a4a09ULL, 0x82095341c8696e29ULL, 0xf07e6e0ab7c7a4e0ULL,
    0xb3a21be279d4f41bULL, 0xb4e3c7224e50ab45ULL, 0x9fc9a9e286ffe973ULL, 0x5100000025f8be5dULL,
    0xd84a8a9b5f980db9ULL, 0x48ae9cb1bb10eea9ULL, 0x8a29e875e4f0050cULL, 0xaf8654eb63441f2eULL,
    0x0edc3da0a172435dULL, 0xf03203947335b5faULL, 0x79c64480af6fe80aULL, 0x5610000028584a43ULL,
    0x6c8b2959380a68e2ULL, 0xe38bb4f86bb7934aULL, 0x924a7daa01769beeULL, 0x6e8e3bcc0ec0997cULL,
    0x6a165f5ec90f929fULL, 0x2b804006981ac0aeULL, 0x53c2df1ed7dfe6a2ULL, 0x5b2000002ab7d629ULL,
    0x00cbc817107cc40bULL, 0x7e68cd3f1c5e37ebULL, 0x9a6b12de1dfd32d1ULL, 0x2d9622acba3d13caULL,
    0xc550811cf0ace1e1ULL, 0x66ce7c78bcffcb62ULL, 0x2dbf79bd004fe539ULL, 0x603000002d17620fULL,
    0x950c66d4e8ef1f34ULL, 0x1945e585cd04dc8bULL, 0xa28ba8123a83c9b4ULL, 0xec9e098d65b98e18ULL,
    0x208aa2db184a3122ULL, 0xa21cb8eae1e4d617ULL, 0x07bc145b28bfe3d0ULL, 0x654000002f76edf5ULL,
    0x294d0592c1617a5dULL, 0xb422fdcc7dab812cULL, 0xaaac3d46570a6096ULL, 0xaba5f06e11360866ULL,
    0x7bc4c4993fe78064ULL, 0xdd6af55d06c9e0cbULL, 0xe1b8aef9512fe267ULL, 0x6a50000031d679daULL,
    0xbd8da45099d3d586ULL, 0x4f0016132e5225ccULL, 0xb2ccd27a7390f779ULL, 0x6aadd74ebcb282b4ULL,
    0xd6fee6576784cfa6ULL, 0x18b931cf2baeeb7fULL, 0xbbb54997799fe0ffULL, 0x6f600000343605c0ULL,
    0x51ce430e724630afULL, 0xe9dd2e59def8ca6dULL, 0xbaed67ae90178e5bULL, 0x29b5be2f682efd02ULL,
    0x323908158f221ee8ULL, 0x54076e415093f634ULL, 0x95b1e435a20fdf96ULL, 0x74700000369591a6ULL,
    0xe60ee1cc4ab88bd8ULL, 0x84ba46a08f9f6f0dULL, 0xc30dfce2ac9e253eULL, 0xe8bda51013ab7750ULL,
    0x8d7329d3b6bf6e29ULL, 0x8f55aab3757900e8ULL, 0x6fae7ed3ca7fde2dULL, 0x7980000038f51d8cULL,
    0x7a4f808a232ae701ULL, 0x1f975ee7404613aeULL, 0xcb2e9216c924bc21ULL, 0xa7c58bf0bf27f19eULL,
    0xe8ad4b91de5cbd6bULL, 0xcaa3e7259a5e0b9cULL, 0x49ab1971f2efdcc4ULL, 0x7e9000003b54a972ULL,
    0x0e901f47fb9d422aULL, 0xba74772df0ecb84fULL, 0xd34f274ae5ab5303ULL, 0x66cd72d16aa46becULL,
    0x43e76d5005fa0cadULL, 0x05f22397bf431651ULL, 0x23a7b4101b5fdb5cULL, 0x83a000003db43558ULL,
    0xa2d0be05d40f9d53ULL, 0x55518f74a1935cefULL, 0xdb6fbc7f0231e9e6ULL, 0x25d559b21620e63aULL,
    0x9f218f0e2d975befULL, 0x41406009e4282105ULL, 0xfda44eae43cfd9f3ULL, 0x88b000004013c13dULL,
    0x37115cc3ac81f87cULL, 0xf02ea7bb523a0190ULL, 0xe39051b31eb880c8ULL, 0xe4dd4092c19d6088ULL,
    0xfa5bb0cc5534ab30ULL, 0x7c8e9c7c090d2bb9ULL, 0xd7a0e94c6c3fd88aULL, 0x8dc0000042734d23ULL,
    0xcb51fb8184f453a5ULL, 0x8b0bc00202e0a630ULL, 0xebb0e6e73b3f17abULL, 0xa3e527736d19dad6ULL,
    0x5595d28a7cd1fa72ULL, 0xb7dcd8ee2df2366eULL, 0xb19d83ea94afd721ULL, 0x92d0000044d2d909ULL,
    0x5f929a3f5d66aeceULL, 0x25e8d848b3874ad1ULL, 0xf3d17c1b57c5ae8eULL, 0x62ed0e5418965524ULL,
    0xb0cff448a46f49b4ULL, 0xf32b156052d74122ULL, 0x8b9a1e88bd1fd5b8ULL, 0x97e00000473264efULL,
    0xf3d338fd35d909f7ULL, 0xc0c5f08f642def71ULL, 0xfbf2114f744c4570ULL, 0x21f4f534c412cf72ULL,
    0x0c0a1606cc0c98f6ULL, 0x2e7951d277bc4bd7ULL, 0x6596b926e58fd450ULL, 0x9cf000004991f0d5ULL,
    0x8813d7bb0e4b6520ULL, 0x5ba308d614d49412ULL, 0x0412a68390d2dc53ULL, 0xe0fcdc156f8f49c1ULL,
    0x674437c4f3a9e837ULL, 0x69c78e449ca1568bULL, 0x3f9353c50dffd2e7ULL, 0xa20000004bf17cbbULL,
    0x1c547678e6bdc049ULL, 0xf680211cc57b38b3ULL, 0x0c333bb7ad597335ULL, 0xa004c2f61b0bc40fULL,
    0xc27e59831b473779ULL, 0xa515cab6c186613fULL, 0x198fee63366fd17eULL, 0xa71000004e5108a1ULL,
    0xb0951536bf301b72ULL, 0x915d39637621dd53ULL, 0x1453d0ebc9e00a18ULL, 0x5f0ca9d6c6883e5dULL,
    0x1db87b4142e486bbULL, 0xe0640728e66b6bf4ULL, 0xf38c89015edfd015ULL, 0xac20000050b09486ULL,
    0x44d5b3f497a2769bULL, 0x2c3a51aa26c881f4ULL, 0x1c74661fe666a0fbULL, 0x1e1490b77204b8abULL,
    0x78f29cff6a81d5fdULL, 0x1bb2439b0b5076a8ULL, 0xcd89239f874fceadULL, 0xb13000005310206cULL,
    0xd91652b27014d1c4ULL, 0xc71769f0d76f2694ULL, 0x2494fb5402ed37ddULL, 0xdd1c77981d8132f9ULL,
    0xd42cbebd921f253eULL, 0x5700800d3035815cULL, 0xa785be3dafbfcd44ULL, 0xb6400000556fac52ULL,
};
static inline const bn_limb *bn_wide_multiples(void) { return bn_wide_multiples_table; }

/* 2^320 mod p: one in Montgomery form */
static const bn_limb bn_one_table[4] = {
    0xc2a3fb2dea367225ULL, 0x0c08769ab1eb288cULL, 0xf54242611e9987f9ULL, 0x04ca579d5e6cdc0fULL,
};
static inline const bn_limb *bn_one(void) { return bn_one_table; }

/* 2^640 mod p: a product with it converts an integer to Montgomery form */
static const bn_limb bn_radix_squared_table[4] = {
    0x184232822487d3f9ULL, 0xf909c3068bf9d4edULL, 0x360851264d1dc22dULL, 0x0e3d00f464516de3ULL,
};
static inline const bn_limb *bn_radix_squared(void) { return bn_radix_squared_table; }

/* b = 2 in Montgomery form */
static const bn_limb bn_two_table[4] = {
    0x8547f65bd46ce44aULL, 0x1810ed3563d65119ULL, 0xea8484c23d330ff2ULL, 0x0994af3abcd9b81fULL,
};
static inline const bn_limb *bn_two(void) { return bn_two_table; }

/* (p + 1)/4 */
static const bn_limb bn_root_exponent_table[4] = {
    0x6f9988fbd706d56dULL, 0xc90ff5bb86024fb8ULL, 0x6c2f77d91e98d9b4ULL, 0x09000000021c0a83ULL,
};
static inline const bn_limb *bn_root_exponent(void) { return bn_root_exponent_table; }

/* b' = 2/(1+i) = 1 - i in Montgomery form */
static const bn_limb bn_twist_b_table[8] = {
    0xc2a3fb2dea367225ULL, 0x0c08769ab1eb288cULL, 0xf54242611e9987f9ULL, 0x04ca579d5e6cdc0fULL,
    0xfbc228c171e4e38eULL, 0x18376053661e1654ULL, 0xbb7b9d035bc9dedaULL, 0x1f35a862aa034dfdULL,
};
static inline const bn_limb *bn_twist_b(void) { return bn_twist_b_table; }

/* (1+i)^(k(p-1)/6), k = 0..5, Montgomery form, eight limbs a row: real, imaginary */
static const bn_limb bn_frobenius_1_table[48] = {
    0xc2a3fb2dea367225ULL, 0x0c08769ab1eb288cULL, 0xf54242611e9987f9ULL, 0x04ca579d5e6cdc0fULL,
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
    0x26e40de7ef2fa01dULL, 0x42c0715149bb3711ULL, 0xe551b30736394a3aULL, 0x10d3b71749677071ULL,
    0x978216076cebb596ULL, 0xe17f659cce4e07d0ULL, 0xcb6c2c5d442a1c98ULL, 0x132c48e8bf08b99bULL,
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
    0xe5e1b1216a4e0a5eULL, 0x42a8d84d29a61c8dULL, 0x17c072315c7d4d65ULL, 0x18f2a27c9362eaf2ULL,
    0x523f6e778b26371fULL, 0x1e45b72cbd4e93bfULL, 0x32de702de2fdc98aULL, 0x130a5b0088dc33f6ULL,
    0x523f6e778b26371fULL, 0x1e45b72cbd4e93bfULL, 0x32de702de2fdc98aULL, 0x130a5b0088dc33f6ULL,
    0xa885ac4f54847c83ULL, 0x4eb14ee7db91451aULL, 0x0d02b4927b16d55eULL, 0x1dbcfa19f1cfc702ULL,
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
    0x79237c5f7a55d73cULL, 0x6106287e0709cad0ULL, 0x18302335193713c4ULL, 0x23de1217d243a468ULL,
    0x4542a78fe1c57e77ULL, 0xc339ae7010ff7411ULL, 0x988dbc2f612c530eULL, 0x0021ede8362c85a5ULL,
};
static inline const bn_limb *bn_frobenius_1(void) { return bn_frobenius_1_table; }

/* (1+i)^(k(p^2-1)/6), k = 0..5, Montgomery form, four limbs a row: they lie in Fp */
static const bn_limb bn_frobenius_2_table[24] = {
    0xc2a3fb2dea367225ULL, 0x0c08769ab1eb288cULL, 0xf54242611e9987f9ULL, 0x04ca579d5e6cdc0fULL,
    0xd88472cdf1cd4b55ULL, 0xe196fea0ee632253ULL, 0x98fd6d331de6196dULL, 0x0b0d5d83750d3f1bULL,
    0x15e077a00796d930ULL, 0xd58e88063c77f9c7ULL, 0xa3bb2ad1ff4c9174ULL, 0x064305e616a0630bULL,
    0xfbc228c171e4e38eULL, 0x18376053661e1654ULL, 0xbb7b9d035bc9dedaULL, 0x1f35a862aa034dfdULL,
    0xe5e1b1216a4e0a5eULL, 0x42a8d84d29a61c8dULL, 0x17c072315c7d4d65ULL, 0x18f2a27c9362eaf2ULL,
    0xa885ac4f54847c83ULL, 0x4eb14ee7db91451aULL, 0x0d02b4927b16d55eULL, 0x1dbcfa19f1cfc702ULL,
};
static inline const bn_limb *bn_frobenius_2(void) { return bn_frobenius_2_table; }

/* (1+i)^(k(p^3-1)/6), k = 0..5, Montgomery form, eight limbs a row */
static const bn_limb bn_frobenius_3_table[48] = {
    0xc2a3fb2dea367225ULL, 0x0c08769ab1eb288cULL, 0xf54242611e9987f9ULL, 0x04ca579d5e6cdc0fULL,
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
    0x6c26b577d0f51e94ULL, 0x05fa1fc15abaab22ULL, 0x7ddf6f3697659d49ULL, 0x10f5a4ff7f93f617ULL,
    0x523f6e778b26371fULL, 0x1e45b72cbd4e93bfULL, 0x32de702de2fdc98aULL, 0x130a5b0088dc33f6ULL,
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
    0xc2a3fb2dea367225ULL, 0x0c08769ab1eb288cULL, 0xf54242611e9987f9ULL, 0x04ca579d5e6cdc0fULL,
    0x6c26b577d0f51e94ULL, 0x05fa1fc15abaab22ULL, 0x7ddf6f3697659d49ULL, 0x10f5a4ff7f93f617ULL,
    0x6c26b577d0f51e94ULL, 0x05fa1fc15abaab22ULL, 0x7ddf6f3697659d49ULL, 0x10f5a4ff7f93f617ULL,
    0xfbc228c171e4e38eULL, 0x18376053661e1654ULL, 0xbb7b9d035bc9dedaULL, 0x1f35a862aa034dfdULL,
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
    0x523f6e778b26371fULL, 0x1e45b72cbd4e93bfULL, 0x32de702de2fdc98aULL, 0x130a5b0088dc33f6ULL,
    0x6c26b577d0f51e94ULL, 0x05fa1fc15abaab22ULL, 0x7ddf6f3697659d49ULL, 0x10f5a4ff7f93f617ULL,
};
static inline const bn_limb *bn_frobenius_3(void) { return bn_frobenius_3_table; }

/* the generator of G2, projective, Montgomery form: X, Y, Z, each real, imaginary */
static const bn_limb bn_g2_generator_table[24] = {
    0xa3aaaba9d0283157ULL, 0xb785aac71b82ff43ULL, 0xa8d10208471ddfbeULL, 0x0313bbfb8c2239b2ULL,
    0x8312c1fa7e2eb358ULL, 0xbd8726b10061028eULL, 0x51a776c293303c97ULL, 0x225b0cb43ad26841ULL,
    0x582933d29242dc14ULL, 0xe2d9da1790ee3cbeULL, 0x2918a1f5b0b51f12ULL, 0x1d023d24939d50c9ULL,
    0xc13dbc20758d01a5ULL, 0xbb27a9612329c3dfULL, 0x4595bba176025ccfULL, 0x13ad08a6480f9faeULL,
    0xc2a3fb2dea367225ULL, 0x0c08769ab1eb288cULL, 0xf54242611e9987f9ULL, 0x04ca579d5e6cdc0fULL,
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
};
static inline const bn_limb *bn_g2_generator(void) { return bn_g2_generator_table; }

/* the generator of G1, (-1, 1), projective, Montgomery form: X, Y, Z */
static const bn_limb bn_g1_generator_table[12] = {
    0xfbc228c171e4e38eULL, 0x18376053661e1654ULL, 0xbb7b9d035bc9dedaULL, 0x1f35a862aa034dfdULL,
    0xc2a3fb2dea367225ULL, 0x0c08769ab1eb288cULL, 0xf54242611e9987f9ULL, 0x04ca579d5e6cdc0fULL,
    0xc2a3fb2dea367225ULL, 0x0c08769ab1eb288cULL, 0xf54242611e9987f9ULL, 0x04ca579d5e6cdc0fULL,
};
static inline const bn_limb *bn_g1_generator(void) { return bn_g1_generator_table; }

/* ---- Field and Pairing: constants of the fast reduction ---- */

/* (p (-1/p mod 2^64) + 1) / 2^64 */
static const bn_limb bn_reduction_multiple_table[4] = {
    0x2d7ccfbe1a57de8fULL, 0xd605b70a22e0f035ULL, 0x5986d91311d8e2c7ULL, 0x21a6fc8cf6f840cbULL,
};
static inline const bn_limb *bn_reduction_multiple(void) { return bn_reduction_multiple_table; }

/* 0, 2p, 4p: added to differences to make them positive */
static const bn_limb bn_even_multiples_table[12] = {
    0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
    0x7ccc47deb836ab66ULL, 0x487faddc30127dc3ULL, 0x617bbec8f4c6cda6ULL, 0x4800000010e0541bULL,
    0xf9988fbd706d56ccULL, 0x90ff5bb86024fb86ULL, 0xc2f77d91e98d9b4cULL, 0x9000000021c0a836ULL,
};
static inline const bn_limb *bn_even_multiples(void) { return bn_even_multiples_table; }

/* ---- Endomorphisms: G1 (GLV) and G2, GT (GS) ---- */

/* beta, the cube root of unity in Fp with (beta X, Y) = lambda (X, Y) on G1, lambda = 36x^3 + 18x^2 + 6x + 1 */
static const bn_limb bn_beta_table[4] = {
    0xe5e1b1216a4e0a5eULL, 0x42a8d84d29a61c8dULL, 0x17c072315c7d4d65ULL, 0x18f2a27c9362eaf2ULL,
};
static inline const bn_limb *bn_beta(void) { return bn_beta_table; }

/* -lambda, 192 bits */
static const bn_limb bn_minus_lambda_table[4] = {
    0x64be500a6ad67bb7ULL, 0xa17bbec9059fb6e2ULL, 0x9000000019507e29ULL, 0x0000000000000000ULL,
};
static inline const bn_limb *bn_minus_lambda(void) { return bn_minus_lambda_table; }

/* round(2^320 c/r) for c = 6x^2 + 2x, -(2x + 1): see ScalarSplit */
static const bn_limb bn_glv_factors_table[8] = {
    0xc2535385b58d8857ULL, 0xce24b7de4a8e146cULL, 0xaaaaaaaa5aa91bf1ULL, 0x0000000000000002ULL,
    0x12c0baea254b5749ULL, 0x8e38e38d98e070c0ULL, 0x0000000000000003ULL, 0x0000000000000000ULL,
};
static inline const bn_limb *bn_glv_factors(void) { return bn_glv_factors_table; }

/* round(2^312 c/r) for the four c of ScalarSplit4 */
static const bn_limb bn_gs_factors_table[16] = {
    0x0fcc6051af5d5b94ULL, 0x857477a78de57ea2ULL, 0xd2ab40b082093079ULL, 0x00aaaaaaaaa0aa78ULL,
    0x18f71a64329cb95fULL, 0x757b7feda5639c7eULL, 0xd555eb5b2c63d995ULL, 0x00aaaaaaaaa0aa78ULL,
    0x853ea22fc9a9308dULL, 0xfcb71406fa158b58ULL, 0xa8012c0bae6d0a0eULL, 0x01555555554154f1ULL,
    0xc012c0baea254b57ULL, 0x038e38e38d98e070ULL, 0x0000000000000000ULL, 0x0000000000000000ULL,
};
static inline const bn_limb *bn_gs_factors(void) { return bn_gs_factors_table; }

/* p in five limbs of 62 bits */
static const bn_limb bn_p_signed_table[5] = {
    0x3e6623ef5c1b55b3ULL, 0x10ff5bb86024fb86ULL, 0x0bddf647a6366d32ULL, 0x000000021c0a836cULL, 0x0000000000000024ULL,
};
static inline const bn_limb *bn_p_signed(void) { return bn_p_signed_table; }

#endif

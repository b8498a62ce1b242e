/*
 * Constants of the curve BN254CX, x = -0x4000000003C012B1: little-endian 64-bit limbs, Montgomery radix 2^320.
 * Tests/BN254CXTests recomputes every one from x.
 *
 * They are in C because a Swift global with an initialiser costs a check at every use. Each table has an accessor:
 * Swift imports a C array as a tuple, whose address it cannot take.
 */
#ifndef BN254CX_TABLES_H
#define BN254CX_TABLES_H

/* -1/p mod 2^64 */
#define BN_MONTGOMERY_FACTOR 0xef4e205bf9789e85UL
/* floor(2^124 / (p_3 + 1)), p_3 the top limb of p: estimates a quotient by p */
#define BN_QUOTIENT_FACTOR 0x71c71c71ac714232UL

/* p = 36x^4 + 36x^3 + 24x^2 + 6x + 1 */
static const unsigned long bn_p_table[4] = {
    0xbe6623ef5c1b55b3UL, 0x243fd6ee18093ee1UL, 0xb0bddf647a6366d3UL, 0x2400000008702a0dUL,
};
static inline const unsigned long *bn_p(void) { return bn_p_table; }

/* r = 36x^4 + 36x^3 + 18x^2 + 6x + 1 */
static const unsigned long bn_r_table[4] = {
    0xbe11c0a636eb1f6dUL, 0xc43fd6ee0cc906ceUL, 0xb0bddf647a6366d2UL, 0x2400000008702a0dUL,
};
static inline const unsigned long *bn_r(void) { return bn_r_table; }

/* k p(p + 2^199), k = 0..36, eight limbs a row: multiples of p a little above k p^2 */
static const unsigned long bn_wide_multiples_table[296] = {
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
    0x94409ebdd8725b29UL, 0x9add1846b0a6a4a0UL, 0x082095341c8696e2UL, 0xbf07e6e0ab7c7a4eUL,
    0x5b3a21be279d4f41UL, 0x3b4e3c7224e50ab4UL, 0xd9fc9a9e286ffe97UL, 0x05100000025f8be5UL,
    0x28813d7bb0e4b652UL, 0x35ba308d614d4941UL, 0x10412a68390d2dc5UL, 0x7e0fcdc156f8f49cUL,
    0xb674437c4f3a9e83UL, 0x769c78e449ca1568UL, 0xb3f9353c50dffd2eUL, 0x0a20000004bf17cbUL,
    0xbcc1dc398957117bUL, 0xd09748d411f3ede1UL, 0x1861bf9c5593c4a7UL, 0x3d17b4a202756eeaUL,
    0x11ae653a76d7edc5UL, 0xb1eab5566eaf201dUL, 0x8df5cfda794ffbc5UL, 0x0f300000071ea3b1UL,
    0x51027af761c96ca4UL, 0x6b74611ac29a9282UL, 0x208254d0721a5b8aUL, 0xfc1f9b82adf1e938UL,
    0x6ce886f89e753d06UL, 0xed38f1c893942ad1UL, 0x67f26a78a1bffa5cUL, 0x14400000097e2f97UL,
    0xe54319b53a3bc7cdUL, 0x0651796173413722UL, 0x28a2ea048ea0f26dUL, 0xbb278263596e6386UL,
    0xc822a8b6c6128c48UL, 0x28872e3ab8793585UL, 0x41ef0516ca2ff8f4UL, 0x195000000bddbb7dUL,
    0x7983b87312ae22f6UL, 0xa12e91a823e7dbc3UL, 0x30c37f38ab27894fUL, 0x7a2f694404eaddd4UL,
    0x235cca74edafdb8aUL, 0x63d56aacdd5e403aUL, 0x1beb9fb4f29ff78bUL, 0x1e6000000e3d4763UL,
    0x0dc45730eb207e1fUL, 0x3c0ba9eed48e8064UL, 0x38e4146cc7ae2032UL, 0x39375024b0675822UL,
    0x7e96ec33154d2accUL, 0x9f23a71f02434aeeUL, 0xf5e83a531b0ff622UL, 0x23700000109cd348UL,
    0xa204f5eec392d948UL, 0xd6e8c23585352504UL, 0x4104a9a0e434b714UL, 0xf83f37055be3d270UL,
    0xd9d10df13cea7a0dUL, 0xda71e391272855a2UL, 0xcfe4d4f1437ff4b9UL, 0x2880000012fc5f2eUL,
    0x364594ac9c053471UL, 0x71c5da7c35dbc9a5UL, 0x49253ed500bb4df7UL, 0xb7471de607604cbeUL,
    0x350b2faf6487c94fUL, 0x15c020034c0d6057UL, 0xa9e16f8f6beff351UL, 0x2d900000155beb14UL,
    0xca86336a74778f9aUL, 0x0ca2f2c2e6826e45UL, 0x5145d4091d41e4daUL, 0x764f04c6b2dcc70cUL,
    0x9045516d8c251891UL, 0x510e5c7570f26b0bUL, 0x83de0a2d945ff1e8UL, 0x32a0000017bb76faUL,
    0x5ec6d2284ce9eac3UL, 0xa7800b09972912e6UL, 0x5966693d39c87bbcUL, 0x3556eba75e59415aUL,
    0xeb7f732bb3c267d3UL, 0x8c5c98e795d775bfUL, 0x5ddaa4cbbccff07fUL, 0x37b000001a1b02e0UL,
    0xf30770e6255c45ecUL, 0x425d235047cfb786UL, 0x6186fe71564f129fUL, 0xf45ed28809d5bba8UL,
    0x46b994e9db5fb714UL, 0xc7aad559babc8074UL, 0x37d73f69e53fef16UL, 0x3cc000001c7a8ec6UL,
    0x87480fa3fdcea115UL, 0xdd3a3b96f8765c27UL, 0x69a793a572d5a981UL, 0xb366b968b55235f6UL,
    0xa1f3b6a802fd0656UL, 0x02f911cbdfa18b28UL, 0x11d3da080dafedaeUL, 0x41d000001eda1aacUL,
    0x1b88ae61d640fc3eUL, 0x781753dda91d00c8UL, 0x71c828d98f5c4064UL, 0x726ea04960ceb044UL,
    0xfd2dd8662a9a5598UL, 0x3e474e3e048695dcUL, 0xebd074a6361fec45UL, 0x46e000002139a691UL,
    0xafc94d1faeb35767UL, 0x12f46c2459c3a568UL, 0x79e8be0dabe2d747UL, 0x3176872a0c4b2a92UL,
    0x5867fa245237a4daUL, 0x79958ab0296ba091UL, 0xc5cd0f445e8feadcUL, 0x4bf0000023993277UL,
    0x4409ebdd8725b290UL, 0xadd1846b0a6a4a09UL, 0x82095341c8696e29UL, 0xf07e6e0ab7c7a4e0UL,
    0xb3a21be279d4f41bUL, 0xb4e3c7224e50ab45UL, 0x9fc9a9e286ffe973UL, 0x5100000025f8be5dUL,
    0xd84a8a9b5f980db9UL, 0x48ae9cb1bb10eea9UL, 0x8a29e875e4f0050cUL, 0xaf8654eb63441f2eUL,
    0x0edc3da0a172435dUL, 0xf03203947335b5faUL, 0x79c64480af6fe80aUL, 0x5610000028584a43UL,
    0x6c8b2959380a68e2UL, 0xe38bb4f86bb7934aUL, 0x924a7daa01769beeUL, 0x6e8e3bcc0ec0997cUL,
    0x6a165f5ec90f929fUL, 0x2b804006981ac0aeUL, 0x53c2df1ed7dfe6a2UL, 0x5b2000002ab7d629UL,
    0x00cbc817107cc40bUL, 0x7e68cd3f1c5e37ebUL, 0x9a6b12de1dfd32d1UL, 0x2d9622acba3d13caUL,
    0xc550811cf0ace1e1UL, 0x66ce7c78bcffcb62UL, 0x2dbf79bd004fe539UL, 0x603000002d17620fUL,
    0x950c66d4e8ef1f34UL, 0x1945e585cd04dc8bUL, 0xa28ba8123a83c9b4UL, 0xec9e098d65b98e18UL,
    0x208aa2db184a3122UL, 0xa21cb8eae1e4d617UL, 0x07bc145b28bfe3d0UL, 0x654000002f76edf5UL,
    0x294d0592c1617a5dUL, 0xb422fdcc7dab812cUL, 0xaaac3d46570a6096UL, 0xaba5f06e11360866UL,
    0x7bc4c4993fe78064UL, 0xdd6af55d06c9e0cbUL, 0xe1b8aef9512fe267UL, 0x6a50000031d679daUL,
    0xbd8da45099d3d586UL, 0x4f0016132e5225ccUL, 0xb2ccd27a7390f779UL, 0x6aadd74ebcb282b4UL,
    0xd6fee6576784cfa6UL, 0x18b931cf2baeeb7fUL, 0xbbb54997799fe0ffUL, 0x6f600000343605c0UL,
    0x51ce430e724630afUL, 0xe9dd2e59def8ca6dUL, 0xbaed67ae90178e5bUL, 0x29b5be2f682efd02UL,
    0x323908158f221ee8UL, 0x54076e415093f634UL, 0x95b1e435a20fdf96UL, 0x74700000369591a6UL,
    0xe60ee1cc4ab88bd8UL, 0x84ba46a08f9f6f0dUL, 0xc30dfce2ac9e253eUL, 0xe8bda51013ab7750UL,
    0x8d7329d3b6bf6e29UL, 0x8f55aab3757900e8UL, 0x6fae7ed3ca7fde2dUL, 0x7980000038f51d8cUL,
    0x7a4f808a232ae701UL, 0x1f975ee7404613aeUL, 0xcb2e9216c924bc21UL, 0xa7c58bf0bf27f19eUL,
    0xe8ad4b91de5cbd6bUL, 0xcaa3e7259a5e0b9cUL, 0x49ab1971f2efdcc4UL, 0x7e9000003b54a972UL,
    0x0e901f47fb9d422aUL, 0xba74772df0ecb84fUL, 0xd34f274ae5ab5303UL, 0x66cd72d16aa46becUL,
    0x43e76d5005fa0cadUL, 0x05f22397bf431651UL, 0x23a7b4101b5fdb5cUL, 0x83a000003db43558UL,
    0xa2d0be05d40f9d53UL, 0x55518f74a1935cefUL, 0xdb6fbc7f0231e9e6UL, 0x25d559b21620e63aUL,
    0x9f218f0e2d975befUL, 0x41406009e4282105UL, 0xfda44eae43cfd9f3UL, 0x88b000004013c13dUL,
    0x37115cc3ac81f87cUL, 0xf02ea7bb523a0190UL, 0xe39051b31eb880c8UL, 0xe4dd4092c19d6088UL,
    0xfa5bb0cc5534ab30UL, 0x7c8e9c7c090d2bb9UL, 0xd7a0e94c6c3fd88aUL, 0x8dc0000042734d23UL,
    0xcb51fb8184f453a5UL, 0x8b0bc00202e0a630UL, 0xebb0e6e73b3f17abUL, 0xa3e527736d19dad6UL,
    0x5595d28a7cd1fa72UL, 0xb7dcd8ee2df2366eUL, 0xb19d83ea94afd721UL, 0x92d0000044d2d909UL,
    0x5f929a3f5d66aeceUL, 0x25e8d848b3874ad1UL, 0xf3d17c1b57c5ae8eUL, 0x62ed0e5418965524UL,
    0xb0cff448a46f49b4UL, 0xf32b156052d74122UL, 0x8b9a1e88bd1fd5b8UL, 0x97e00000473264efUL,
    0xf3d338fd35d909f7UL, 0xc0c5f08f642def71UL, 0xfbf2114f744c4570UL, 0x21f4f534c412cf72UL,
    0x0c0a1606cc0c98f6UL, 0x2e7951d277bc4bd7UL, 0x6596b926e58fd450UL, 0x9cf000004991f0d5UL,
    0x8813d7bb0e4b6520UL, 0x5ba308d614d49412UL, 0x0412a68390d2dc53UL, 0xe0fcdc156f8f49c1UL,
    0x674437c4f3a9e837UL, 0x69c78e449ca1568bUL, 0x3f9353c50dffd2e7UL, 0xa20000004bf17cbbUL,
    0x1c547678e6bdc049UL, 0xf680211cc57b38b3UL, 0x0c333bb7ad597335UL, 0xa004c2f61b0bc40fUL,
    0xc27e59831b473779UL, 0xa515cab6c186613fUL, 0x198fee63366fd17eUL, 0xa71000004e5108a1UL,
    0xb0951536bf301b72UL, 0x915d39637621dd53UL, 0x1453d0ebc9e00a18UL, 0x5f0ca9d6c6883e5dUL,
    0x1db87b4142e486bbUL, 0xe0640728e66b6bf4UL, 0xf38c89015edfd015UL, 0xac20000050b09486UL,
    0x44d5b3f497a2769bUL, 0x2c3a51aa26c881f4UL, 0x1c74661fe666a0fbUL, 0x1e1490b77204b8abUL,
    0x78f29cff6a81d5fdUL, 0x1bb2439b0b5076a8UL, 0xcd89239f874fceadUL, 0xb13000005310206cUL,
    0xd91652b27014d1c4UL, 0xc71769f0d76f2694UL, 0x2494fb5402ed37ddUL, 0xdd1c77981d8132f9UL,
    0xd42cbebd921f253eUL, 0x5700800d3035815cUL, 0xa785be3dafbfcd44UL, 0xb6400000556fac52UL,
};
static inline const unsigned long *bn_wide_multiples(void) { return bn_wide_multiples_table; }

/* 2^320 mod p: one in Montgomery form */
static const unsigned long bn_one_table[4] = {
    0xc2a3fb2dea367225UL, 0x0c08769ab1eb288cUL, 0xf54242611e9987f9UL, 0x04ca579d5e6cdc0fUL,
};
static inline const unsigned long *bn_one(void) { return bn_one_table; }

/* 2^640 mod p: takes an integer into Montgomery form */
static const unsigned long bn_radix_squared_table[4] = {
    0x184232822487d3f9UL, 0xf909c3068bf9d4edUL, 0x360851264d1dc22dUL, 0x0e3d00f464516de3UL,
};
static inline const unsigned long *bn_radix_squared(void) { return bn_radix_squared_table; }

/* b = 2 in Montgomery form */
static const unsigned long bn_two_table[4] = {
    0x8547f65bd46ce44aUL, 0x1810ed3563d65119UL, 0xea8484c23d330ff2UL, 0x0994af3abcd9b81fUL,
};
static inline const unsigned long *bn_two(void) { return bn_two_table; }

/* (p + 1)/4 */
static const unsigned long bn_root_exponent_table[4] = {
    0x6f9988fbd706d56dUL, 0xc90ff5bb86024fb8UL, 0x6c2f77d91e98d9b4UL, 0x09000000021c0a83UL,
};
static inline const unsigned long *bn_root_exponent(void) { return bn_root_exponent_table; }

/* b' = 2/(1+i) = 1 - i in Montgomery form */
static const unsigned long bn_twist_b_table[8] = {
    0xc2a3fb2dea367225UL, 0x0c08769ab1eb288cUL, 0xf54242611e9987f9UL, 0x04ca579d5e6cdc0fUL,
    0xfbc228c171e4e38eUL, 0x18376053661e1654UL, 0xbb7b9d035bc9dedaUL, 0x1f35a862aa034dfdUL,
};
static inline const unsigned long *bn_twist_b(void) { return bn_twist_b_table; }

/* (1+i)^(k(p-1)/6), k = 0..5, Montgomery form, eight limbs a row: real, imaginary */
static const unsigned long bn_frobenius_1_table[48] = {
    0xc2a3fb2dea367225UL, 0x0c08769ab1eb288cUL, 0xf54242611e9987f9UL, 0x04ca579d5e6cdc0fUL,
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
    0x26e40de7ef2fa01dUL, 0x42c0715149bb3711UL, 0xe551b30736394a3aUL, 0x10d3b71749677071UL,
    0x978216076cebb596UL, 0xe17f659cce4e07d0UL, 0xcb6c2c5d442a1c98UL, 0x132c48e8bf08b99bUL,
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
    0xe5e1b1216a4e0a5eUL, 0x42a8d84d29a61c8dUL, 0x17c072315c7d4d65UL, 0x18f2a27c9362eaf2UL,
    0x523f6e778b26371fUL, 0x1e45b72cbd4e93bfUL, 0x32de702de2fdc98aUL, 0x130a5b0088dc33f6UL,
    0x523f6e778b26371fUL, 0x1e45b72cbd4e93bfUL, 0x32de702de2fdc98aUL, 0x130a5b0088dc33f6UL,
    0xa885ac4f54847c83UL, 0x4eb14ee7db91451aUL, 0x0d02b4927b16d55eUL, 0x1dbcfa19f1cfc702UL,
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
    0x79237c5f7a55d73cUL, 0x6106287e0709cad0UL, 0x18302335193713c4UL, 0x23de1217d243a468UL,
    0x4542a78fe1c57e77UL, 0xc339ae7010ff7411UL, 0x988dbc2f612c530eUL, 0x0021ede8362c85a5UL,
};
static inline const unsigned long *bn_frobenius_1(void) { return bn_frobenius_1_table; }

/* (1+i)^(k(p^2-1)/6), k = 0..5, Montgomery form, four limbs a row: they lie in Fp */
static const unsigned long bn_frobenius_2_table[24] = {
    0xc2a3fb2dea367225UL, 0x0c08769ab1eb288cUL, 0xf54242611e9987f9UL, 0x04ca579d5e6cdc0fUL,
    0xd88472cdf1cd4b55UL, 0xe196fea0ee632253UL, 0x98fd6d331de6196dUL, 0x0b0d5d83750d3f1bUL,
    0x15e077a00796d930UL, 0xd58e88063c77f9c7UL, 0xa3bb2ad1ff4c9174UL, 0x064305e616a0630bUL,
    0xfbc228c171e4e38eUL, 0x18376053661e1654UL, 0xbb7b9d035bc9dedaUL, 0x1f35a862aa034dfdUL,
    0xe5e1b1216a4e0a5eUL, 0x42a8d84d29a61c8dUL, 0x17c072315c7d4d65UL, 0x18f2a27c9362eaf2UL,
    0xa885ac4f54847c83UL, 0x4eb14ee7db91451aUL, 0x0d02b4927b16d55eUL, 0x1dbcfa19f1cfc702UL,
};
static inline const unsigned long *bn_frobenius_2(void) { return bn_frobenius_2_table; }

/* (1+i)^(k(p^3-1)/6), k = 0..5, Montgomery form, eight limbs a row */
static const unsigned long bn_frobenius_3_table[48] = {
    0xc2a3fb2dea367225UL, 0x0c08769ab1eb288cUL, 0xf54242611e9987f9UL, 0x04ca579d5e6cdc0fUL,
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
    0x6c26b577d0f51e94UL, 0x05fa1fc15abaab22UL, 0x7ddf6f3697659d49UL, 0x10f5a4ff7f93f617UL,
    0x523f6e778b26371fUL, 0x1e45b72cbd4e93bfUL, 0x32de702de2fdc98aUL, 0x130a5b0088dc33f6UL,
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
    0xc2a3fb2dea367225UL, 0x0c08769ab1eb288cUL, 0xf54242611e9987f9UL, 0x04ca579d5e6cdc0fUL,
    0x6c26b577d0f51e94UL, 0x05fa1fc15abaab22UL, 0x7ddf6f3697659d49UL, 0x10f5a4ff7f93f617UL,
    0x6c26b577d0f51e94UL, 0x05fa1fc15abaab22UL, 0x7ddf6f3697659d49UL, 0x10f5a4ff7f93f617UL,
    0xfbc228c171e4e38eUL, 0x18376053661e1654UL, 0xbb7b9d035bc9dedaUL, 0x1f35a862aa034dfdUL,
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
    0x523f6e778b26371fUL, 0x1e45b72cbd4e93bfUL, 0x32de702de2fdc98aUL, 0x130a5b0088dc33f6UL,
    0x6c26b577d0f51e94UL, 0x05fa1fc15abaab22UL, 0x7ddf6f3697659d49UL, 0x10f5a4ff7f93f617UL,
};
static inline const unsigned long *bn_frobenius_3(void) { return bn_frobenius_3_table; }

/* the generator of G2, projective, Montgomery form: X, Y, Z, each real, imaginary */
static const unsigned long bn_g2_generator_table[24] = {
    0xa3aaaba9d0283157UL, 0xb785aac71b82ff43UL, 0xa8d10208471ddfbeUL, 0x0313bbfb8c2239b2UL,
    0x8312c1fa7e2eb358UL, 0xbd8726b10061028eUL, 0x51a776c293303c97UL, 0x225b0cb43ad26841UL,
    0x582933d29242dc14UL, 0xe2d9da1790ee3cbeUL, 0x2918a1f5b0b51f12UL, 0x1d023d24939d50c9UL,
    0xc13dbc20758d01a5UL, 0xbb27a9612329c3dfUL, 0x4595bba176025ccfUL, 0x13ad08a6480f9faeUL,
    0xc2a3fb2dea367225UL, 0x0c08769ab1eb288cUL, 0xf54242611e9987f9UL, 0x04ca579d5e6cdc0fUL,
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
};
static inline const unsigned long *bn_g2_generator(void) { return bn_g2_generator_table; }

/* the generator of G1, (-1, 1), projective, Montgomery form: X, Y, Z */
static const unsigned long bn_g1_generator_table[12] = {
    0xfbc228c171e4e38eUL, 0x18376053661e1654UL, 0xbb7b9d035bc9dedaUL, 0x1f35a862aa034dfdUL,
    0xc2a3fb2dea367225UL, 0x0c08769ab1eb288cUL, 0xf54242611e9987f9UL, 0x04ca579d5e6cdc0fUL,
    0xc2a3fb2dea367225UL, 0x0c08769ab1eb288cUL, 0xf54242611e9987f9UL, 0x04ca579d5e6cdc0fUL,
};
static inline const unsigned long *bn_g1_generator(void) { return bn_g1_generator_table; }

/* ---- Field and Pairing: constants of the fast reduction ---- */

/* (p (-1/p mod 2^64) + 1) / 2^64 */
static const unsigned long bn_reduction_multiple_table[4] = {
    0x2d7ccfbe1a57de8fUL, 0xd605b70a22e0f035UL, 0x5986d91311d8e2c7UL, 0x21a6fc8cf6f840cbUL,
};
static inline const unsigned long *bn_reduction_multiple(void) { return bn_reduction_multiple_table; }

/* 0, 2p, 4p: offsets of differences */
static const unsigned long bn_even_multiples_table[12] = {
    0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL, 0x0000000000000000UL,
    0x7ccc47deb836ab66UL, 0x487faddc30127dc3UL, 0x617bbec8f4c6cda6UL, 0x4800000010e0541bUL,
    0xf9988fbd706d56ccUL, 0x90ff5bb86024fb86UL, 0xc2f77d91e98d9b4cUL, 0x9000000021c0a836UL,
};
static inline const unsigned long *bn_even_multiples(void) { return bn_even_multiples_table; }

/* ---- Endomorphisms: G1 (GLV) and G2, GT (GS) ---- */

/* beta, the cube root of unity in Fp with (beta X, Y) = lambda (X, Y) on G1, lambda = 36x^3 + 18x^2 + 6x + 1 */
static const unsigned long bn_beta_table[4] = {
    0xe5e1b1216a4e0a5eUL, 0x42a8d84d29a61c8dUL, 0x17c072315c7d4d65UL, 0x18f2a27c9362eaf2UL,
};
static inline const unsigned long *bn_beta(void) { return bn_beta_table; }

/* -lambda, 192 bits */
static const unsigned long bn_minus_lambda_table[4] = {
    0x64be500a6ad67bb7UL, 0xa17bbec9059fb6e2UL, 0x9000000019507e29UL, 0x0000000000000000UL,
};
static inline const unsigned long *bn_minus_lambda(void) { return bn_minus_lambda_table; }

/* round(2^320 c/r) for c = 6x^2 + 2x, -(2x + 1): see ScalarSplit */
static const unsigned long bn_glv_factors_table[8] = {
    0xc2535385b58d8857UL, 0xce24b7de4a8e146cUL, 0xaaaaaaaa5aa91bf1UL, 0x0000000000000002UL,
    0x12c0baea254b5749UL, 0x8e38e38d98e070c0UL, 0x0000000000000003UL, 0x0000000000000000UL,
};
static inline const unsigned long *bn_glv_factors(void) { return bn_glv_factors_table; }

/* round(2^312 c/r) for the four c of ScalarSplit4 */
static const unsigned long bn_gs_factors_table[16] = {
    0x0fcc6051af5d5b94UL, 0x857477a78de57ea2UL, 0xd2ab40b082093079UL, 0x00aaaaaaaaa0aa78UL,
    0x18f71a64329cb95fUL, 0x757b7feda5639c7eUL, 0xd555eb5b2c63d995UL, 0x00aaaaaaaaa0aa78UL,
    0x853ea22fc9a9308dUL, 0xfcb71406fa158b58UL, 0xa8012c0bae6d0a0eUL, 0x01555555554154f1UL,
    0xc012c0baea254b57UL, 0x038e38e38d98e070UL, 0x0000000000000000UL, 0x0000000000000000UL,
};
static inline const unsigned long *bn_gs_factors(void) { return bn_gs_factors_table; }

/* p in five limbs of 62 bits */
static const unsigned long bn_p_signed_table[5] = {
    0x3e6623ef5c1b55b3UL, 0x10ff5bb86024fb86UL, 0x0bddf647a6366d32UL, 0x000000021c0a836cUL, 0x0000000000000024UL,
};
static inline const unsigned long *bn_p_signed(void) { return bn_p_signed_table; }

#endif

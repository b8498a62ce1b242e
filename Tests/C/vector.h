/* The test vector of the Milagro wire protocol: one whole login, computed
 * with the original crypto library. The names are those of the protocol. */
#ifndef VECTOR_H
#define VECTOR_H

#include <stdint.h>
#include <string.h>

#define VECTOR_DATE 20778
#define VECTOR_PIN "1234"
#define VECTOR_PIN_VALUE 9442

#define VECTOR_S1 \
    "154a9c6664148b67c569ccfa9701ab172f258fa2998f5c07a3484ac6437c4a80"

#define VECTOR_S2 \
    "0d10b00e72eba63a68a932020099185e878cf2008cfe3ec87cc40cebf45854de"

#define VECTOR_MPIN_ID \
    "7b226d6f62696c65223a20312c2022697373756564223a2022323032362d31312d3231" \
    "2030323a33363a31392e323731343438222c2022757365724944223a2022616c696365" \
    "406578616d706c652e636f6d222c202273616c74223a20223030313132323333343435" \
    "353636373738383939616162626363646465656666227d"

#define VECTOR_HASH_ID \
    "968bef360dd6dbf281dab8c69626443d588b7dc90b49007a94337a04d9e3b6b9"

#define VECTOR_SERVER_SHARE_1 \
    "229ddae52d699158e0797623e508ca8846489b3ace00f561759b754a543c3dde0e0f99" \
    "5b997a57f63737c141650c8242ee3432db224017413e4415235f64f4c720dfa0f2588a" \
    "36bdf6b9cd01600efd9128ef4e00add7593e4edfcc752f8095c61bcc4bfa9dc8361c17" \
    "37077850e50507a0135dfea60608d2c7976007a0b62d58"

#define VECTOR_SERVER_SHARE_2 \
    "0d4cdfcf7c716e35fa1bd69a4efcc22eb7cdcb25b69e23346c667ad862cd458d1a3635" \
    "bb6cfe8d419cda6dcac38211fdf8be6d1bbf3b48fb7e5c40b9c32914c319f5a01589d6" \
    "a96632b88ae869a328732296f55337d56873f236b1ff1176d5d00fb8bc7f317b0d4d8f" \
    "a868fb6187cd52eb2965b694b3099390fb46b2add956cf"

#define VECTOR_SERVER_SECRET \
    "1cc121fa41ae03b2bca2e8e41b7a9b2a17ce8018e31b1edf4ac6c53cd3983c4006adde" \
    "0c5ace68d515e3e45da15741e40a8db16146a1c23abf30b533e62ecb6714e38a9b614c" \
    "7b06be6032de253da481911b38e82319fda10883b0adb896a5a40b5827d968cbb0dcd2" \
    "bc15a69905dafc5c13730a36783583cd0698e70847cda7"

#define VECTOR_CLIENT_SHARE_1 \
    "0420bb376f4d54c9179ddc0ab600a572518743d7ea45747827bf948b5506490c3b02ab" \
    "5629d3fea46cfbda44618d652b1b6ac452587c4cf2949065328fe3d55be5"

#define VECTOR_CLIENT_SHARE_2 \
    "04115bbeaa45b1b8d0242701a2d1b3c83256b8716ae8e1b6ce6b2179757fe33ca60d82" \
    "177b15b2c4b287a9c6c78c6b4c4f0875cbc1553efeb44271a89d485396a0"

#define VECTOR_CLIENT_SECRET \
    "04148357288428ce8066ea1c70ff0781c64226e3d69f4578ff60c69b1e42d037652050" \
    "a0c6186dd301718c3f2c8d9c94520ea5f24ceb71f9e14dfb7505835d666b"

#define VECTOR_TOKEN \
    "0421210a97ba3c2f1624a528761ce7a79b0034e635728e1f0ede9cd42b936a285b18be" \
    "f6ffc45f6466206377c021e5e8537b617277dc54bd7dd4591f374e4a43b0"

#define VECTOR_PERMIT_SHARE_1 \
    "040e71d886aa1f950cb5bff2e6d8ccfa4ad0ac5a80297c8f0d0222c1b03d130f281116" \
    "7d9b27969c1bc41e1cc34a1cacafe428f6c22cd61c63102f6a3c1173dc70"

#define VECTOR_PERMIT_SHARE_2 \
    "040f00607f992d7152cd953e033ff4c0ea17a8b11cc8e6b78da1f47a00330447a00e57" \
    "6a404fa6937c5e17938252965c102c784f60664abc95f281d5ae00753f94"

#define VECTOR_PERMIT \
    "041a247306011d16abbb1e8330539ace8ca2f6d6c726bdec4e9757d712f8f082891eff" \
    "1ecaa0edc05b21ccff51b5c8105e26b344c06e217a6d3678f2651ad38ec3"

#define VECTOR_X \
    "108f835f499631653cf102ea40ddf26e1ec1c09f1d6038078dbf18866ce6a9b9"

#define VECTOR_U \
    "041c9211587a8e3ca4c3fe001a23f247a4ffc3b77be4ad0aa7e3ff2016ecce8b441491" \
    "3fdb2a756c0a2f73e5efd66e28ce1bc6a0ee3d97d7c4ee0e19e2b359d08c"

#define VECTOR_UT \
    "0414337e1a7ab1c4bc5476c5a57a8d267d02eb252537ff270ef12dde6376ad2a1601e9" \
    "7440f0881d74b01f405d6aeedb6467e05fc925c55cc0d19c9fbe16c8d1ca"

#define VECTOR_Y \
    "0153b0d825036b7315acee3e5a873f12a115a153fea5cdc0de5359d8f339ca78"

#define VECTOR_V \
    "040eb682bb0e64ac9b8bf7c4d52cf538124cee0d28c74bb8fa0d2a7b43a1b0d9a10880" \
    "21c0b0b4e947f2913bb36b92679cbe5009471fa06d69969e2f28d3dc8b8d"

#define VECTOR_V_WRONG_PIN \
    "04125820a4e6da9f6bfa27dddf6fac40c5556b7075d1d9acd684170dc14eb3708109ef" \
    "8f611b26ac69769970cc7ad6bf3faceac5273114b359b8d6aa676c28194e"

#define VECTOR_V_NO_PERMIT \
    "0409c9a7cf4e99c5f2905ee326b7d618cd49edefb9997ae6ee97342cbb5f21f77f096c" \
    "25071e23fe735f58bd55eeb9811b5b34deb6638fc3ed46a1f8912994b479"

/* Writes the bytes of a hex text to `out` and returns their number. */
static size_t unhex(uint8_t *out, const char *hex)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        size_t high = (size_t)(strchr(digits, hex[2 * i]) - digits);
        size_t low = (size_t)(strchr(digits, hex[2 * i + 1]) - digits);
        out[i] = (uint8_t)(high << 4 | low);
    }
    return n;
}

#endif

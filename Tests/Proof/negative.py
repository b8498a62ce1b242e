#!/usr/bin/env python3
"""Writes the negative vectors: inputs that must be refused, each with the reason and the code that the library must
return.

    negative.py OUTPUT            writes the file
    negative.py --check OUTPUT    exit code 1 if the file differs

A vector has an id, an operation, the reason, the inputs and the code of the C interface. Octets are lower-case hex;
`null` is an absent input. The operations g1_decode, g2_decode, gt_decode, scalar and pin_scalar stand for every
function that takes such a value. The others are functions of mpin_crypto.h without their prefix; their inputs `ut` and
`htid` say whether this output is requested.

Everything is computed here with Python's integers, from the curve parameter alone, without the engine. A vector is only
written if this program has proven that its reason is true (not on the curve, of another order, ...).
"""

import hashlib
import json
import sys

from curve import (
    B1, B2, COFACTOR, G1_GENERATOR, P, R, Fp, Fp2, add, element1, element2, g1, g2, gt, map_to_g1, mul,
    negate, number, on_curve, power12, random_point, rng,
)

WRONG_PARAMETER, INVALID_POINT, WRONG_ORDER = -11, -14, -18

# ---- The vectors ----------------------------------------------------------------------------------------------------

vectors = []
seen = set()


def refuse(op, code, reason, **inputs):
    inputs = {k: v.hex() if isinstance(v, bytes) else v for k, v in inputs.items()}
    key = (op, json.dumps(inputs, sort_keys=True))
    if key in seen:
        return
    seen.add(key)
    count = sum(v["op"] == op for v in vectors) + 1
    vectors.append({"id": f"{op}-{count:03}", "op": op, "reason": reason, "in": inputs, "code": code})


def flip(data, bit):
    data = bytearray(data)
    data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


def lengths(op, good):
    """Makes vectors of right octets that are shortened or extended at either end."""
    n = len(good)
    short = sorted({0, 1, 2, 16, 31, 32, 33, 48, 63, 64, 65, 66, 96, 127, 128, 129, n // 2, n - 2, n - 1} - {n})
    for count in (c for c in short if c < n):
        refuse(op, WRONG_PARAMETER, f"length {count}: cut off at the end", bytes=good[:count])
    refuse(op, WRONG_PARAMETER, f"length {n - 1}: cut off at the front", bytes=good[1:])
    for extra in (1, 2, 32, n):
        refuse(op, WRONG_PARAMETER, f"length {n + extra}: zeros at the end", bytes=good + bytes(extra))
    refuse(op, WRONG_PARAMETER, f"length {n + 1}: a zero at the front", bytes=b"\0" + good)
    refuse(op, WRONG_PARAMETER, f"length {2 * n}: twice", bytes=good + good)


def g1_decode():
    points = [G1_GENERATOR] + [mul(rng.randrange(1, R), G1_GENERATOR) for _ in range(4)]
    good = g1(points[1])
    lengths("g1_decode", good)
    for prefix in [*range(16), 0x14, 0x24, 0x40, 0x44, 0x80, 0x84, 0xC4, 0xFB, 0xFE, 0xFF]:
        if prefix != 4:
            refuse("g1_decode", INVALID_POINT, f"prefix {prefix:02x}, not 04", bytes=g1(points[1], prefix))
    for prefix in (2, 3):
        refuse("g1_decode", WRONG_PARAMETER, "compressed", bytes=bytes([prefix]) + number(points[1][0]))
    refuse("g1_decode", WRONG_PARAMETER, "no prefix", bytes=good[1:])
    for x, y in points:
        x, y = int(x), int(y)
        for k in range(1, 7):
            for name, u, v in (("x", x + k * P, y), ("y", x, y + k * P), ("x and y", x + k * P, y + k * P)):
                if max(u, v) < 2**256:
                    refuse("g1_decode", INVALID_POINT, f"range: {name} + {k} p", bytes=g1((u, v)))
        for name, u, v in (("x", 2**256 - 1, y), ("y", x, 2**256 - 1)):
            refuse("g1_decode", INVALID_POINT, f"range: {name} = 2^256 - 1", bytes=g1((u, v)))
    for p in points:
        x, y = p
        wrong = [("y + 1", (x, y + Fp(1))), ("y - 1", (x, y - Fp(1))), ("x + 1", (x + Fp(1), y)),
                 ("-x", (-x, y)), ("x and y swapped", (y, x)), ("2y", (x, 2 * y)), ("y = 0", (x, Fp(0))),
                 ("x = 0", (Fp(0), y)), ("y = x", (x, x))]
        for name, q in wrong:
            if not on_curve(q, B1):
                refuse("g1_decode", INVALID_POINT, f"off the curve: {name}", bytes=g1(q))
        refuse("g1_decode", INVALID_POINT, "little-endian coordinates", bytes=b"\4" + number(x)[::-1] + number(y)[::-1])
    for bit in range(8, 8 * 65, 8):
        flipped = flip(good, bit)
        x, y = int.from_bytes(flipped[1:33], "big"), int.from_bytes(flipped[33:], "big")
        assert x >= P or y >= P or not on_curve((Fp(x), Fp(y)), B1)
        refuse("g1_decode", INVALID_POINT, f"bit 0 of byte {bit // 8} flipped", bytes=flipped)
    for b in [0, 1, 3, 4, 5, 6, 7, 8, P - 2, P - 1]:
        q = random_point(Fp(b), element1)
        assert not on_curve(q, B1)
        refuse("g1_decode", INVALID_POINT, f"on another curve: b = {b if b < 10 else b - P}", bytes=g1(q))
    for d in range(3):
        # Makes a point of the curve Y^2 = X^3 + 2 c^3. If c is no square, this curve is the quadratic twist of E.
        c = element1()
        while c.root() is not None:
            c = element1()
        q = random_point(2 * c * c * c, element1)
        assert mul(R, q) is not None and mul(2 * (P + 1) - R, q) is None and not on_curve(q, B1)
        refuse("g1_decode", INVALID_POINT, "on the quadratic twist of E", bytes=g1(q))
    for order, q in ((2, (Fp(-1), Fp(0))), (3, (Fp(0), Fp(1))), (2, (Fp(-2), Fp(0))), (3, (Fp(0), Fp(2)))):
        b = q[1] * q[1] - q[0] * q[0] * q[0]
        assert mul(order, q) is None and not on_curve(q, B1)
        refuse("g1_decode", INVALID_POINT, f"of order {order}, on the curve with b = {int(b)}", bytes=g1(q))
    infinity = [
        ("04 and zeros", b"\4" + bytes(64)), ("zeros", bytes(65)), ("ones", b"\xff" * 65),
        ("(0, 1)", g1((0, 1))), ("(1, 0)", g1((1, 0))), ("(p, p)", g1((P, P))), ("(0, p)", g1((0, P))),
        ("(p, 0)", g1((P, 0))), ("(0, p + 1)", g1((0, P + 1))), ("40 and zeros", b"\x40" + bytes(64)),
        ("c0 and zeros", b"\xc0" + bytes(64)), ("01 and zeros", b"\1" + bytes(64)),
        ("02 and zeros", b"\2" + bytes(64)), ("04 and 2^256 - 1 twice", b"\4" + b"\xff" * 64),
    ]
    for name, data in infinity:
        refuse("g1_decode", INVALID_POINT, f"infinity spelled as {name}", bytes=data)
    for name, data in (
        ("00", b"\0"), ("04", b"\4"), ("nothing", b""), ("33 zeros", bytes(33)),
        ("c0 and 32 zeros", b"\xc0" + bytes(32)),
    ):
        refuse("g1_decode", WRONG_PARAMETER, f"infinity spelled as {name}", bytes=data)


def g2_decode():
    torsion = []
    while len(torsion) < 8:
        q = mul(R, random_point(B2, element2))
        if q is not None:
            torsion.append(q)
    members = []
    while len(members) < 4:
        q = mul(COFACTOR, random_point(B2, element2))
        if q is not None:
            assert mul(R, q) is None
            members.append(q)
    good = g2(members[0])
    lengths("g2_decode", good)
    refuse("g2_decode", WRONG_PARAMETER, "prefix 04", bytes=b"\4" + good)
    refuse("g2_decode", WRONG_PARAMETER, "compressed", bytes=b"\2" + good[:64])
    for q in members:
        c = [q[0].a, q[0].b, q[1].a, q[1].b]
        for i, name in enumerate(("x.a", "x.b", "y.a", "y.b")):
            for k in (1, 2, 3):
                d = c[:]
                d[i] += k * P
                refuse("g2_decode", INVALID_POINT, f"range: {name} + {k} p", bytes=b"".join(map(number, d)))
        for name, d in (
            ("real and imaginary parts swapped", [c[1], c[0], c[3], c[2]]), ("x and y swapped", c[2:] + c[:2]),
            ("all four reversed", c[::-1]), ("x conjugated", [c[0], -c[1] % P, c[2], c[3]]),
            ("y conjugated", [c[0], c[1], c[2], -c[3] % P]), ("conjugated", [c[0], -c[1] % P, c[2], -c[3] % P]),
            ("y + 1", [c[0], c[1], (c[2] + 1) % P, c[3]]), ("y + i", [c[0], c[1], c[2], (c[3] + 1) % P]),
            ("y = 0", [c[0], c[1], 0, 0]), ("x = 0", [0, 0, c[2], c[3]]), ("x.b = 0", [c[0], 0, c[2], c[3]]),
            ("y.b = 0", c[:3] + [0]),
        ):
            assert not on_curve((Fp2(d[0], d[1]), Fp2(d[2], d[3])), B2)
            refuse("g2_decode", INVALID_POINT, f"off the twist: {name}", bytes=b"".join(map(number, d)))
        refuse("g2_decode", INVALID_POINT, "range: x.a = 2^256 - 1", bytes=number(2**256 - 1) + g2(q)[32:])
        refuse("g2_decode", INVALID_POINT, "range: y.b = p", bytes=g2(q)[:96] + number(P))
    for bit in range(0, 8 * 128, 8):
        flipped = flip(good, bit)
        c = [int.from_bytes(flipped[i:i + 32], "big") for i in range(0, 128, 32)]
        assert max(c) >= P or not on_curve((Fp2(c[0], c[1]), Fp2(c[2], c[3])), B2)
        refuse("g2_decode", INVALID_POINT, f"bit 0 of byte {bit // 8} flipped", bytes=flipped)
    other = [("2 (E itself, over Fp2)", Fp2(2)), ("2 (1 + i), the other sextic twist", Fp2(2, 2)), ("1 + i", Fp2(1, 1)),
             ("0", Fp2(0)), ("1", Fp2(1)), ("i", Fp2(0, 1)), ("-(1 - i)", Fp2(-1, 1))]
    for name, b in other:
        q = random_point(b, element2)
        assert not on_curve(q, B2)
        refuse("g2_decode", INVALID_POINT, f"on another curve: b = {name}", bytes=g2(q))
    p = mul(rng.randrange(1, R), G1_GENERATOR)
    refuse("g2_decode", INVALID_POINT, "a point of G1 over Fp2", bytes=g2((Fp2(p[0]), Fp2(p[1]))))
    untwisted = (Fp2(p[0]) * Fp2(1, 1).inverse(), Fp2(p[1]) * Fp2(1, 1).inverse())
    assert not on_curve(untwisted, B2)
    refuse("g2_decode", INVALID_POINT, "a point of G1 divided by 1 + i", bytes=g2(untwisted))
    for name, data in (("zeros", bytes(128)), ("ones", b"\xff" * 128), ("(0, 1)", bytes(64) + number(1) + bytes(32)),
                       ("(1, 0)", number(1) + bytes(96)), ("(p, p)", number(P) * 4), ("(0, p + 1)",
                       bytes(64) + number(P + 1) + bytes(32)),
                       ("(0, i)", bytes(96) + number(1)), ("40 and zeros", b"\x40" + bytes(127)), ("c0 and zeros",
                       b"\xc0" + bytes(127))):
        refuse("g2_decode", INVALID_POINT, f"infinity spelled as {name}", bytes=data)
    for name, data in (("00", b"\0"), ("nothing", b""), ("129 zeros", bytes(129)), ("04 and 128 zeros",
        b"\4" + bytes(128))):
        refuse("g2_decode", WRONG_PARAMETER, f"infinity spelled as {name}", bytes=data)

    # Points that are on the twist but have another order.
    for _ in range(24):
        q = random_point(B2, element2)
        assert on_curve(q, B2) and mul(R, q) is not None
        refuse("g2_decode", WRONG_ORDER, "on the twist, outside the subgroup: random", bytes=g2(q))
    for t in torsion:
        assert on_curve(t, B2) and mul(COFACTOR, t) is None
        refuse("g2_decode", WRONG_ORDER, "of the cofactor's torsion: order divides 2p - r", bytes=g2(t))
        mixed = add(members[0], t)
        assert mul(R, mixed) is not None
        refuse("g2_decode", WRONG_ORDER, "a point of G2 plus one of the cofactor's torsion", bytes=g2(mixed))
        refuse("g2_decode", WRONG_ORDER, "a point of G2 less one of the cofactor's torsion", bytes=g2(add(members[1],
            negate(t))))
        refuse("g2_decode", WRONG_ORDER, "twice one of the cofactor's torsion", bytes=g2(add(t, t)))


def gt_decode():
    one = number(1) + bytes(352)
    lengths("gt_decode", one)
    refuse("gt_decode", WRONG_ORDER, "zero", bytes=bytes(384))
    refuse("gt_decode", INVALID_POINT, "range: all bits set", bytes=b"\xff" * 384)
    for value in (2, 3, P - 2, P - 1 >> 1):
        refuse("gt_decode", WRONG_ORDER, "an element of Fp other than 1 and -1: order divides p - 1",
            bytes=number(value) + bytes(352))
    refuse("gt_decode", WRONG_ORDER, "-1: of order 2", bytes=number(P - 1) + bytes(352))
    refuse("gt_decode", WRONG_ORDER, "i: of order 4", bytes=bytes(32) + number(1) + bytes(320))
    for k in range(6):
        refuse("gt_decode", WRONG_ORDER, "a multiple of a power of w alone",
            bytes=bytes(64 * k) + number(5) + number(7) + bytes(320 - 64 * k))
    for i in range(12):
        refuse("gt_decode", INVALID_POINT, f"range: 1 with coefficient {i} + p",
               bytes=b"".join(number((1 if j == 0 else 0) + (P if j == i else 0)) for j in range(12)))
    for _ in range(12):
        refuse("gt_decode", WRONG_ORDER, "a random element of Fp12",
            bytes=b"".join(number(rng.randrange(P)) for _ in range(12)))
    for _ in range(4):
        value = power12([element2() for _ in range(6)], (P**6 - 1) * (P**2 + 1))
        assert power12(value, R) != power12(value, 0)
        refuse("gt_decode", WRONG_ORDER, "in the cyclotomic subgroup, but of another order than r", bytes=gt(value))
        other = power12(value, R)
        refuse("gt_decode", WRONG_ORDER, "in the cyclotomic subgroup, of an order prime to r", bytes=gt(other))


def scalars():
    bad = [("0", 0), ("r", R), ("r + 1", R + 1), ("r + 2", R + 2), ("2r - 1", 2 * R - 1), ("2r", 2 * R), ("2r + 1",
        2 * R + 1),
           ("3r", 3 * R), ("7r", 7 * R), ("p - 1", P - 1), ("p", P), ("p + 1", P + 1), ("2^254 - 1", 2**254 - 1),
           ("2^254", 2**254), ("2^255 - 1", 2**255 - 1),
           ("2^255", 2**255), ("2^256 - r", 2**256 - R), ("2^256 - 2", 2**256 - 2), ("2^256 - 1", 2**256 - 1)]
    for name, value in bad:
        assert value == 0 or value >= R
        refuse("scalar", WRONG_PARAMETER, f"not in 1..<r: {name}", bytes=number(value))
    for _ in range(12):
        refuse("scalar", WRONG_PARAMETER, "not in 1..<r: a random number from r on", bytes=number(rng.randrange(R,
            2**256)))
    for bit in range(254, 256):
        refuse("scalar", WRONG_PARAMETER, f"1 with bit {bit} set", bytes=number(1 | 1 << bit))
    refuse("scalar", WRONG_PARAMETER, "r - 1 in little-endian order", bytes=number(R - 1)[::-1])
    assert int.from_bytes(number(R - 1)[::-1], "big") >= R
    lengths("scalar", number(R - 1))


def pin_scalars():
    for bits in (14, 20):
        for name, value in ((f"2^{bits}", 1 << bits), (f"2^{bits} + 1", (1 << bits) + 1), ("2^32", 1 << 32), ("2^63",
            1 << 63), ("2^64", 1 << 64),
                            ("2^64 + 1", 1 + (1 << 64)), ("2^128", 1 << 128), ("2^192", 1 << 192), ("r", R), ("2^255",
                            1 << 255), ("2^256 - 1", 2**256 - 1)):
            refuse("pin_scalar", WRONG_PARAMETER, f"not below 2^{bits}: {name}", bytes=number(value), bits=bits)
        for count in (0, 1, 31, 33, 64):
            refuse("pin_scalar", WRONG_PARAMETER, f"length {count}", bytes=bytes(count), bits=bits)
    for bits in (0, -1, 257, 512, 2**31 - 1, -2**31):
        refuse("pin_scalar", WRONG_PARAMETER, f"a width of {bits} bits", bytes=number(1), bits=bits)


def pins():
    texts = [
        "", " ", "12 34", " 1234", "1234 ", "12a4", "a", "+123", "-", "--12", "1-2", "12-", "1.5", "0x12", "1e4",
        "1234\0", "\0", "12\n", "/", ":", "1/2", "1:2", "12\t", "\u0661\u0662\u0663\u0664", "\uff11\uff12\uff13\uff14",
        "1,2", "NaN", "\x7f", "\x80", "1\xb22", "\xff",
    ]
    for mapping, name, longest in ((0, "decimal6", 32), (1, "decimal4", 32), (3, "legacy14", 10)):
        for text in texts:
            data = text.encode("latin-1" if all(ord(c) < 256 for c in text) else "utf-8")
            refuse("pin", WRONG_PARAMETER, f"{name}: not digits alone" if text else f"{name}: empty", mapping=mapping,
                bytes=data)
        for count in (longest + 1, longest + 2, 100):
            refuse("pin", WRONG_PARAMETER, f"{name}: {count} digits", mapping=mapping, bytes=b"1" * count)
        if mapping != 3:
            refuse("pin", WRONG_PARAMETER, f"{name}: a sign", mapping=mapping, bytes=b"-123")
    refuse("pin", WRONG_PARAMETER, "legacy14: 11 digits after the sign", mapping=3, bytes=b"-12345678901")
    for mapping in (-1, 4, 5, 100, 2**31 - 1, -2**31):
        refuse("pin", WRONG_PARAMETER, f"no mapping: {mapping}", mapping=mapping, bytes=b"1234")


def misuse():
    """Makes vectors of wrong dates, wrong permits, and results at infinity. `null` means an absent value; an output
    that is `true` is requested."""
    identity = b"alice@example.com"
    a = map_to_g1(hashlib.sha256(identity).digest())
    s, x, e = rng.randrange(1, R), rng.randrange(1, R), 1234
    secret = mul(s, a)
    token = add(secret, negate(mul(e, a)))
    permit = mul(rng.randrange(1, R), G1_GENERATOR)
    base = dict(id=identity, x=number(x), pin=number(e), token=g1(token))
    for date, has_permit, ut, reason in (
        (0, True, False, "a permit without a date"), (0, False, True, "ut without a date"), (0, True, True,
        "a permit and ut without a date"),
        (20778, False, True, "a date without a permit"), (20778, True, False, "a date without ut"), (20778, False,
        False, "a date alone"),
        (-1, False, False, "a date below 0"), (-1, True, True, "a date below 0 with a permit"), (-2**31, False, False,
        "the lowest date"),
    ):
        refuse("client_1", WRONG_PARAMETER, reason, date=date, permit=g1(permit) if has_permit else None, ut=ut, **base)
    for date in (0, -1, -20778, -2**31):
        refuse("get_client_permit", WRONG_PARAMETER, f"a permit for the date {date}", date=date, s=number(s),
            hash=hashlib.sha256(identity).digest())
    for date, htid, reason in ((20778, False, "a date without htid"), (0, True, "htid without a date"), (-1, True,
        "a date below 0 with htid"),
                               (-1, False, "a date below 0"), (-2**31, False, "the lowest date")):
        refuse("server_1", WRONG_PARAMETER, reason, date=date, htid=htid, id=identity)
    for count in (0, 1, 20, 31, 33, 64):
        refuse("map_to_g1", WRONG_PARAMETER, f"a hash of {count} bytes", hash=bytes(range(count)))
    for value in (0, -1, 1_000_000, 1_000_001, 2**31 - 1, -2**31):
        refuse("kangaroo", WRONG_PARAMETER, f"a range of {value}", range=value)
    for date in (-1, -20778, -2**31):
        refuse("verify", WRONG_PARAMETER, f"a date of {date}", date=date)

    # Arguments whose result would be the point at infinity, which has no encoding.
    for p in (G1_GENERATOR, secret, token):
        refuse("recombine_g1", INVALID_POINT, "the sum is infinity", a=g1(p), b=g1(negate(p)))
    for _ in range(2):
        q = mul(COFACTOR, random_point(B2, element2))
        refuse("recombine_g2", INVALID_POINT, "the sum is infinity", a=g2(q), b=g2(negate(q)))
    for value in (1, 2, 1234, 9999, 999_999):
        refuse("extract_pin", INVALID_POINT, "the token is infinity", id=identity, pin=number(value),
            secret=g1(mul(value, a)))
        refuse("client_1", INVALID_POINT, "sec is infinity", date=0, permit=None, ut=False, id=identity, x=number(x),
            pin=number(value),
               token=g1(negate(mul(value, a))))
    for value in (1, 2, x, R - 1):
        refuse("client_2", INVALID_POINT, "x + y = 0 mod r: v is infinity", x=number(value), y=number(R - value),
            sec=g1(secret))


def main():
    check = sys.argv[1] == "--check"
    path = sys.argv[2 if check else 1]
    for make in (g1_decode, g2_decode, gt_decode, scalars, pin_scalars, pins, misuse):
        make()
    good = {"g1": g1(mul(2, G1_GENERATOR)).hex(), "scalar": number(R - 1).hex()}
    head = {
        "schema": 1,
        "curve": "BN254CX",
        "source": "Tests/Proof/negative.py, computed from the curve parameter alone",
        "codes": {"-11": "wrong parameter", "-14": "invalid point", "-18": "wrong order"},
        "good": good,
        "count": len(vectors),
    }
    lines = ",\n".join(json.dumps(v) for v in vectors)
    text = json.dumps(head, indent=1)[:-2] + ',\n "vectors": [\n' + lines + "\n]}\n"
    assert json.loads(text)["count"] == len(vectors) >= 500
    if check:
        same = open(path).read() == text
        print(f"{int(same)} passed, {int(not same)} failed")
        return 0 if same else 1
    open(path, "w").write(text)
    print(len(vectors), "vectors")
    return 0


sys.exit(main())

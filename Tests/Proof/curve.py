"""Computes on the curve BN254CX with Python's integers, from the curve's parameter alone. negative.py uses it."""

import random

X = -0x4000000003C012B1
P = 36 * X**4 + 36 * X**3 + 24 * X**2 + 6 * X + 1
R = 36 * X**4 + 36 * X**3 + 18 * X**2 + 6 * X + 1
COFACTOR = 2 * P - R  # of G2 in the points of the twist

rng = random.Random("BN254CX negative")


class Fp2:
    """a + b i with i^2 = -1."""

    def __init__(self, a, b=0):
        self.a, self.b = a % P, b % P

    def __eq__(self, o):
        return (self.a, self.b) == (o.a, o.b)

    def __add__(self, o):
        return Fp2(self.a + o.a, self.b + o.b)

    def __sub__(self, o):
        return Fp2(self.a - o.a, self.b - o.b)

    def __mul__(self, o):
        if isinstance(o, int):
            return Fp2(self.a * o, self.b * o)
        return Fp2(self.a * o.a - self.b * o.b, self.a * o.b + self.b * o.a)

    __rmul__ = __mul__

    def __neg__(self):
        return Fp2(-self.a, -self.b)

    def inverse(self):
        n = pow(self.a * self.a + self.b * self.b, -1, P)
        return Fp2(self.a * n, -self.b * n)

    def root(self):
        """Returns a square root, or None."""
        if self.b == 0:
            s = sqrt(self.a)
            return Fp2(s) if s is not None else Fp2(0, sqrt(-self.a % P))
        n = sqrt((self.a * self.a + self.b * self.b) % P)
        if n is None:
            return None
        for norm in (n, -n):
            a = sqrt((self.a + norm) * pow(2, -1, P) % P)
            if a:
                root = Fp2(a, self.b * pow(2 * a, -1, P))
                if root * root == self:
                    return root
        return None


def sqrt(a):
    """Returns a square root mod P (P = 3 mod 4), or None."""
    s = pow(a, (P + 1) // 4, P)
    return s if s * s % P == a % P else None


class Fp(int):
    """A number mod P, with the same methods as Fp2."""

    def __new__(cls, a):
        return super().__new__(cls, a % P)

    def __add__(self, o):
        return Fp(int(self) + int(o))

    def __sub__(self, o):
        return Fp(int(self) - int(o))

    def __mul__(self, o):
        return Fp(int(self) * int(o))

    __rmul__ = __mul__

    def __neg__(self):
        return Fp(-int(self))

    def inverse(self):
        return Fp(pow(int(self), -1, P))

    def root(self):
        s = sqrt(int(self))
        return None if s is None else Fp(s)


B1, B2 = Fp(2), Fp2(1, -1)
assert B2 * Fp2(1, 1) == Fp2(2), "the twist is Y^2 = X^3 + 2/(1 + i)"


def on_curve(point, b):
    x, y = point
    return y * y == x * x * x + b


def add(p, q):
    if p is None or q is None:
        return q if p is None else p
    (x1, y1), (x2, y2) = p, q
    if x1 == x2 and y1 == -y2:
        return None
    slope = 3 * x1 * x1 * (2 * y1).inverse() if p == q else (y2 - y1) * (x2 - x1).inverse()
    x = slope * slope - x1 - x2
    return x, slope * (x1 - x) - y1


def mul(k, p):
    result = None
    for bit in bin(k)[2:]:
        result = add(result, result)
        if bit == "1":
            result = add(result, p)
    return result


def negate(p):
    return p[0], -p[1]


def random_point(b, element):
    """Returns a random point of y^2 = x^3 + b."""
    while True:
        x = element()
        y = (x * x * x + b).root()
        if y is not None:
            return x, y


def element1():
    return Fp(rng.randrange(P))


def element2():
    return Fp2(rng.randrange(P), rng.randrange(P))


G1_GENERATOR = (Fp(-1), Fp(1))
assert on_curve(G1_GENERATOR, B1) and mul(R, G1_GENERATOR) is None


def map_to_g1(digest):
    x = Fp(int.from_bytes(digest, "big"))
    while True:
        y = (x * x * x + B1).root()
        if y:
            return x, y if y % 2 == 0 else -y
        x = x + Fp(1)


# ---- Fp12 = Fp2[w]/(w^6 - (1 + i)): a list of six coefficients ------------------------------------------------------


def multiply12(a, b):
    wide = [Fp2(0)] * 11
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            wide[i + j] = wide[i + j] + x * y
    return [wide[k] + (wide[k + 6] * Fp2(1, 1) if k < 5 else Fp2(0)) for k in range(6)]


def power12(a, k):
    result = [Fp2(1)] + [Fp2(0)] * 5
    for bit in bin(k)[2:]:
        result = multiply12(result, result)
        if bit == "1":
            result = multiply12(result, a)
    return result


# ---- Encodings ------------------------------------------------------------------------------------------------------


def number(n):
    return int(n).to_bytes(32, "big")


def g1(p, prefix=4):
    return bytes([prefix]) + number(p[0]) + number(p[1])


def g2(q):
    return number(q[0].a) + number(q[0].b) + number(q[1].a) + number(q[1].b)


def gt(a):
    return b"".join(number(a[k].a) + number(a[k].b) for k in (0, 3, 1, 4, 2, 5))

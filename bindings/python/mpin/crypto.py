"""The M-Pin primitives: bytes in, bytes out.

Points of G1 have 65 bytes, points of G2 128, values of the pairing 384, scalars and hashes 32. Decoding is strict. A
date is a number of days since 1970-01-01 UTC; 0 stands for no time permit.
"""

from __future__ import annotations

import ctypes
import enum
import operator
from types import TracebackType
from typing import Any, Union

from ._errors import BadPinError, WrongParameterError, error_for
from ._native import lib

Octets = Union[bytes, bytearray, memoryview]

G1_SIZE: int = lib.mpin_crypto_g1_size()
G2_SIZE: int = lib.mpin_crypto_g2_size()
GT_SIZE: int = lib.mpin_crypto_gt_size()
SCALAR_SIZE: int = lib.mpin_crypto_scalar_size()
HASH_SIZE: int = lib.mpin_crypto_hash_size()
KEY_SIZE: int = lib.mpin_crypto_key_size()
#: The size of an encoding() in bytes.
ENCODED_SIZE = 65


class PinMapping(enum.IntEnum):
    """How a PIN becomes a number."""

    #: The decimal number mod 10^6: 20 bits. For new tokens.
    DECIMAL6 = 0
    #: The decimal number mod 10^4: 14 bits.
    DECIMAL4 = 1
    #: Java's string hash of the PIN, then as for LEGACY14: 14 bits. For tokens of the Milagro SDK core.
    LEGACY_HASH = 2
    #: The low 14 bits of a signed decimal number's remainder by 10^4. The Milagro library treated its integer argument
    #: in this way.
    LEGACY14 = 3


def hash_id(id: Octets) -> bytes:
    """SHA-256 of an M-Pin ID, 32 bytes."""
    return _call(lib.mpin_crypto_hash_id, HASH_SIZE, *_in(id))


def map_to_g1(hash: Octets) -> bytes:
    """The point to which a hash maps (G1). Variable time, because the identity is public."""
    return _call(lib.mpin_crypto_map_to_g1, G1_SIZE, *_in(hash))


def random_generate() -> bytes:
    """A random scalar, for use as a master secret share, x, or y."""
    return _call(lib.mpin_crypto_random_generate, SCALAR_SIZE)


def get_client_secret(s: Octets, hash_id: Octets) -> bytes:
    """A share of the client secret: the master share s times the point of an identity (G1)."""
    return _call(lib.mpin_crypto_get_client_secret, G1_SIZE, *_in(s), *_in(hash_id))


def get_server_secret(s: Octets) -> bytes:
    """A share of the server secret: the master share s times the generator of G2."""
    return _call(lib.mpin_crypto_get_server_secret, G2_SIZE, *_in(s))


def get_client_permit(date: int, s: Octets, hash_id: Octets) -> bytes:
    """A share of the time permit of an identity for one day: the master share s times the point of both (G1)."""
    return _call(lib.mpin_crypto_get_client_permit, G1_SIZE, _int32(date), *_in(s), *_in(hash_id))


def recombine_g1(a: Octets, b: Octets) -> bytes:
    """The sum of two shares of a client secret or of a time permit (G1)."""
    return _call(lib.mpin_crypto_recombine_g1, G1_SIZE, *_in(a), *_in(b))


def recombine_g2(a: Octets, b: Octets) -> bytes:
    """The sum of two shares of the server secret (G2)."""
    return _call(lib.mpin_crypto_recombine_g2, G2_SIZE, *_in(a), *_in(b))


def pin_to_scalar(mapping: PinMapping, pin: Octets) -> tuple[bytes, int]:
    """The number that is used in place of a PIN, and its width in bits, which other functions need as well."""
    scalar, bits = _room(SCALAR_SIZE), ctypes.c_int32()
    _check(lib.mpin_crypto_pin_to_scalar(scalar, SCALAR_SIZE, ctypes.byref(bits), _int32(mapping), *_in(pin)))
    return bytes(scalar), bits.value


def extract_pin(id: Octets, pin: Octets, pin_bits: int, client_secret: Octets) -> bytes:
    """The token: the client secret minus PIN times the point of the identity. pin: a scalar of pin_to_scalar()."""
    return _call(lib.mpin_crypto_extract_pin, G1_SIZE, *_in(id), *_in(pin), _int32(pin_bits), *_in(client_secret))


def client_1(
    date: int, id: Octets, x: Octets, pin: Octets, pin_bits: int, token: Octets, permit: Octets | None = None
) -> tuple[bytes, bytes, bytes | None]:
    """Pass 1 of the client: sec (secret), U, and UT if there is a date."""
    sec, u, ut = _room(G1_SIZE), _room(G1_SIZE), _room(G1_SIZE) if date else None
    _check(
        lib.mpin_crypto_client_1(
            *_out(sec),
            *_out(u),
            *_out(ut),
            _int32(date),
            *_in(id),
            *_in(x),
            *_in(pin),
            _int32(pin_bits),
            *_in(token),
            *_in(permit),
        )
    )
    return bytes(sec), bytes(u), None if ut is None else bytes(ut)


def client_2(x: Octets, y: Octets, sec: Octets) -> bytes:
    """Pass 2 of the client: the proof V = -(x + y) sec."""
    return _call(lib.mpin_crypto_client_2, G1_SIZE, *_in(x), *_in(y), *_in(sec))


def server_1(date: int, id: Octets) -> tuple[bytes, bytes | None]:
    """Pass 1 of the server: the point of an identity and, if there is a date, the point with the date."""
    hid, htid = _room(G1_SIZE), _room(G1_SIZE) if date else None
    _check(lib.mpin_crypto_server_1(*_out(hid), *_out(htid), _int32(date), *_in(id)))
    return bytes(hid), None if htid is None else bytes(htid)


def server_2(
    date: int,
    hid: Octets,
    htid: Octets | None,
    y: Octets,
    server_secret: Octets,
    u: Octets,
    ut: Octets | None,
    v: Octets,
) -> tuple[bytes, bytes] | None:
    """Pass 2 of the server: None if the PIN is right, else E and F for kangaroo()."""
    e, f = _room(GT_SIZE), _room(GT_SIZE)
    code = lib.mpin_crypto_server_2(
        *_out(e),
        *_out(f),
        _int32(date),
        *_in(hid),
        *_in(htid),
        *_in(y),
        *_in(server_secret),
        *_in(u),
        *_in(ut),
        *_in(v),
    )
    if code == BadPinError.code:
        return bytes(e), bytes(f)
    _check(code)
    return None


def kangaroo(e: Octets, f: Octets, range: int = 9999) -> int:
    """The entered PIN minus the registered PIN; 0 if no difference within the range fits."""
    error = ctypes.c_int32()
    _check(lib.mpin_crypto_kangaroo(ctypes.byref(error), *_in(e), *_in(f), _int32(range)))
    return error.value


def extract_factor(id: Octets, factor: Octets, factor_bits: int, token: Octets) -> bytes:
    """A token after a factor is subtracted. factor: 32 bytes, below 2^factor_bits; factor_bits: 1 to 256."""
    return _call(lib.mpin_crypto_extract_factor, G1_SIZE, *_in(id), *_in(factor), _int32(factor_bits), *_in(token))


def restore_factor(id: Octets, factor: Octets, factor_bits: int, token: Octets) -> bytes:
    """A token after a factor is added that extract_factor() has subtracted."""
    return _call(lib.mpin_crypto_restore_factor, G1_SIZE, *_in(id), *_in(factor), _int32(factor_bits), *_in(token))


def change_pin(
    id: Octets, old_pin: Octets, old_pin_bits: int, new_pin: Octets, new_pin_bits: int, token: Octets
) -> bytes:
    """The token for a new PIN. This function cannot check the old PIN: log in with it first."""
    return _call(
        lib.mpin_crypto_change_pin,
        G1_SIZE,
        *_in(id),
        *_in(old_pin),
        _int32(old_pin_bits),
        *_in(new_pin),
        _int32(new_pin_bits),
        *_in(token),
    )


def get_dvs_keypair() -> tuple[bytes, bytes]:
    """A key pair of an identity that signs: z (secret) and the public key, which follows the M-Pin ID in each id."""
    z, public_key = _room(SCALAR_SIZE), _room(G2_SIZE)
    _check(lib.mpin_crypto_get_dvs_keypair(*_out(z), *_out(public_key)))
    return bytes(z), bytes(public_key)


def get_dvs_public_key(z: Octets) -> bytes:
    """The public key of z."""
    return _call(lib.mpin_crypto_get_dvs_public_key, G2_SIZE, *_in(z))


def get_g1_multiple(x: Octets, point: Octets) -> bytes:
    """x times a point. Use it for z times the sum of a client secret's shares, and for Z and T of M-Pin Full."""
    return _call(lib.mpin_crypto_get_g1_multiple, G1_SIZE, *_in(x), *_in(point))


def get_y(time: int, u: Octets, message: Octets) -> bytes:
    """The y of a one-pass proof. time: seconds since 1970."""
    return _call(lib.mpin_crypto_get_y, SCALAR_SIZE, _int64(time), *_in(u), *_in(message))


def client(
    date: int,
    id: Octets,
    x: Octets,
    pin: Octets,
    pin_bits: int,
    token: Octets,
    permit: Octets | None,
    time: int,
    message: Octets,
) -> tuple[bytes, bytes | None, bytes]:
    """The client's one-pass proof, which signs the message for the server: U, UT if there is a date, V."""
    u, ut, v = _room(G1_SIZE), _room(G1_SIZE) if date else None, _room(G1_SIZE)
    _check(
        lib.mpin_crypto_client(
            *_out(u),
            *_out(ut),
            *_out(v),
            _int32(date),
            *_in(id),
            *_in(x),
            *_in(pin),
            _int32(pin_bits),
            *_in(token),
            *_in(permit),
            _int64(time),
            *_in(message),
        )
    )
    return bytes(u), None if ut is None else bytes(ut), bytes(v)


def server(
    date: int,
    id: Octets,
    server_secret: Octets,
    public_key: Octets | None,
    u: Octets,
    ut: Octets | None,
    v: Octets,
    time: int,
    message: Octets,
) -> tuple[bytes, bytes] | None:
    """Checks a one-pass proof: None if it is right, else E and F for kangaroo()."""
    e, f = _room(GT_SIZE), _room(GT_SIZE)
    code = lib.mpin_crypto_server(
        *_out(e),
        *_out(f),
        _int32(date),
        *_in(id),
        *_in(server_secret),
        *_in(public_key),
        *_in(u),
        *_in(ut),
        *_in(v),
        _int64(time),
        *_in(message),
    )
    if code == BadPinError.code:
        return bytes(e), bytes(f)
    _check(code)
    return None


def precompute(token: Octets, hash_id: Octets) -> tuple[bytes, bytes]:
    """What the client of M-Pin Full can compute before the PIN is known: g1 (secret) and g2."""
    g1, g2 = _room(GT_SIZE), _room(GT_SIZE)
    _check(lib.mpin_crypto_precompute(*_out(g1), *_out(g2), *_in(token), *_in(hash_id)))
    return bytes(g1), bytes(g2)


def client_key(g1: Octets, g2: Octets, pin: Octets, pin_bits: int, r: Octets, x: Octets, t: Octets) -> bytes:
    """The client's key of M-Pin Full, 16 bytes."""
    return _call(
        lib.mpin_crypto_client_key, KEY_SIZE, *_in(g1), *_in(g2), *_in(pin), _int32(pin_bits), *_in(r), *_in(x), *_in(t)
    )


def server_key(z: Octets, server_secret: Octets, w: Octets, u: Octets, ut: Octets | None = None) -> bytes:
    """The server's key of M-Pin Full, 16 bytes. ut: UT if there is a time permit."""
    return _call(lib.mpin_crypto_server_key, KEY_SIZE, *_in(z), *_in(server_secret), *_in(w), *_in(u), *_in(ut))


def encoding(point: Octets) -> bytes:
    """A point as a string that looks random. Each call gives another string."""
    return _call(lib.mpin_crypto_encoding, ENCODED_SIZE, *_in(point))


def decoding(encoded: Octets) -> bytes:
    """The point that a string of encoding() encodes."""
    return _call(lib.mpin_crypto_decoding, G1_SIZE, *_in(encoded))


def pairing(q: Octets, p: Octets) -> bytes:
    """The optimal ate pairing e(q, p) of a point q of G2 and a point p of G1."""
    return _call(lib.mpin_crypto_pairing, GT_SIZE, *_in(q), *_in(p))


def pairing_product(q1: Octets, p1: Octets, q2: Octets, p2: Octets) -> bytes:
    """The product of two pairings, e(q1, p1) e(q2, p2)."""
    return _call(lib.mpin_crypto_pairing_product, GT_SIZE, *_in(q1), *_in(p1), *_in(q2), *_in(p2))


class ServerContext:
    """A server secret, prepared once for many logins. Several threads may use it."""

    _handle: int | None = None

    def __init__(self, server_secret: Octets) -> None:
        self._free = lib.mpin_crypto_server_context_free
        handle = ctypes.c_void_p()
        _check(lib.mpin_crypto_server_context_new(ctypes.byref(handle), *_in(server_secret)))
        self._handle = handle.value

    def verify(self, date: int, id: Octets, u: Octets, y: Octets, v: Octets) -> bool:
        """Whether the PIN is right. u: UT if there is a date, else U."""
        code = lib.mpin_crypto_server_context_verify(self._handle, _int32(date), *_in(id), *_in(u), *_in(y), *_in(v))
        if code == BadPinError.code:
            return False
        _check(code)
        return True

    def verify_dvs(self, public_key: Octets, id: Octets, u: Octets, y: Octets, v: Octets) -> bool:
        """Whether the PIN of an identity with a key pair is right. id: the M-Pin ID, then the public key."""
        code = lib.mpin_crypto_server_context_verify_dvs(
            self._handle, *_in(public_key), *_in(id), *_in(u), *_in(y), *_in(v)
        )
        if code == BadPinError.code:
            return False
        _check(code)
        return True

    def close(self) -> None:
        """Wipes and releases the secret."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._free(handle)

    def __enter__(self) -> ServerContext:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _in(octets: Octets | None) -> list[Any]:
    """An input in the form that the library takes: pointer, length."""
    if octets is None:
        return [None, 0]
    size = memoryview(octets).nbytes
    return [(ctypes.c_uint8 * size).from_buffer_copy(octets), size]


def _int32(number: int) -> int:
    """A number of 32 bits as the library takes it. A larger one is refused, because ctypes would truncate it."""
    if not -(2**31) <= operator.index(number) < 2**31:
        raise error_for(WrongParameterError.code)
    return number


def _int64(number: int) -> int:
    """A number of 64 bits as the library takes it. A larger one is refused, because ctypes would truncate it."""
    if not -(2**63) <= operator.index(number) < 2**63:
        raise error_for(WrongParameterError.code)
    return number


def _room(size: int) -> ctypes.Array[ctypes.c_uint8]:
    return (ctypes.c_uint8 * size)()


def _out(room: ctypes.Array[ctypes.c_uint8] | None) -> list[Any]:
    """An output in the form that the library takes: pointer, length."""
    return [None, 0] if room is None else [room, len(room)]


def _call(function: Any, size: int, *arguments: Any) -> bytes:
    """Calls a function whose first arguments are its only output."""
    room = _room(size)
    _check(function(room, size, *arguments))
    return bytes(room)


def _check(code: int) -> None:
    if code:
        raise error_for(code)

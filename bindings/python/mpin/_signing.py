"""Signatures for a designated verifier."""

from __future__ import annotations

import ctypes

from . import _structures as structures
from ._errors import InvalidArgumentError, error_for
from ._handles import Calls, Pin, Secret, octet_array, optional, sized
from ._native import lib
from ._results import Signature
from ._user import User

_HASH_SIZE = 32


class Signing(Calls):
    """Signing keys and signatures."""

    def start_registration_dvs(self, user: User, pin: Pin) -> None:
        """Logs in with the login PIN and gets permission to register a signing key."""
        with Secret(pin) as secret:
            self._check(lib.mpin_sdk_start_registration_dvs(self._handle, user._handle, secret))

    def finish_registration_dvs(self, user: User, pin: Pin) -> None:
        """Makes and stores the signing token; its PIN may differ from the login PIN."""
        with Secret(pin) as secret:
            self._check(lib.mpin_sdk_finish_registration_dvs(self._handle, user._handle, secret))

    def sign(
        self, user: User, hash: bytes, pin: Pin, epoch_time: int = 0, authz_token: str | None = None
    ) -> Signature:
        """Signs a hash of 1 to 256 bytes. epoch_time: seconds since 1970; 0 means now."""
        if not 0 <= epoch_time < 2**63:
            raise InvalidArgumentError("epoch_time")
        found = sized(structures.Signature)
        with Secret(pin) as secret:
            self._check(
                lib.mpin_sdk_sign(
                    self._handle,
                    user._handle,
                    ctypes.byref(found),
                    octet_array(hash),
                    len(hash),
                    secret,
                    epoch_time,
                    optional(authz_token),
                )
            )
        return Signature(
            found.timestamp,
            bytes(found.u),
            bytes(found.v),
            bytes(found.public_key),
            found.mpin_id.decode(),
            found.dtas.decode(),
        )


def hash_document(document: bytes) -> bytes:
    """SHA-256 of a document, 32 bytes."""
    found = (ctypes.c_uint8 * _HASH_SIZE)()
    status = lib.mpin_sdk_hash_document(found, octet_array(document), len(document))
    if status:
        raise error_for(status)
    return bytes(found)


def verify_document(document: bytes, hash: bytes) -> bool:
    """Whether the hash is that of the document. It is compared in constant time."""
    is_same = ctypes.c_int32()
    if len(hash) != _HASH_SIZE:
        return False
    status = lib.mpin_sdk_verify_document(
        ctypes.byref(is_same), octet_array(document), len(document), octet_array(hash)
    )
    if status:
        raise error_for(status)
    return is_same.value == 1

"""Algebraic laws of the primitives, and calls with arguments of wrong types and sizes, made by hypothesis."""

import ctypes
import pathlib
from typing import Any, Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mpin
from mpin import _native, crypto
from mpin.crypto import PinMapping

settings.register_profile("libmpin", deadline=None, max_examples=60, derandomize=True, database=None)
settings.load_profile("libmpin")

ids = st.binary(min_size=1, max_size=80)
#: Scalars below the order of the groups and larger than any PIN. If a scalar were equal to the PIN, the token would be
#: the point at infinity, which has no encoding.
scalars = st.integers(2**64, 2**253).map(lambda number: number.to_bytes(32, "big"))
pins = st.integers(0, 999_999).map(lambda number: f"{number:06}".encode())


def client_secret(id: bytes, s: bytes) -> bytes:
    return crypto.get_client_secret(s, crypto.hash_id(id))


def number(pin: bytes) -> "tuple[bytes, int]":
    return crypto.pin_to_scalar(PinMapping.DECIMAL6, pin)


@given(pins)
def test_a_pin_is_its_number(pin: bytes) -> None:
    scalar, bits = number(pin)
    assert (int.from_bytes(scalar, "big"), bits) == (int(pin), 20)
    scalar, bits = crypto.pin_to_scalar(PinMapping.DECIMAL4, pin)
    assert (int.from_bytes(scalar, "big"), bits) == (int(pin) % 10_000, 14)


@given(ids, scalars, pins, pins)
def test_a_changed_pin_is_another_registration(id: bytes, s: bytes, old: bytes, new: bytes) -> None:
    secret = client_secret(id, s)
    token = crypto.extract_pin(id, *number(old), secret)
    assert crypto.change_pin(id, *number(old), *number(new), token) == crypto.extract_pin(id, *number(new), secret)


@given(ids, scalars, st.integers(1, 256))
def test_a_factor_comes_off_and_on(id: bytes, factor: bytes, bits: int) -> None:
    factor = (int.from_bytes(factor, "big") % 2**bits).to_bytes(32, "big")
    token = client_secret(id, crypto.random_generate())
    without = crypto.extract_factor(id, factor, bits, token)
    assert crypto.restore_factor(id, factor, bits, without) == token


@given(ids, scalars)
def test_shares_add_up_in_any_order(id: bytes, s: bytes) -> None:
    t = crypto.random_generate()
    a, b = client_secret(id, s), client_secret(id, t)
    assert crypto.recombine_g1(a, b) == crypto.recombine_g1(b, a)
    assert crypto.recombine_g1(a, b) != a


@given(ids)
def test_an_encoded_point_comes_back(id: bytes) -> None:
    point = crypto.map_to_g1(crypto.hash_id(id))
    encoded = crypto.encoding(point)
    assert crypto.decoding(encoded) == point
    assert bytes.fromhex(encoded.hex()) == encoded != crypto.encoding(point)


@settings(max_examples=15)
@given(ids, scalars, pins, pins, st.sampled_from([0, 20778]))
def test_the_pin_of_the_registration_and_no_other(id: bytes, s: bytes, own: bytes, typed: bytes, date: int) -> None:
    token = crypto.extract_pin(id, *number(own), client_secret(id, s))
    permit = crypto.get_client_permit(date, s, crypto.hash_id(id)) if date else None
    x, y = crypto.random_generate(), crypto.random_generate()
    sec, u, ut = crypto.client_1(date, id, x, *number(typed), token, permit)
    with crypto.ServerContext(crypto.get_server_secret(s)) as context:
        assert context.verify(date, id, ut or u, y, crypto.client_2(x, y, sec)) == (own == typed)


#: Each primitive with the number of its arguments. The test calls it with octets, numbers and values of wrong types.
PRIMITIVES: "list[tuple[Callable[..., Any], int]]" = [
    (crypto.hash_id, 1),
    (crypto.map_to_g1, 1),
    (crypto.get_client_secret, 2),
    (crypto.get_server_secret, 1),
    (crypto.get_client_permit, 3),
    (crypto.recombine_g1, 2),
    (crypto.recombine_g2, 2),
    (crypto.pin_to_scalar, 2),
    (crypto.extract_pin, 4),
    (crypto.client_1, 7),
    (crypto.client_2, 3),
    (crypto.server_1, 2),
    (crypto.server_2, 8),
    (crypto.kangaroo, 3),
    (crypto.extract_factor, 4),
    (crypto.restore_factor, 4),
    (crypto.change_pin, 6),
    (crypto.get_dvs_public_key, 1),
    (crypto.get_g1_multiple, 2),
    (crypto.get_y, 3),
    (crypto.client, 8),
    (crypto.server, 9),
    (crypto.precompute, 2),
    (crypto.client_key, 7),
    (crypto.server_key, 5),
    (crypto.encoding, 1),
    (crypto.decoding, 1),
    (crypto.pairing, 2),
    (crypto.pairing_product, 4),
    (crypto.ServerContext, 1),
]
sized = st.sampled_from([32, 65, 128, 384]).flatmap(lambda size: st.binary(min_size=size, max_size=size))
octets = st.one_of(st.binary(max_size=70), sized)
anything = st.one_of(octets, st.integers(), st.text(max_size=8), st.none(), st.floats(), octets.map(bytearray))


@settings(max_examples=500)
@given(st.sampled_from(PRIMITIVES), st.lists(anything, min_size=9, max_size=9))
def test_a_primitive_takes_what_is_right_and_says_what_is_wrong(
    primitive: "tuple[Callable[..., Any], int]", arguments: "list[Any]"
) -> None:
    function, count = primitive
    only_said(lambda: function(*arguments[:count]))


def only_said(call: Callable[[], Any]) -> None:
    """A call may succeed or raise an exception for callers. It must not raise an exception of ctypes."""
    try:
        call()
    except (mpin.MPinError, ValueError, TypeError) as error:
        assert not isinstance(error, ctypes.ArgumentError)
        assert "ctypes" not in str(error) and "wrong type" not in str(error), error
        assert not isinstance(error, UnicodeError), error


TEXTS = ("test_backend", "set_backend", "get_client_param", "set_client_id", "add_trusted_domain", "get_user")
TEXTS += ("list_backend_users", "user_exists", "make_new_user", "check_access_number", "abort_session")
TEXTS += ("get_access_code", "get_session_details", "get_service_details")
odd = st.text(st.characters(whitelist_categories=["Cs", "Cc", "Ll"]))
texts = st.one_of(st.text(), odd, st.binary(), st.integers(), st.none())
PINS = ("finish_registration", "finish_authentication", "add_factor", "finish_registration_dvs")


def answer(_: mpin.HTTPRequest) -> mpin.HTTPResponse:
    return mpin.HTTPResponse(404)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.sampled_from(TEXTS), texts)
def test_texts_of_any_kind(tmp_path: pathlib.Path, method: str, text: Any) -> None:
    with offline(tmp_path) as sdk:
        only_said(lambda: getattr(sdk, method)(text))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.sampled_from(PINS), texts)
def test_pins_of_any_kind(tmp_path: pathlib.Path, method: str, pin: Any) -> None:
    with offline(tmp_path) as sdk, mpin.User(sdk, 1) as stranger:
        only_said(lambda: getattr(sdk, method)(stranger, pin))


@given(texts, texts)
def test_documents_of_any_kind(document: Any, hash: Any) -> None:
    only_said(lambda: mpin.hash_document(document))
    only_said(lambda: mpin.verify_document(document, hash))


def offline(folder: pathlib.Path) -> mpin.SDK:
    return mpin.SDK(folder / "store", storage_key_path=folder / "key", context=mpin.Context(http=answer))


def test_every_primitive_is_tried() -> None:
    tried = {function.__name__ for function, _ in PRIMITIVES} - {"ServerContext"}
    named = {name.replace("mpin_crypto_", "") for name in _native.FUNCTIONS if name.startswith("mpin_crypto_")}
    rest = {name for name in named if name.endswith("_size") or name.startswith("server_context")}
    assert named - rest - tried == {"random_generate", "get_dvs_keypair"}

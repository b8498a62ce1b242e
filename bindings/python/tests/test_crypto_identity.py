"""The Python functions for key pairs, one-pass proofs, factors, M-Pin Full and encoded points."""

from typing import Any, Optional

import pytest
from conftest import trust_vectors, vectors

import mpin
from mpin import crypto
from mpin.crypto import PinMapping

TRUST = trust_vectors()
REGISTRATIONS = {v["id"]: v for v in TRUST if v["kind"] == "registration"}


def octets(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else bytes.fromhex(text)


def inputs_of(vector: dict[str, Any]) -> dict[str, Any]:
    return {k: octets(v) if isinstance(v, str) else v for k, v in vector["in"].items()}


def of_op(op: str) -> list[Any]:
    found = [pytest.param(v, id=v["id"]) for v in vectors() if v["op"] == op]
    assert found, op
    return found


def of_kind(kind: str) -> list[Any]:
    found = [pytest.param(v, id=v["id"]) for v in TRUST if v["kind"] == kind]
    assert found, kind
    return found


def decimal(pin: str) -> "tuple[bytes, int]":
    return crypto.pin_to_scalar(PinMapping.DECIMAL6, pin.encode())


def low14(pin: int) -> "tuple[bytes, int]":
    """What the Milagro library did with a PIN in M-Pin Full: it took the low 14 bits and did not reduce the PIN."""
    return (pin & 0x3FFF).to_bytes(32, "big"), 14


@pytest.mark.parametrize("vector", of_op("precompute"))
def test_precompute(vector: dict[str, Any]) -> None:
    i = inputs_of(vector)
    assert [g.hex() for g in crypto.precompute(i["token"], i["hash_id"])] == [vector["out"]["g1"], vector["out"]["g2"]]


@pytest.mark.parametrize("vector", of_op("client_key"))
def test_client_key(vector: dict[str, Any]) -> None:
    i = inputs_of(vector)
    key = crypto.client_key(i["g1"], i["g2"], *low14(i["pin"]), i["r"], i["x"], i["t"])
    assert key.hex() == vector["out"]["key"]


@pytest.mark.parametrize("vector", of_op("server_key"))
def test_server_key(vector: dict[str, Any]) -> None:
    i = inputs_of(vector)
    assert crypto.server_key(i["z"], i["sst"], i["w"], i["u"], i["ut"]).hex() == vector["out"]["key"]


@pytest.mark.parametrize("vector", of_op("mpin_full"))
def test_mpin_full(vector: dict[str, Any]) -> None:
    i, out = inputs_of(vector), vector["out"]
    g1, g2 = crypto.precompute(i["token"], i["hash_id"])
    z = crypto.get_g1_multiple(i["r"], crypto.map_to_g1(i["hash_id"]))
    t = crypto.get_g1_multiple(i["w"], i["htid"] or i["hid"])
    client = crypto.client_key(g1, g2, *low14(i["pin"]), i["r"], i["x"], t)
    server = crypto.server_key(z, i["sst"], i["w"], i["u"], i["ut"])
    made = {"g1": g1, "g2": g2, "z": z, "t": t, "client_key": client, "server_key": server}
    assert {k: v.hex() for k, v in made.items()} == {k: out[k] for k in made}
    assert (client == server) == out["keys_equal"]


@pytest.mark.parametrize("vector", of_op("elligator_decode"))
def test_decoding(vector: dict[str, Any]) -> None:
    encoded = inputs_of(vector)["encoded"]
    if vector["out"]["rc"]:
        with pytest.raises(mpin.InvalidPointError):
            crypto.decoding(encoded)
    else:
        point = crypto.decoding(encoded)
        assert point.hex() == vector["out"]["point"]
        again = crypto.encoding(point)
        assert again != encoded
        assert crypto.decoding(again) == point


@pytest.mark.parametrize("vector", of_kind("registration"))
def test_registration_with_a_key_pair(vector: dict[str, Any]) -> None:
    i, out = vector["input"], vector["output"]
    z = bytes.fromhex(i["z"])
    public_key = crypto.get_dvs_public_key(z)
    id = bytes.fromhex(i["mpinId"]) + public_key
    hashed = crypto.hash_id(id)
    shares = [crypto.get_client_secret(bytes.fromhex(i[s]), hashed) for s in ("s1", "s2")]
    secret = crypto.get_g1_multiple(z, crypto.recombine_g1(*shares))
    assert public_key.hex() == out["publicKey"]
    assert secret.hex() == out["zTimesCombined"]
    assert crypto.extract_pin(id, *decimal(i["pin"]), secret).hex() == out["token"]
    assert crypto.extract_factor(id, *decimal(i["pin"]), secret).hex() == out["token"]
    assert crypto.restore_factor(id, *decimal(i["pin"]), bytes.fromhex(out["token"])) == secret


@pytest.mark.parametrize("vector", of_kind("dvs-sign"))
def test_signature(vector: dict[str, Any]) -> None:
    i, out, user = vector["input"], vector["output"], REGISTRATIONS[vector["input"]["registration"]]
    public_key, token = bytes.fromhex(user["output"]["publicKey"]), bytes.fromhex(user["output"]["token"])
    secret = bytes.fromhex(user["output"]["serverSecret"])
    id = bytes.fromhex(user["input"]["mpinId"]) + public_key
    x, message, time = bytes.fromhex(i["x"]), bytes.fromhex(i["message"]), i["timestamp"]
    u, ut, v = crypto.client(0, id, x, *decimal(user["input"]["pin"]), token, None, time, message)
    y = crypto.get_y(time, u, message)
    assert (u.hex(), ut, v.hex(), y.hex()) == (out["u"], None, out["v"], out["y"])
    assert crypto.server(0, id, secret, public_key, u, None, v, time, message) is None
    assert crypto.server(0, id, secret, None, u, None, v, time, message) is not None
    assert crypto.server(0, id, secret, public_key, u, None, v, time, message + b".") is not None
    with crypto.ServerContext(secret) as context:
        assert context.verify_dvs(public_key, id, u, y, v)
        assert not context.verify_dvs(crypto.get_dvs_public_key(x), id, u, y, v)


@pytest.mark.parametrize("date", [0, 20778])
def test_one_pass_tells_the_pin_error(date: int) -> None:
    id, s, x = b"bob", crypto.random_generate(), crypto.random_generate()
    hashed = crypto.hash_id(id)
    permit = crypto.get_client_permit(date, s, hashed) if date else None
    token = crypto.extract_pin(id, *decimal("1234"), crypto.get_client_secret(s, hashed))
    for pin, error in (("1234", None), ("1240", 6)):
        u, ut, v = crypto.client(date, id, x, *decimal(pin), token, permit, 1, b"")
        found = crypto.server(date, id, crypto.get_server_secret(s), None, u, ut, v, 1, b"")
        assert (crypto.kangaroo(*found) if found else None) == error


@pytest.mark.parametrize("time", [0, -1, 2**32, 1_700_000_000_000, 2**63, 2**64 + 1, -(2**64) + 1])
def test_a_time_that_is_not_in_seconds_is_refused(time: int) -> None:
    with pytest.raises(mpin.WrongParameterError):
        crypto.get_y(time, crypto.map_to_g1(bytes(32)), b"message")


def test_a_changed_pin_is_the_only_right_one() -> None:
    id, s = b"carol", crypto.random_generate()
    secret = crypto.get_client_secret(s, crypto.hash_id(id))
    old = crypto.pin_to_scalar(PinMapping.LEGACY_HASH, b"1234")
    token = crypto.extract_pin(id, *old, secret)
    changed = crypto.change_pin(id, *old, *decimal("654321"), token)
    assert changed == crypto.extract_pin(id, *decimal("654321"), secret)
    assert crypto.change_pin(id, *decimal("0"), *decimal("654321"), token) != changed


def test_a_key_pair_is_new_each_time() -> None:
    z, public_key = crypto.get_dvs_keypair()
    assert crypto.get_dvs_public_key(z) == public_key
    assert crypto.get_dvs_keypair() != (z, public_key)

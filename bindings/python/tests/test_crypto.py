"""The cryptographic functions return the results in Tests/Vectors."""

from typing import Any, Callable, Optional

import pytest
from conftest import vectors

import mpin
from mpin import crypto
from mpin.crypto import PinMapping

OK, BAD_PIN = 0, -19


def octets(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else bytes.fromhex(text)


def legacy_pin(pin: int) -> "tuple[bytes, int]":
    return crypto.pin_to_scalar(PinMapping.LEGACY14, str(pin).encode())


def hash_id(i: dict[str, Any]) -> dict[str, Any]:
    return {"hash": crypto.hash_id(i["id"])}


def map_to_g1(i: dict[str, Any]) -> dict[str, Any]:
    return {"point": crypto.map_to_g1(i["hash"])}


def client_secret(i: dict[str, Any]) -> dict[str, Any]:
    return {"secret": crypto.get_client_secret(i["s"], i["hash_id"])}


def server_secret(i: dict[str, Any]) -> dict[str, Any]:
    return {"secret": crypto.get_server_secret(i["s"])}


def client_secret_shares(i: dict[str, Any]) -> dict[str, Any]:
    shares = [crypto.get_client_secret(i[s], i["hash_id"]) for s in ("s1", "s2")]
    return {"share1": shares[0], "share2": shares[1], "secret": crypto.recombine_g1(*shares)}


def server_secret_shares(i: dict[str, Any]) -> dict[str, Any]:
    shares = [crypto.get_server_secret(i[s]) for s in ("s1", "s2")]
    return {"share1": shares[0], "share2": shares[1], "secret": crypto.recombine_g2(*shares)}


def time_permit_shares(i: dict[str, Any]) -> dict[str, Any]:
    shares = [crypto.get_client_permit(i["date"], i[s], i["hash_id"]) for s in ("s1", "s2")]
    return {"share1": shares[0], "share2": shares[1], "permit": crypto.recombine_g1(*shares)}


def time_permit(i: dict[str, Any]) -> dict[str, Any]:
    return {"permit": crypto.get_client_permit(i["date"], i["s"], i["hash_id"])}


def extract_pin(i: dict[str, Any]) -> dict[str, Any]:
    scalar, bits = legacy_pin(i["pin"])
    return {
        "effective_scalar": int.from_bytes(scalar, "big"),
        "token": crypto.extract_pin(i["id"], scalar, bits, i["client_secret"]),
    }


def client_1(i: dict[str, Any]) -> dict[str, Any]:
    scalar, bits = legacy_pin(i["pin"])
    sec, u, ut = crypto.client_1(i["date"], i["id"], i["x"], scalar, bits, i["token"], i["permit"])
    return {"sec": sec, "u": u, "ut": ut}


def client_2(i: dict[str, Any]) -> dict[str, Any]:
    return {"v": crypto.client_2(i["x"], i["y"], i["sec"])}


def server_1(i: dict[str, Any]) -> dict[str, Any]:
    hid, htid = crypto.server_1(i["date"], i["id"])
    return {"hid": hid, "htid": htid}


def server_2(i: dict[str, Any]) -> dict[str, Any]:
    found = crypto.server_2(i["date"], i["hid"], i["htid"], i["y"], i["sst"], i["u"], i["ut"], i["v"])
    return {"rc": BAD_PIN, "e": found[0], "f": found[1]} if found else {"rc": OK}


def recombine_g1(i: dict[str, Any]) -> dict[str, Any]:
    return {"sum": crypto.recombine_g1(i["a"], i["b"])}


def recombine_g2(i: dict[str, Any]) -> dict[str, Any]:
    return {"sum": crypto.recombine_g2(i["a"], i["b"])}


def kangaroo(i: dict[str, Any]) -> dict[str, Any]:
    return {"pin_error": crypto.kangaroo(i["e"], i["f"])}


def pairing(i: dict[str, Any]) -> dict[str, Any]:
    return {"e": crypto.pairing(i["q"], i["p"])}


def pairing_product(i: dict[str, Any]) -> dict[str, Any]:
    return {"e": crypto.pairing_product(i["q1"], i["p1"], i["q2"], i["p2"])}


OPERATIONS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    f.__name__: f
    for f in (
        hash_id,
        map_to_g1,
        client_secret,
        server_secret,
        client_secret_shares,
        server_secret_shares,
        time_permit,
        time_permit_shares,
        extract_pin,
        client_1,
        client_2,
        server_1,
        server_2,
        recombine_g1,
        recombine_g2,
        kangaroo,
        pairing,
        pairing_product,
    )
}

VECTORS = [v for v in vectors() if v["op"] in OPERATIONS]


@pytest.mark.parametrize("vector", VECTORS, ids=[v["id"] for v in VECTORS])
def test_vector(vector: dict[str, Any]) -> None:
    inputs = {k: octets(v) if isinstance(v, str) else v for k, v in vector["in"].items()}
    expected = vector["out"]
    if expected.get("rc", OK) not in (OK, BAD_PIN) or expected.get("infinity"):
        with pytest.raises(mpin.InvalidPointError) as raised:
            OPERATIONS[vector["op"]](inputs)
        assert raised.value.code == -14
        return
    for name, value in OPERATIONS[vector["op"]](inputs).items():
        wanted = expected[name]
        if name == "pin_error":
            wanted = wanted or 0
        assert value == (octets(wanted) if isinstance(wanted, str) else wanted), name


def test_the_vectors_are_there() -> None:
    assert {v["op"] for v in VECTORS} == set(OPERATIONS)
    assert len(VECTORS) > 130


def login(registered: bytes, entered: bytes, date: int) -> bool:
    """A registration and a login with fresh random values."""
    id = b'{"userID": "bob@example.com"}'
    s, x, y = crypto.random_generate(), crypto.random_generate(), crypto.random_generate()
    hashed = crypto.hash_id(id)
    permit = crypto.get_client_permit(date, s, hashed) if date else None
    token = crypto.extract_pin(
        id, *crypto.pin_to_scalar(PinMapping.DECIMAL6, registered), crypto.get_client_secret(s, hashed)
    )
    pin = crypto.pin_to_scalar(PinMapping.DECIMAL6, entered)
    sec, u, ut = crypto.client_1(date, id, x, *pin, token, permit)
    v = crypto.client_2(x, y, sec)
    with crypto.ServerContext(crypto.get_server_secret(s)) as context:
        return context.verify(date, id, ut or u, y, v)


@pytest.mark.parametrize("date", [0, 20778])
def test_the_right_pin_is_accepted_and_another_one_is_not(date: int) -> None:
    assert login(b"123456", b"123456", date)
    assert not login(b"123456", b"123457", date)


def test_a_closed_context_is_refused() -> None:
    context = crypto.ServerContext(crypto.get_server_secret(crypto.random_generate()))
    context.close()
    context.close()
    with pytest.raises(mpin.InvalidHandleError):
        context.verify(0, b"id", bytes(65), bytes(32), bytes(65))


@pytest.mark.parametrize("size", [0, 31, 33, 1000])
def test_a_wrong_length_is_a_value_error(size: int) -> None:
    with pytest.raises(ValueError, match="WRONG_PARAMETER"):
        crypto.map_to_g1(bytes(size))


def test_octets_may_be_of_any_kind() -> None:
    expected = crypto.hash_id(b"alice")
    assert crypto.hash_id(bytearray(b"alice")) == expected
    assert crypto.hash_id(memoryview(b"alice")) == expected
    assert crypto.hash_id(b"") == bytes.fromhex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")

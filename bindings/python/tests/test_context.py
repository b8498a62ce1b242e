"""Every callback that a program may supply, and every flow with them."""

import json
import os
import pathlib
from collections.abc import Iterator
from typing import Callable

import pytest
from fake_server import URL, Server

import mpin
from mpin import Context, HTTPRequest, HTTPResponse, ImportFormat, LogLevel, State, StorageKind, crypto


class Memory:
    """A store in memory."""

    def __init__(self) -> None:
        self.kept: "dict[StorageKind, bytes]" = {}

    def get(self, kind: StorageKind) -> bytes:
        return self.kept.get(kind, b"")

    def set(self, kind: StorageKind, data: bytes) -> None:
        self.kept[kind] = data


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def sdk(server: Server) -> Iterator[mpin.SDK]:
    context = Context(http=server, storage=Memory(), now=lambda: 1893456000.123, random=os.urandom)
    with mpin.SDK(backend=URL, context=context, timeout=10) as made:
        yield made


def register(sdk: mpin.SDK) -> mpin.User:
    user = sdk.make_new_user("alice", "phone")
    sdk.start_registration_mfa(user, "wid", "token", "push")
    sdk.confirm_registration(user, "push")
    sdk.finish_registration(user, "1234")
    return user


def test_verification_and_registration(sdk: mpin.SDK) -> None:
    user = sdk.make_new_user("alice", "phone")
    sdk.start_verification(user, "client")
    assert user.state is State.STARTED_VERIFICATION
    verification = sdk.finish_verification(user, "123456")
    assert verification == (1893456000, "access", "token")
    sdk.start_registration_mfa(user, activate_code=verification.activation_token)
    assert (user.state, user.state_legacy, user.pin_length) == (State.STARTED_REGISTRATION, 1, 4)
    assert (user.customer_id, user.app_id, user.device_name) == ("customer", "app", "phone")
    assert user.is_registration_token_set
    assert user.registration_expiration == (1893456000, 1893452400)
    with pytest.raises(mpin.FlowError):
        sdk.set_registration_token(user, "rest")
    sdk.confirm_registration(user)
    sdk.add_factor(user, "5678")
    sdk.finish_registration(user, "1234")
    sdk.start_authentication(user)
    with pytest.raises(mpin.IncorrectPinError):
        sdk.finish_authentication(user, "1234")
    sdk.add_factor(user, b"5678")
    assert '"authz-code"' in sdk.finish_authentication(user, "1234")


def test_logins(sdk: mpin.SDK, server: Server) -> None:
    user = register(sdk)
    sdk.start_authentication_mfa(user, "abcdef")
    assert sdk.finish_authentication_mfa(user, "1234", "abcdef") == "authz-code"
    sdk.check_access_number("1234560")
    with pytest.raises(mpin.IncorrectAccessNumberError):
        sdk.check_access_number("1234567")
    sdk.start_authentication(user)
    sdk.finish_authentication_an(user, "1234", "1234560")
    assert sdk.can_logout(user)
    sdk.logout(user)
    assert not sdk.can_logout(user)
    sdk.start_authentication_otp(user)
    assert sdk.finish_authentication_otp(user, "1234") == ("123456", 60, 1893456000, 1893455940)
    sdk.start_authentication_reg_code(user)
    assert sdk.finish_authentication_reg_code(user, "1234").otp == "123456"
    sdk.start_authentication_otp(user)
    server.answers["/authenticate"] = HTTPResponse(200, body=b"{}")
    assert sdk.finish_authentication_otp(user, "1234") == ("123456", 0, 0, 0)
    sdk.change_pin(user, "1234", "4321")
    sdk.start_authentication(user)
    sdk.finish_authentication(user, "4321")


def test_sessions_of_a_browser(sdk: mpin.SDK) -> None:
    details = sdk.get_session_details("abcdef")
    assert details.register_only
    assert (details.preroll_id, details.app_name, details.client_id) == ("alice", "app", "i")
    sdk.abort_session("abcdef")
    assert sdk.get_access_code(f"{URL}/authorize") == "abcdef"
    assert sdk.get_service_details(f"{URL}/page") == ("Page", URL, "rps", "/l")


def test_signing(sdk: mpin.SDK, server: Server) -> None:
    user = register(sdk)
    hash = mpin.hash_document(b"I owe you one beer.")
    assert mpin.verify_document(b"I owe you one beer.", hash)
    assert not mpin.verify_document(b"", hash)
    assert not mpin.verify_document(b"", b"")
    assert not user.can_sign
    sdk.start_registration_dvs(user, "1234")
    sdk.finish_registration_dvs(user, "2468")
    assert user.can_sign
    made = sdk.sign(user, hash, "2468")
    id = bytes.fromhex(made.mpin_id) + made.public_key
    assert (made.timestamp, made.dtas) == (1893456000, "WyJhIl0=")
    assert server.context.verify_dvs(made.public_key, id, made.u, crypto.get_y(made.timestamp, made.u, hash), made.v)


def test_users_of_customers(sdk: mpin.SDK, server: Server) -> None:
    first = register(sdk)
    assert sdk.make_new_user("alice").customer_id == "customer"
    second = sdk.make_new_user("alice", customer_id="other", app_id="app")
    answer = {"mpinId": b'{"userID": "alice"}'.hex(), "regOTT": "07" * 16, "active": True, "verificationType": "sms"}
    server.answers["/rps/user"] = HTTPResponse(200, [], json.dumps(answer).encode())
    sdk.start_registration_mfa(second)
    assert [user.customer_id for user in sdk.list_users()] == ["customer", "other"]
    assert [user.verification_type for user in sdk.list_users()] == ["em", "sms"]
    found = sdk.get_user("alice", "other", "app")
    assert found is not None and found.mpin_id == second.mpin_id != first.mpin_id
    assert sdk.get_user("alice", "other", "another") is None
    sdk.delete_user(first)
    remaining = sdk.get_user("alice")
    assert remaining is not None and remaining.customer_id == "other"
    sdk.delete_users()
    assert sdk.list_all_users() == []
    assert remaining.state is State.INVALID


def test_users_of_backends(sdk: mpin.SDK) -> None:
    register(sdk).close()
    assert sdk.user_exists("alice") and not sdk.user_exists("alice", customer_id="other")
    assert [user.id for user in sdk.list_backend_users(URL)] == ["alice"]
    assert sdk.list_backends() == [URL]
    assert sdk.damaged_records() == 0
    with pytest.raises(mpin.StorageError):
        sdk.import_storage(ImportFormat.CLIENT_JS, "no JSON")
    sdk.destroy()
    with pytest.raises(mpin.FlowError):
        sdk.list_users()


def test_headers_and_domains(sdk: mpin.SDK, server: Server) -> None:
    sdk.set_client_id("client")
    sdk.add_custom_header("X-Mine", "1")
    sdk.test_backend(URL)
    sent = {name.lower(): value for name, value in server.requests[-1].headers}
    assert (sent["x-miracl-cid"], sent["x-mine"]) == ("client", "1")
    sdk.clear_custom_headers()
    sdk.add_trusted_domain("example.org")
    with pytest.raises(mpin.UntrustedDomainError):
        sdk.test_backend(URL)
    sdk.clear_trusted_domains()
    sdk.test_backend(URL)
    assert "x-mine" not in {name.lower() for name, _ in server.requests[-1].headers}


def test_an_exception_carries_what_the_server_said(sdk: mpin.SDK, server: Server) -> None:
    server.answers["/rps/clientSettings"] = HTTPResponse(
        429, [("Retry-After", "17"), ("X-Request-Id", "r-8")], b'{"message": "slowly"}'
    )
    with pytest.raises(mpin.TooManyRequestsError) as raised:
        sdk.test_backend(URL)
    error = raised.value
    assert (error.http_status, error.retry_after, error.server_error, error.request_id) == (429, 17, "slowly", "r-8")


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (OSError("unplugged"), mpin.NetworkError),
        (TimeoutError("late"), mpin.TimedOutError),
        (mpin.CanceledError("enough"), mpin.CanceledError),
    ],
)
def test_what_a_callback_raises_is_the_cause(
    sdk: mpin.SDK, server: Server, raised: Exception, expected: "type[mpin.MPinError]"
) -> None:
    def fail(request: HTTPRequest) -> HTTPResponse:
        raise raised

    with mpin.SDK(context=Context(http=fail, storage=Memory()), timeout=1) as broken:
        with pytest.raises(expected) as caught:
            broken.set_backend(URL)
        assert caught.value.__cause__ is raised


def test_a_store_that_fails(server: Server) -> None:
    class Full(Memory):
        def set(self, kind: StorageKind, data: bytes) -> None:
            raise OSError("the disk is full")

    with pytest.raises(mpin.StorageError) as raised, mpin.SDK(backend=URL, context=Context(server, Full())) as sdk:
        register(sdk)
    assert isinstance(raised.value.__cause__, OSError)


def test_what_is_stored_is_found_again(server: Server) -> None:
    lines: "list[tuple[LogLevel, str]]" = []
    memory = Memory()
    key = os.urandom(32)
    context = Context(server, memory, lambda: key, log=lambda level, text: lines.append((level, text)))
    with mpin.SDK(backend=URL, context=context) as sdk:
        register(sdk).close()
    assert set(memory.kept) == {StorageKind.USERS}
    with mpin.SDK(backend=URL, context=context) as sdk:
        (user,) = sdk.list_users()
        sdk.start_authentication(user)
        sdk.finish_authentication(user, "1234")
    assert not any("1234" in text for _, text in lines)
    with pytest.raises(mpin.StorageError):
        mpin.SDK(backend=URL, context=Context(server, memory, lambda: os.urandom(32)))


@pytest.mark.parametrize("random", [lambda size: b"", lambda size: bytes(size)])
def test_random_numbers_that_are_none(server: Server, random: Callable[[int], bytes]) -> None:
    with pytest.raises(mpin.RandomFailedError):
        mpin.SDK(context=Context(server, Memory(), random=random))


def test_a_callback_that_calls_again(server: Server) -> None:
    caught = []

    def call_again(request: HTTPRequest) -> HTTPResponse:
        assert not request.is_canceled()
        with pytest.raises(mpin.FlowError):
            client.list_all_users()
        caught.append(request.method)
        return server(request)

    with mpin.SDK(context=Context(call_again, Memory())) as client:
        client.set_backend(URL)
    assert caught == ["GET"]


def test_a_passphrase_opens_the_store(tmp_path: pathlib.Path) -> None:
    with mpin.SDK(tmp_path / "store", storage_passphrase="correct horse", context=Context(Server())) as sdk:
        sdk.set_backend(URL)
        register(sdk).close()
    with pytest.raises(mpin.StorageError):
        mpin.SDK(tmp_path / "store", storage_passphrase="wrong horse")
    with mpin.SDK(tmp_path / "store", storage_passphrase=bytearray(b"correct horse")) as sdk:
        assert [user.id for user in sdk.list_all_users()] == ["alice"]

"""Users, errors and handles. Registration and login at a real server are tested by test_flow.py."""

import ctypes
import gc
import http.server
import json
import pathlib
import socket
import threading
from collections.abc import Iterator

import pytest

import mpin
from mpin import State
from mpin._native import lib

SETTINGS = {
    "appID": "c0ffee",
    "registerURL": "/rps/user",
    "signatureURL": "/rps/signature",
    "certivoxURL": "/dta/",
    "timePermitsURL": "/rps/timePermit",
    "mpinAuthServerURL": "/rps",
    "authenticateURL": "/authenticate",
    "usePermits": False,
    "accessNumberDigits": 7,
}


class ClientSettings(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(SETTINGS).encode()
        self.send_response(200 if self.path == "/rps/clientSettings" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def backend() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), ClientSettings) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_self_test() -> None:
    mpin.self_test()


def test_users(sdk: mpin.SDK, backend: str) -> None:
    sdk.set_backend(backend)
    with sdk.make_new_user("älice@example.com") as user:
        assert (user.id, user.backend, user.mpin_id, user.state) == ("älice@example.com", backend, "", State.INVALID)
        assert repr(user) == f"<mpin.User 'älice@example.com' at '{backend}': INVALID>"
    assert repr(user) == "<mpin.User: closed>"
    assert sdk.get_user("nobody") is None
    assert sdk.list_users() == sdk.list_all_users() == []


def test_client_params(sdk: mpin.SDK, backend: str) -> None:
    sdk.test_backend(backend)
    with pytest.raises(mpin.FlowError):
        sdk.get_client_param("appID")
    sdk.set_backend(backend)
    assert sdk.get_client_param("appID") == "c0ffee"
    assert sdk.get_client_param("accessNumberDigits") == "7"
    assert sdk.get_client_param("none") == ""


def test_backend_at_once(tmp_path: pathlib.Path, backend: str) -> None:
    with mpin.SDK(str(tmp_path / "store"), backend=backend, timeout=5) as sdk:
        assert sdk.get_client_param("appID") == "c0ffee"


def test_the_message_says_what_happened(sdk: mpin.SDK) -> None:
    with pytest.raises(mpin.UntrustedDomainError, match="UNTRUSTED_DOMAIN_ERROR: .+"):
        sdk.set_backend("http://example.com")
    with pytest.raises(mpin.NetworkError) as raised:
        sdk.set_backend("http://127.0.0.1:1")
    assert (raised.value.code, raised.value.status) == (4, "NETWORK_ERROR")


@pytest.mark.parametrize("pin", ["1234", b"1234", bytearray(b"1234")])
def test_a_pin_may_be_of_any_kind(sdk: mpin.SDK, backend: str, pin: mpin.Pin) -> None:
    sdk.set_backend(backend)
    with sdk.make_new_user("a") as user, pytest.raises(mpin.FlowError):
        sdk.finish_registration(user, pin)
    with sdk.make_new_user("a") as user, pytest.raises(mpin.FlowError):
        sdk.finish_authentication(user, pin)


@pytest.mark.parametrize("pin", ["12\x0034", b"\x00"])
def test_a_pin_with_a_nul_is_not_cut_short(sdk: mpin.SDK, backend: str, pin: mpin.Pin) -> None:
    sdk.set_backend(backend)
    with sdk.make_new_user("a") as user, pytest.raises(mpin.InvalidArgumentError):
        sdk.finish_registration(user, pin)


def test_texts_with_a_nul_are_not_cut_short(sdk: mpin.SDK, backend: str, tmp_path: pathlib.Path) -> None:
    sdk.set_backend(backend)
    with pytest.raises(ValueError, match="NUL"):
        sdk.make_new_user("a\x00b")
    with pytest.raises(ValueError, match="NUL"):
        mpin.SDK(str(tmp_path / "a\x00b"))


def test_a_store_that_cannot_be_made(tmp_path: pathlib.Path) -> None:
    with pytest.raises(mpin.StorageError):
        mpin.SDK(tmp_path / "no" / "folder" / "store")


@pytest.mark.parametrize("timeout", [0, -1, 1e12, float("nan")])
def test_a_time_out_must_be_a_time(tmp_path: pathlib.Path, timeout: float) -> None:
    with pytest.raises(mpin.InvalidArgumentError):
        mpin.SDK(tmp_path / "store", timeout=timeout)


def test_closed_objects_are_refused(tmp_path: pathlib.Path, backend: str) -> None:
    sdk = mpin.SDK(tmp_path / "store", backend=backend)
    user = sdk.make_new_user("a")
    sdk.close()
    sdk.close()
    for call in (sdk.list_users, sdk.cancel, sdk.clear_users, lambda: sdk.start_registration(user), lambda: user.id):
        with pytest.raises(mpin.InvalidHandleError):
            call()
    user.close()


def test_a_user_of_another_sdk_is_refused(tmp_path: pathlib.Path, backend: str) -> None:
    with mpin.SDK(tmp_path / "1", backend=backend) as one, mpin.SDK(tmp_path / "2", backend=backend) as other:
        with one.make_new_user("a") as user, pytest.raises(mpin.InvalidHandleError):
            other.start_registration(user)


def test_objects_are_released_with_their_last_reference(tmp_path: pathlib.Path, backend: str) -> None:
    sdk = mpin.SDK(tmp_path / "store", backend=backend)
    user = sdk.make_new_user("a")
    handles = sdk._handle, user._handle
    del sdk, user
    gc.collect()
    state = ctypes.c_int32()
    assert lib.mpin_sdk_cancel(handles[0]) == mpin.InvalidHandleError.code
    assert lib.mpin_user_get_state(handles[1], state) == mpin.InvalidHandleError.code


def test_cancel_ends_a_call_in_another_thread(sdk: mpin.SDK, silent: str) -> None:
    caught = []

    def wait() -> None:
        try:
            sdk.set_backend(silent)
        except mpin.MPinError as error:
            caught.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while thread.is_alive():  # This works only if the call does not hold the lock of the interpreter.
        sdk.cancel()
        thread.join(0.01)
    assert [type(error) for error in caught] == [mpin.CanceledError]


def test_a_silent_server_is_given_up(tmp_path: pathlib.Path, silent: str) -> None:
    with mpin.SDK(tmp_path / "store", timeout=0.2) as sdk, pytest.raises(TimeoutError):
        sdk.set_backend(silent)


def test_threads_with_one_sdk(sdk: mpin.SDK, backend: str) -> None:
    sdk.set_backend(backend)
    ids = [f"user{n}" for n in range(50)]
    found = []

    def make(id: str) -> None:
        with sdk.make_new_user(id) as user:
            found.append(user.id)

    threads = [threading.Thread(target=make, args=(id,)) for id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(ids)

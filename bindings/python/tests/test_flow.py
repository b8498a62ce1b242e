"""Registration and login against a real server."""

import json
import pathlib
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from typing import Any, Callable

import pytest

import mpin
from mpin import State

LOGIN = pathlib.Path(__file__).parents[1] / "examples/login.py"


@pytest.fixture
def open_sdk(tmp_path: pathlib.Path, server: str) -> Iterator[Callable[[], mpin.SDK]]:
    """Opens the same store again and again."""
    yield lambda: mpin.SDK(tmp_path / "store", backend=server)


def register(sdk: mpin.SDK, id: str, pin: mpin.Pin) -> mpin.User:
    user = sdk.make_new_user(id)
    sdk.start_registration(user)
    assert user.state is State.ACTIVATED
    sdk.confirm_registration(user)
    sdk.finish_registration(user, pin)
    assert user.state is State.REGISTERED
    return user


@pytest.mark.parametrize("pin", ["1234", b"12345", bytearray(b"123456")])
def test_the_right_pin_logs_in(open_sdk: Callable[[], mpin.SDK], pin: mpin.Pin) -> None:
    with open_sdk() as sdk:
        with register(sdk, "alice", pin) as user:
            assert "alice" in bytes.fromhex(user.mpin_id).decode()
    with open_sdk() as sdk:
        (user,) = sdk.list_users()
        assert sdk.get_auth_data(user) == ""
        sdk.start_authentication(user)
        answer = sdk.finish_authentication(user, pin)
        assert json.loads(answer) == answer.data != {}
        assert all(answer[name] == value for name, value in answer.data.items())
        assert sdk.get_auth_data(user) == answer
        assert str(user.state) == f"{user.state}" == "REGISTERED"


def test_three_wrong_pins_block(open_sdk: Callable[[], mpin.SDK]) -> None:
    with open_sdk() as sdk, register(sdk, "bob", "1234") as user:
        for state in (State.REGISTERED, State.REGISTERED, State.BLOCKED):
            sdk.start_authentication(user)
            with pytest.raises(mpin.IncorrectPinError) as raised:
                sdk.finish_authentication(user, "4321")
            assert "4321" not in str(raised.value)
            assert user.state is state
        with pytest.raises(mpin.FlowError):
            sdk.finish_authentication(user, "1234")
        sdk.start_authentication(user)
        with pytest.raises(mpin.IncorrectPinError):
            sdk.finish_authentication(user, "1234")
        assert user.state is State.BLOCKED


@pytest.mark.parametrize("pin", ["123", "1234567", "12a4", "١٢٣٤"])
def test_a_pin_that_is_none_is_not_sent(open_sdk: Callable[[], mpin.SDK], pin: str) -> None:
    with open_sdk() as sdk, register(sdk, "carol", "1234") as user:
        for _ in range(5):
            sdk.start_authentication(user)
            with pytest.raises(mpin.PinInvalidError):
                sdk.finish_authentication(user, pin)
        with pytest.raises(mpin.PinInputCanceledError):
            sdk.finish_authentication(user, "")
        assert user.state is State.REGISTERED


def post(url: str, body: object) -> "dict[str, Any]":
    headers = {"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        found: dict[str, Any] = json.loads(answer.read() or b"{}")
        return found


class Browser(threading.Thread):
    """Shows a code, polls until the phone has proved its PIN, and redeems the result at the application."""

    def __init__(self, server: str, what: str) -> None:
        super().__init__()
        self.server, self.session = server, post(f"{server}/rps/{what}", {})
        self.is_logged_in = False
        self.start()

    def run(self) -> None:
        for _ in range(50):
            answer = post(f"{self.server}/rps/access", {"webOTT": self.session["webOTT"], "wait": 1})
            if answer["status"] == "authenticate":
                with urllib.request.urlopen(f"{self.server}/rps/clientSettings", timeout=10) as settings:
                    path = json.load(settings)["authenticateURL"]
                post(self.server + path, {"mpinResponse": {"authOTT": answer["authOTT"]}})
                self.is_logged_in = True
                return


@pytest.mark.parametrize(("what", "member"), [("getAccessNumber", "accessNumber"), ("getQrUrl", "qrUrl")])
def test_a_phone_logs_a_browser_in(open_sdk: Callable[[], mpin.SDK], server: str, what: str, member: str) -> None:
    with open_sdk() as sdk, register(sdk, f"heidi{member}", "1234") as user:
        browser = Browser(server, what)
        code = browser.session[member].rpartition("#")[2]
        sdk.check_access_number(code)
        sdk.start_authentication(user)
        with pytest.raises(mpin.IncorrectPinError) as raised:
            sdk.finish_authentication_an(user, "4321", code)
        assert raised.value.http_status == 401
        sdk.finish_authentication_an(user, "1234", code)
        browser.join()
        assert browser.is_logged_in
        sdk.start_authentication(user)
        with pytest.raises(mpin.IncorrectAccessNumberError):
            sdk.finish_authentication_an(user, "1234", code)


def test_one_time_password_and_change_of_the_pin(open_sdk: Callable[[], mpin.SDK]) -> None:
    with open_sdk() as sdk, register(sdk, "ivan", "1234") as user:
        sdk.start_authentication_otp(user)
        code = sdk.finish_authentication_otp(user, "1234")
        assert len(code.otp) == 6 and code.ttl_seconds > 0
        sdk.change_pin(user, "1234", "987654")
        sdk.start_authentication(user)
        sdk.finish_authentication(user, "987654")


def test_a_deleted_user_is_gone(open_sdk: Callable[[], mpin.SDK]) -> None:
    with open_sdk() as sdk, register(sdk, "dave", "1234") as user:
        register(sdk, "erin", "1234").close()
        assert [u.id for u in sdk.list_users()] == ["dave", "erin"]
        sdk.delete_user(user)
        assert user.state is State.INVALID
        assert [u.id for u in sdk.list_all_users()] == ["erin"]
    with open_sdk() as sdk:
        assert sdk.get_user("dave") is None


def test_the_example(tmp_path: pathlib.Path, server: str) -> None:
    def run(command: str, pin: str) -> "tuple[int, str]":
        arguments = [sys.executable, str(LOGIN), "--backend", server, "--store", str(tmp_path / "store"), command]
        result = subprocess.run([*arguments, "frank"], input=f"{pin}\n", capture_output=True, text=True)
        return result.returncode, result.stdout

    assert run("login", "1234") == (1, "")
    assert run("register", "1234") == (0, "OK\n")
    assert run("login", "1234") == (0, "OK\n")
    assert run("login", "1") == (1, "PIN_INVALID\n")
    assert run("login", "1111") == (3, "INCORRECT_PIN\n")
    assert run("login", "1111") == (3, "INCORRECT_PIN\n")
    assert run("login", "1111") == (4, "BLOCKED\n")
    assert run("login", "1234") == (4, "BLOCKED\n")
    assert run("dance", "1234")[0] == 2

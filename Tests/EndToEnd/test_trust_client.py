"""Our client at our server, on the wire of MIRACL Trust (TRUST wire section 5): every flow, by the functions of mpin.h, with
both D-TAs, the RPS and the RPA in processes of their own."""

from __future__ import annotations

import base64
import ctypes
import hashlib
import json
import os
from ctypes import POINTER, byref, c_char, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_void_p
from pathlib import Path
from typing import Any

import pytest
from trust_phone import Client, good
from trust_server import PROJECT, TrustServer

OK, REVOKED, INCORRECT_PIN, VERIFICATION_FAILED, PIN_INVALID = 0, 10, 11, 21, 37
REQUEST_BACKOFF, ACTIVATION_TOKEN_INVALID, PROJECT_MISMATCH, SESSION_INVALID, USER_NOT_FOUND = 41, 42, 43, 45, 46
STATE_REGISTERED, STATE_REVOKED = 4, 6
PIN = b"1234"
lib = ctypes.CDLL(os.environ["MPIN_LIBRARY"])


class Structure(ctypes.Structure):
    def __init__(self) -> None:
        super().__init__()
        self.size = ctypes.sizeof(self)


class Config(Structure):
    _fields_ = [
        ("size", c_size_t), ("storage_path", c_char_p), ("storage_key_path", c_char_p), ("backend", c_char_p),
        ("rps_prefix", c_char_p), ("ca_file", c_char_p), ("timeout_ms", ctypes.c_uint32),
        ("allow_insecure", ctypes.c_uint32),
    ]  # fmt: skip


class Verification(Structure):
    _fields_ = [("size", c_size_t), ("backoff", c_int64), ("method", c_int32)]


class Activation(Structure):
    _fields_ = [
        ("size", c_size_t), ("expire_time", c_int64), ("project_id", c_char * 256), ("user_id", c_char * 256),
        ("access_id", c_char * 256), ("token", c_char * 1024),
    ]  # fmt: skip


class TrustError(Structure):
    _fields_ = [
        ("size", c_size_t), ("retry_at", c_int64), ("code", c_char * 64), ("project_id", c_char * 256),
        ("access_id", c_char * 256),
    ]  # fmt: skip


class Session(Structure):
    _fields_ = [
        ("size", c_size_t), ("access_id", c_char * 256), ("project_id", c_char * 256), ("user_id", c_char * 256),
        ("description", c_char * 1024), ("hash", c_uint8 * 256), ("hash_len", c_size_t), ("project_name", c_char * 256),
        ("project_logo_url", c_char * 1024), ("pin_length", c_int32),
    ]  # fmt: skip


class QuickCode(Structure):
    _fields_ = [("size", c_size_t), ("expire_time", c_int64), ("ttl_seconds", c_int32), ("code", c_char * 64)]


class Signature(Structure):
    _fields_ = [
        ("size", c_size_t), ("timestamp", c_int64), ("u", c_uint8 * 65), ("v", c_uint8 * 65),
        ("public_key", c_uint8 * 128), ("mpin_id", c_char * 4096), ("dtas", c_char * 1024),
    ]  # fmt: skip


class Refused(Exception):
    """A call that failed, with its status."""


class Phone:
    """A device: one store, one client core."""

    def __init__(self, folder: Path, url: str, project: str = PROJECT) -> None:
        self.url, self.sdk = url, c_void_p()
        config = Config()
        config.storage_path = str(folder / "store").encode()
        assert lib.mpin_sdk_new(byref(self.sdk)) == OK
        assert lib.mpin_sdk_init(self.sdk, byref(config)) == OK
        self.choose(project)

    def choose(self, project: str) -> None:
        self.call("trust_set_project", project.encode(), self.url.encode(), b"phone")

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(lib, "mpin_" + name)(self.sdk, *arguments)
        if status != OK:
            raise Refused(status)

    def refused(self, name: str, *arguments: Any) -> int:
        with pytest.raises(Refused) as error:
            self.call(name, *arguments)
        return int(error.value.args[0])

    def error(self) -> TrustError:
        error = TrustError()
        self.call("trust_get_last_error", byref(error))
        return error

    def verify(self, user: str) -> Verification:
        mail = Verification()
        self.call("trust_send_verification_email", byref(mail), user.encode(), None)
        return mail

    def start(self, user: str, token: bytes) -> c_void_p:
        handle = c_void_p()
        self.call("trust_start_registration", byref(handle), user.encode(), token, None)
        return handle

    def register(self, trust: TrustServer, user: str, pin: bytes = PIN) -> c_void_p:
        self.verify(user)
        made = Activation()
        self.call("trust_get_activation_token", byref(made), user.encode(), trust.code(user).encode())
        handle = self.start(user, made.token)
        self.call("trust_finish_registration", handle, pin)
        return handle

    def jwt(self, handle: c_void_p, pin: bytes = PIN) -> str:
        out, size = ctypes.create_string_buffer(8192), c_size_t(8192)
        self.call("trust_authenticate", handle, out, byref(size), pin)
        return out.value.decode()

    def state(self, handle: c_void_p) -> int:
        state = c_int32()
        assert lib.mpin_user_get_state(handle, byref(state)) == OK
        return state.value

    def mpin_id(self, handle: c_void_p) -> str:
        out, size = ctypes.create_string_buffer(8192), c_size_t(8192)
        assert lib.mpin_user_get_mpin_id(handle, out, byref(size)) == OK
        return out.value.decode()

    def free(self) -> None:
        lib.mpin_sdk_free(self.sdk)


lib.mpin_trust_sign.argtypes = [c_void_p, c_void_p, POINTER(Signature), c_char_p, c_size_t, c_char_p]
lib.mpin_trust_sign_session.argtypes = [c_void_p, c_void_p, c_char_p, c_char_p, c_size_t, c_char_p]


@pytest.fixture
def phone(tmp_path: Path, trust: TrustServer) -> Any:
    made = Phone(tmp_path, trust.url)
    yield made
    made.free()


def claims(jwt: str) -> dict[str, Any]:
    body = jwt.split(".")[1]
    return dict(json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))))


def test_register_and_log_in(trust: TrustServer, phone: Phone) -> None:
    handle = phone.register(trust, user := trust.user())
    told = claims(phone.jwt(handle))
    assert (told["sub"], told["aud"]) == (user, PROJECT)
    assert phone.refused("trust_authenticate", handle, None, None, b"12345") == PIN_INVALID


def test_the_link_of_the_mail(trust: TrustServer, phone: Phone) -> None:
    phone.verify(user := trust.user())
    made = Activation()
    link = f"https://app.example/verification/confirmation?user_id={user.replace('@', '%40')}&code={trust.code(user)}"
    phone.call("trust_get_activation_token_by_link", byref(made), link.encode())
    assert made.user_id.decode() == user and made.project_id.decode() == PROJECT
    handle = phone.start(user, made.token)
    phone.call("trust_finish_registration", handle, b"0042")
    assert claims(phone.jwt(handle, b"0042"))["sub"] == user
    # A token is good once.
    assert phone.refused("trust_start_registration", byref(c_void_p()), user.encode(), made.token, None) == (
        ACTIVATION_TOKEN_INVALID
    )


def test_what_the_mail_refuses(trust: TrustServer, phone: Phone) -> None:
    mail = phone.verify(user := trust.user())
    again = phone.refused("trust_send_verification_email", byref(Verification()), user.encode(), None)
    assert again == REQUEST_BACKOFF and phone.error().retry_at == mail.backoff > 0
    assert phone.error().code == b"REQUEST_BACKOFF"
    wrong = phone.refused("trust_get_activation_token", byref(Activation()), user.encode(), b"nope")
    assert wrong == VERIFICATION_FAILED


def test_wrong_pins_revoke_or_block(trust: TrustServer, phone: Phone) -> None:
    handle = phone.register(trust, trust.user())
    for _ in range(2):
        assert phone.refused("trust_authenticate", handle, None, None, b"4321") == INCORRECT_PIN
    phone.jwt(handle)
    last = [phone.refused("trust_authenticate", handle, None, None, b"4321") for _ in range(3)][-1]
    assert (last, phone.state(handle)) in ((REVOKED, STATE_REVOKED), (INCORRECT_PIN, STATE_REGISTERED))
    if last == INCORRECT_PIN:
        assert phone.error().retry_at > 0


def test_a_revoked_identity(trust: TrustServer, phone: Phone) -> None:
    handle = phone.register(trust, user := trust.user())
    trust.operate("user", "revoke", user)
    assert phone.refused("trust_authenticate", handle, None, None, PIN) == REVOKED
    assert phone.state(handle) == STATE_REVOKED
    assert lib.mpin_sdk_delete_user(phone.sdk, handle) == OK
    handle = c_void_p()
    phone.call("sdk_get_user", byref(handle), user.encode())
    assert not handle.value


@pytest.mark.parametrize("function", ["qr_code", "app_link", "push_payload"])
def test_log_in_a_page(trust: TrustServer, client: Client, phone: Phone, function: str) -> None:
    handle = phone.register(trust, user := trust.user())
    page = good(client.post("/rps/v2/session", {"projectId": PROJECT}))
    url = page["qrURL"].encode()
    session = Session()
    phone.call("trust_get_session_details", byref(session), url)
    assert session.project_id.decode() == PROJECT and session.hash_len == 0
    if function == "push_payload":
        phone.call("trust_authenticate_with_push_payload", PROJECT.encode(), user.encode(), url, PIN)
    else:
        phone.call(f"trust_authenticate_with_{function}", handle, url, PIN)
    done = client.access(page)
    assert done["status"] == "authenticated" and done["userId"] == user


def test_pushes_of_others(trust: TrustServer, phone: Phone) -> None:
    send = ("trust_authenticate_with_push_payload",)
    assert phone.refused(*send, b"other", b"a", b"https://x#1", PIN) == PROJECT_MISMATCH
    assert phone.refused(*send, None, b"nobody", b"https://x#1", PIN) == USER_NOT_FOUND


def test_abort(trust: TrustServer, client: Client, phone: Phone) -> None:
    handle = phone.register(trust, trust.user())
    page = good(client.post("/rps/v2/session", {"projectId": PROJECT}))
    phone.call("trust_abort_session", page["qrURL"].encode())
    assert client.access(page)["status"] == "abort"
    gone = b"https://x#" + b"0" * 32
    assert phone.refused("trust_authenticate_with_qr_code", handle, gone, PIN) == SESSION_INVALID


def test_a_quick_code_registers_another_device(trust: TrustServer, phone: Phone, tmp_path: Path) -> None:
    handle = phone.register(trust, user := trust.user())
    made = QuickCode()
    phone.call("trust_generate_quick_code", handle, byref(made), PIN)
    assert made.ttl_seconds > 0
    (tmp_path / "second").mkdir()
    second = Phone(tmp_path / "second", trust.url)
    other = second.start(user, made.code)
    second.call("trust_finish_registration", other, b"9876")
    assert claims(second.jwt(other, b"9876"))["sub"] == user
    assert second.mpin_id(other) != phone.mpin_id(handle)
    second.free()


def test_a_signature_of_a_document(trust: TrustServer, client: Client, phone: Phone) -> None:
    handle = phone.register(trust, trust.user())
    made, digest = Signature(), hashlib.sha256(b"I owe you one beer.").digest()
    phone.call("trust_sign", handle, byref(made), digest, len(digest), PIN)
    signature = {
        "hash": digest.hex(), "u": bytes(made.u).hex(), "v": bytes(made.v).hex(), "mpinId": made.mpin_id.decode(),
        "publicKey": bytes(made.public_key).hex(), "dtas": made.dtas.decode(),
    }  # fmt: skip
    token = {"Authorization": f"Bearer {trust.service_token()}"}
    body = {"signature": signature, "timestamp": made.timestamp, "type": "verification"}
    answer = client.http.post(client.url + "/dvs/verify", json=body, headers={**client.headers, **token}, timeout=60)
    assert claims(good(answer)["certificate"])["hash"] == digest.hex()


def test_a_signature_for_a_page(trust: TrustServer, client: Client, phone: Phone) -> None:
    handle = phone.register(trust, user := trust.user())
    digest = hashlib.sha256(b"pay").digest()
    wish = {"projectId": PROJECT, "userId": user, "description": "pay", "hash": digest.hex()}
    page = good(client.post("/rps/v2/session", wish))
    session = Session()
    phone.call("trust_get_session_details", byref(session), page["qrURL"].encode())
    assert bytes(session.hash[: session.hash_len]) == digest and session.description == b"pay"
    phone.call("trust_sign_session", handle, page["qrURL"].encode(), digest, len(digest), PIN)
    assert client.access(page)["status"] == "signed"


def test_a_renewal_that_the_user_does_not_see(trust: TrustServer, phone: Phone) -> None:
    handle = phone.register(trust, user := trust.user())
    before = phone.mpin_id(handle)
    trust.operate("user", "renew", user)
    assert claims(phone.jwt(handle))["sub"] == user
    assert phone.mpin_id(handle) != before
    phone.jwt(handle)


def test_several_projects_in_one_store(trust: TrustServer, phone: Phone) -> None:
    first = phone.register(trust, user := trust.user())
    trust.project("six-digits", "--pin-length", "6")
    phone.choose("six-digits")
    second = phone.register(trust, trust.user(), b"123456")
    assert claims(phone.jwt(second, b"123456"))["aud"] == "six-digits"
    count = c_size_t()
    phone.call("sdk_list_users", None, byref(count))
    assert count.value == 1
    phone.call("sdk_list_all_users", None, byref(count))
    assert count.value == 2
    phone.choose(PROJECT)
    assert claims(phone.jwt(first))["sub"] == user


def test_a_registration_over_an_identity_with_a_shorter_pin(trust: TrustServer, phone: Phone) -> None:
    trust.project("growing")
    phone.choose("growing")
    handle = phone.register(trust, user := trust.user())
    trust.operate("project", "set", "growing", "--pin-length", "6")
    code = QuickCode()
    phone.call("trust_generate_quick_code", handle, byref(code), PIN)
    again = phone.start(user, code.code)
    lengths = c_int32(), c_int32()
    assert lib.mpin_user_get_pin_length(again, byref(lengths[0])) == OK
    assert lib.mpin_user_get_registration_pin_length(again, byref(lengths[1])) == OK
    assert [length.value for length in lengths] == [4, 6]
    # The identity is good, with its own PIN, until the registration ends.
    phone.jwt(handle)
    assert phone.refused("trust_finish_registration", again, PIN) == PIN_INVALID
    phone.call("trust_finish_registration", again, b"123456")
    assert claims(phone.jwt(again, b"123456"))["sub"] == user
    assert phone.refused("trust_authenticate", handle, None, None, PIN) == PIN_INVALID


def test_export_and_import(trust: TrustServer, phone: Phone, tmp_path: Path) -> None:
    phone.register(trust, user := trust.user())
    path, count = tmp_path / "mfa.json", c_size_t()
    phone.call("trust_export_users", byref(count), str(path).encode())
    assert count.value == 1 and path.stat().st_mode & 0o777 == 0o600
    (entry,) = json.loads(path.read_text())
    assert entry["userId"] == user and entry["projectId"] == PROJECT and entry["state"] == "REGISTERED"
    (tmp_path / "other").mkdir()
    other = Phone(tmp_path / "other", trust.url)
    other.call("sdk_import_storage", byref(count), 3, path.read_bytes(), None)
    handle = c_void_p()
    other.call("sdk_get_user", byref(handle), user.encode())
    assert claims(other.jwt(handle))["sub"] == user
    other.free()

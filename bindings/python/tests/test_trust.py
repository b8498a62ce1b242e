"""The client of MIRACL Trust projects against a real server: registrations, logins, sessions and signatures."""

import asyncio
import base64
import email
import email.message
import inspect
import json
import os
import pathlib
import re
import stat
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ROOT, serve

import mpin
from mpin import State, VerificationMethod, aio

PIN = "1234"


class Service:
    """A server with two projects: `codes` mails codes, `links` mails links and has PINs of six digits."""

    def __init__(self, url: str, folder: pathlib.Path) -> None:
        self.url = url
        self.folder = folder
        self.run("project", "add", "codes", "--verification", "code")
        self.run("project", "add", "links", "--pin-length", "6", "--quickcodes", "verified")
        self.token = self.run("project", "token", "add", "codes", "backend").split()[-1]

    def run(self, *words: str) -> str:
        program = os.environ.get("MPIND", str(ROOT / "build/mpind"))
        done = subprocess.run(
            [program, *words, "--state-dir", str(self.folder / "state")], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def post(self, path: str, body: "dict[str, Any]", project: str = "codes", **headers: str) -> "dict[str, Any]":
        url = path if "://" in path else self.url + path
        headers = {"Content-Type": "application/json", "X-MIRACL-CID": project, **headers}
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def post_as_back_end(self, path: str, body: "dict[str, Any]") -> "dict[str, Any]":
        return self.post(path, body, Authorization=f"Bearer {self.token}")

    def session(self, **more: str) -> "dict[str, Any]":
        return self.post("/rps/v2/session", {"projectId": "codes", **more})

    def status(self, session: "dict[str, Any]") -> str:
        """How far the session is, as its page learns it."""
        return str(self.post("/rps/v2/access", {"webOTT": session["webOTT"]})["status"])

    def mail(self, user: str) -> str:
        """The text of the newest mail to a user, which may be on its way."""
        for _ in range(600):
            for path in sorted((self.folder / "mail").glob("*.eml"), reverse=True):
                message = email.message_from_bytes(path.read_bytes())
                if user in str(message["To"]):
                    return text_of(message)
            time.sleep(0.05)
        raise AssertionError(f"no mail to {user}")

    def code(self, user: str) -> str:
        found = re.search(r"^\s*(\d{6})\s*$", self.mail(user), re.MULTILINE)
        assert found, self.mail(user)
        return found[1]

    def link(self, user: str) -> str:
        found = re.search(r"https?://\S*code=\S*", self.mail(user))
        assert found, self.mail(user)
        return found[0]


def text_of(message: email.message.Message) -> str:
    parts = [part for part in message.walk() if part.get_content_type() == "text/plain"]
    octets = parts[0].get_payload(decode=True)
    assert isinstance(octets, bytes)
    return octets.decode()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("trust")
    with serve(folder, "--trust") as url:
        yield Service(url, folder)


@pytest.fixture
def trust(service: Service, tmp_path: pathlib.Path) -> Iterator[mpin.Trust]:
    with mpin.Trust(tmp_path / "store", project_id="codes", url=service.url, device_name="test") as made:
        yield made


def registered(service: Service, trust: mpin.Trust, user_id: str, pin: str = PIN) -> mpin.User:
    trust.send_verification_email(user_id)
    activation = trust.get_activation_token(user_id, service.code(user_id))
    return trust.register(user_id, activation.activation_token, lambda digits: pin)


def members_of(jwt: str) -> "dict[str, Any]":
    part = jwt.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def test_registration_by_code_and_login(service: Service, trust: mpin.Trust) -> None:
    who = "alice@example.com"
    mail = trust.send_verification_email(who)
    assert mail.method is VerificationMethod.CODE and mail.backoff > time.time()
    with pytest.raises(mpin.RequestBackoffError) as early:
        trust.send_verification_email(who)
    assert early.value.retry_at == mail.backoff and early.value.error_code == "REQUEST_BACKOFF"
    code = service.code(who)
    with pytest.raises(mpin.VerificationFailedError) as failed:
        trust.get_activation_token(who, f"{(int(code) + 1) % 10**6:06}")
    assert failed.value.http_status and failed.value.error_code
    activation = trust.get_activation_token(who, code)
    assert (activation.project_id, activation.user_id, activation.access_id) == ("codes", who, "")
    user = trust.start_registration(who, activation.activation_token)
    assert user.state is State.INVALID and user.pin_length == user.registration_pin_length == 4
    assert trust.list_users() == []
    with pytest.raises(mpin.PinInvalidError):
        trust.finish_registration(user, "123456")
    with pytest.raises(mpin.PinInputCanceledError):
        trust.finish_registration(user, "")
    trust.finish_registration(user, PIN)
    assert user.state is State.REGISTERED and user.customer_id == "codes"
    with pytest.raises(mpin.ActivationTokenInvalidError):
        trust.start_registration(who, activation.activation_token)
    claims = members_of(trust.authenticate(user, bytearray(PIN.encode())))
    assert claims["sub"] == who and claims["aud"] in ("codes", ["codes"])
    with pytest.raises(mpin.IncorrectPinError) as wrong:
        trust.authenticate(user, "4321")
    assert wrong.value.http_status and wrong.value.retry_at is None
    with pytest.raises(mpin.PinInvalidError):
        trust.authenticate(user, "123456")
    assert trust.authenticate(user, PIN)
    trust.change_pin(user, PIN, "9876")
    assert trust.authenticate(user, "9876")


def test_registration_by_link_in_another_project(service: Service, tmp_path: pathlib.Path) -> None:
    who = "bob+x@example.com"
    with mpin.Trust(tmp_path / "store", project_id="links", url=service.url) as trust:
        assert trust.send_verification_email(who).method is VerificationMethod.LINK
        link = service.link(who)
        with pytest.raises(mpin.InvalidArgumentError):
            trust.get_activation_token_by_link(link.partition("?")[0])
        activation = trust.get_activation_token_by_link(link)
        asked: list[int] = []

        def ask(digits: int) -> str:
            asked.append(digits)
            return "123456"

        user = trust.register(who, activation.activation_token, ask)
        assert asked == [6] and trust.authenticate(user, "123456")
        # A device that a QuickCode has registered makes none here.
        quick = trust.generate_quick_code(user, "123456")
        assert len(quick.code) == 6 and quick.ttl_seconds == 300 and quick.expire_time > time.time()
        with mpin.Trust(tmp_path / "other", project_id="links", url=service.url) as other:
            second = other.register(who, quick.code, lambda digits: "654321")
            assert other.authenticate(second, "654321")
            with pytest.raises(mpin.OperationNotAllowedError):
                other.generate_quick_code(second, "654321")
        # A user belongs to its project.
        trust.set_project("codes", service.url)
        assert trust.list_users() == [] and trust.get_user(who) is None
        assert [found.id for found in trust.list_all_users()] == [who]
        with pytest.raises(mpin.FlowError):
            trust.authenticate(user, "123456")


def test_custom_verification(service: Service, trust: mpin.Trust) -> None:
    who = "carol@example.com"
    made = service.post_as_back_end("/verification", {"projectId": "codes", "userId": who, "delivery": "no"})
    activation = trust.get_activation_token_by_link(made["verificationURL"])
    user = trust.register(who, activation.activation_token, lambda digits: PIN)
    assert user.verification_type == "fullCustom"
    assert members_of(trust.authenticate(user, PIN))["sub"] == who


def test_sessions(service: Service, trust: mpin.Trust) -> None:
    user = registered(service, trust, "dora@example.com")
    session = service.session(description="Log in to the shop")
    assert service.status(session) == "new"
    details = trust.get_session_details(session["qrURL"])
    assert details.access_id == session["qrURL"].rpartition("#")[2] and details.project_id == "codes"
    assert details.hash == b"" and details.pin_length in (0, 4)
    assert service.status(session) == "wid"
    with pytest.raises(mpin.IncorrectPinError):
        trust.authenticate_with_qr_code(user, session["qrURL"], "4321")
    trust.authenticate_with_qr_code(user, session["qrURL"], PIN)
    assert service.status(session) == "authenticated"

    session = service.session(userId=user.id)
    assert trust.get_session_details(session["qrURL"]).user_id == user.id
    trust.authenticate_with_app_link(user, session["qrURL"], PIN)
    assert service.status(session) == "authenticated"

    session = service.session()
    trust.abort_session(session["qrURL"])
    assert service.status(session) == "abort"

    nowhere = "https://example.com/#" + 32 * "0"
    for refused in (trust.get_session_details, trust.abort_session):
        with pytest.raises(mpin.SessionInvalidError):
            refused(nowhere)
    with pytest.raises(mpin.InvalidArgumentError):
        trust.get_session_details("https://example.com/")


def test_push_payload(service: Service, trust: mpin.Trust) -> None:
    user = registered(service, trust, "erin@example.com")
    session = service.session()
    payload: dict[str, object] = {"userID": user.id, "qrURL": session["qrURL"], "other": 7}
    for wrong, kind in (
        ({"userID": "nobody@example.com"}, mpin.UserNotFoundError),
        ({"projectID": "links"}, mpin.ProjectMismatchError),
        ({"userID": 7}, mpin.InvalidArgumentError),
        ({"qrURL": None}, mpin.InvalidArgumentError),
        ({"projectID": 7}, mpin.InvalidArgumentError),
    ):
        with pytest.raises(kind):
            trust.authenticate_with_push_payload({**payload, **wrong}, PIN)
    trust.authenticate_with_push_payload({**payload, "projectID": "codes"}, PIN)
    assert service.status(session) == "authenticated"


def verify(service: Service, hash: bytes, signature: mpin.Signature) -> bool:
    """Whether the service takes the signature, for the project's back end."""
    body = {
        "signature": {
            "hash": hash.hex(),
            "u": signature.u.hex(),
            "v": signature.v.hex(),
            "mpinId": signature.mpin_id,
            "publicKey": signature.public_key.hex(),
            "dtas": signature.dtas,
        },
        "timestamp": signature.timestamp,
        "type": "verification",
    }
    try:
        return bool(service.post_as_back_end("/dvs/verify", body)["certificate"])
    except urllib.error.HTTPError as error:
        assert error.code == 401
        error.close()
        return False


def test_signatures(service: Service, trust: mpin.Trust) -> None:
    user = registered(service, trust, "fred@example.com")
    hash = mpin.hash_document(b"a contract")
    assert user.can_sign
    with pytest.raises(mpin.IncorrectPinError):
        trust.sign(user, hash, "4321")
    with pytest.raises(mpin.InvalidArgumentError):
        trust.sign(user, b"", PIN)
    signature = trust.sign(user, hash, PIN)
    assert abs(signature.timestamp - time.time()) < 60
    assert verify(service, hash, signature)
    assert not verify(service, mpin.hash_document(b"another contract"), signature)

    session = service.session(description="Sign the contract", hash=hash.hex())
    details = trust.get_session_details(session["qrURL"])
    assert (details.description, details.hash) == ("Sign the contract", hash)
    trust.sign_session(user, session["qrURL"], details.hash, PIN)
    assert service.status(session) == "signed"


def test_a_revoked_user(service: Service, trust: mpin.Trust) -> None:
    user = registered(service, trust, "gina@example.com")
    path = f"/api/v1/projects/codes/mpinids/{user.mpin_id}/revocation"
    assert service.post_as_back_end(path, {"reason": "lost"}) == {}
    with pytest.raises(mpin.RevokedError):
        trust.authenticate(user, PIN)
    assert user.state is State.REVOKED and str(user.state) == "REVOKED"
    trust.delete_user(user)
    assert trust.get_user("gina@example.com") is None


def test_a_renewal_that_the_user_does_not_see(service: Service, trust: mpin.Trust) -> None:
    user = registered(service, trust, "hans@example.com")
    before = user.mpin_id
    service.run("user", "renew", user.id)
    assert members_of(trust.authenticate(user, PIN))["sub"] == user.id
    assert user.mpin_id != before and user.state is State.REGISTERED
    assert trust.authenticate(user, PIN)


def test_export_and_import(service: Service, trust: mpin.Trust, tmp_path: pathlib.Path) -> None:
    user = registered(service, trust, "iris@example.com")
    exported = tmp_path / "exported.json"
    assert trust.export_users(exported) == 1
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    with pytest.raises(mpin.StorageError):
        trust.export_users(exported)
    with mpin.Trust(tmp_path / "imported", project_id="codes", url=service.url) as other:
        assert other.import_users(exported.read_text()) == 1
        found = other.get_user(user.id)
        assert found and other.authenticate(found, PIN)


def test_the_store_keeps_the_users(service: Service, tmp_path: pathlib.Path) -> None:
    with mpin.Trust(tmp_path / "store", project_id="codes", url=service.url) as trust:
        user = registered(service, trust, "jack@example.com")
    with pytest.raises(mpin.InvalidHandleError):
        trust.authenticate(user, PIN)
    with mpin.Trust(tmp_path / "store", project_id="codes", url=service.url) as trust:
        assert [found.id for found in trust.list_users()] == ["jack@example.com"]
        found = trust.get_user("jack@example.com")
        assert found and trust.authenticate(found, PIN)


@pytest.mark.parametrize(
    "options",
    [{"project_id": ""}, {"project_id": "a\nb"}, {"project_id": "p", "url": "no URL"}, {"project_id": "a\0b"}],
)
def test_a_project_that_is_none(tmp_path: pathlib.Path, options: "dict[str, str]") -> None:
    with pytest.raises(mpin.InvalidArgumentError):
        mpin.Trust(tmp_path / "store", **options)  # type: ignore[arg-type]


def test_a_project_by_plain_http_is_not_trusted(tmp_path: pathlib.Path) -> None:
    with pytest.raises(mpin.UntrustedDomainError):
        mpin.Trust(tmp_path / "store", project_id="p", url="http://service.example.com")


def test_asyncio(service: Service, tmp_path: pathlib.Path) -> None:
    who = "kate@example.com"

    async def walk() -> None:
        async with aio.open_trust(tmp_path / "store", project_id="codes", url=service.url) as trust:
            await trust.send_verification_email(who)
            activation = await trust.get_activation_token(who, service.code(who))
            user = await trust.register(who, activation.activation_token, lambda digits: PIN)
            assert members_of(await trust.authenticate(user, PIN))["sub"] == who
            with pytest.raises(mpin.IncorrectPinError):
                await trust.authenticate(user, "4321")
        with pytest.raises(mpin.InvalidHandleError):
            await trust.list_users()

    asyncio.run(walk())


def test_every_option_of_a_project_is_documented() -> None:
    options = [name for name in inspect.signature(mpin.Trust.__init__).parameters if name != "self"]
    of_the_sdk = set(inspect.signature(mpin.SDK.__init__).parameters)
    own = [name for name in options if name not in of_the_sdk]
    described = re.findall(r"^        ([a-z_]+): ", mpin.Trust.__init__.__doc__ or "", re.MULTILINE)
    assert described == own
    readme = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
    assert [name for name in own if f"`{name}`" in readme] == own

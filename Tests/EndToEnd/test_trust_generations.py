"""The older generations of clients of MIRACL Trust at a real mpind, whose D-TAs are processes of their own."""

from __future__ import annotations

import base64
import email
import email.policy
import hashlib
import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlsplit

import pytest
import requests
from joserfc import jwt
from joserfc.jwk import KeySet
from mpin import SDK, IdentityNotVerifiedError, IncorrectPinError, MPinError, State, crypto
from node import ROOT, Server
from phone import wait_until
from relying_party import FAR, SECRET, clients_file
from split import Split

PROJECT, OTHER = "old-app", "other-app"
PIN = "4271"
VERIFIER = "v" * 64


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Split]:
    folder = tmp_path_factory.mktemp("generations")
    (folder / "clients.yaml").write_text(clients_file())
    options = ["--clients", str(folder / "clients.yaml"), "--internal-target", "127.0.0.1"]
    parts = Split(folder / "split", "--rate-limits", "off", provider=options)
    operate(parts, "project", "add", PROJECT, "--client", "app")
    yield parts
    parts.end()


def operate(split: Split, *words: str) -> str:
    """Runs an operator's command on the server's database."""
    command = [str(ROOT / "build/mpind"), *words, "--database", split.database()]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def mailed(split: Split, user: str) -> str:
    """The link in the mail to a user."""
    return in_mail(split.mails, user, r"^(http\S+)")


def mailed_code(split: Split, user: str) -> str:
    """The six digits in the mail to a user, which the provider has sent."""
    return in_mail(split.mails.parent / "provider-mail", user, r"^\s*([0-9]{6})\s*$")


def in_mail(folder: Path, user: str, line: str) -> str:
    """What the group of the pattern `line` matches in a mail to a user."""

    def find() -> str | None:
        for file in folder.glob("*.eml"):
            mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
            body = mail.get_body(("plain",)) if user in mail["To"] else None
            found = re.search(line, body.get_content(), re.MULTILINE) if body else None
            if found:
                return found[1]
        return None

    return str(wait_until(find))


@dataclass
class Device:
    """What a client stores. An identity without a key pair has an empty public key."""

    mpin_id: bytes
    public_key: bytes
    token: bytes
    dtas: str

    @property
    def id(self) -> bytes:
        return self.mpin_id + self.public_key


class Client:
    """The requests of a client before generation 4, or of the vendor's integration test, which sends fewer headers."""

    def __init__(self, url: str, **headers: str) -> None:
        self.url = url
        self.headers = headers

    def ask(self, method: str, path: str, body: Any = None, status: int = 200, **headers: str) -> dict[str, Any]:
        url = self.url + path if path.startswith("/") else path
        answer = requests.request(method, url, json=body, headers={**self.headers, **headers}, timeout=60)
        assert answer.status_code == status, f"{method} {urlsplit(url).path}: {answer.status_code} {answer.text}"
        return dict(answer.json())

    def activation_token(self, user: str) -> str:
        """Lets the project's back end verify the user."""
        body = {"projectId": PROJECT, "userId": user, "deviceName": "The device", "delivery": "no"}
        basic = "Basic " + base64.b64encode(f"app:{SECRET}".encode()).decode()
        url = self.ask("POST", "/verification", body, Authorization=basic)["verificationURL"]
        code = parse_qs(urlsplit(url).query)["code"][0]
        confirmed = self.ask("POST", "/verification/confirmation", {"userId": user, "code": code})
        return str(confirmed["actToken"])

    def begin(self, user: str, wid: str, **headers: str) -> dict[str, Any]:
        body = {"userId": user, "deviceName": "The device", "wid": wid, "activateCode": self.activation_token(user)}
        return self.ask("PUT", "/rps/v2/user", body, **headers)

    def register_plain(self, user: str, wid: str = "", **headers: str) -> Device:
        return self.plain_device(self.begin(user, wid, **headers))

    def plain_device(self, begun: dict[str, Any]) -> Device:
        """The second step of a registration without a key pair."""
        first = self.ask("GET", f"/rps/v2/signature/{begun['mpinId']}?regOTT={begun['regOTT']}")
        assert set(first) == {"clientSecretShare", "cs2url", "curve", "dtas"}
        assert first["curve"] == "BN254CX"
        second = self.ask("GET", first["cs2url"])
        assert {"clientSecret", "createdAt", "message", "version"} <= set(second)
        shares = bytes.fromhex(first["clientSecretShare"]), bytes.fromhex(second["clientSecret"])
        mpin_id = bytes.fromhex(begun["mpinId"])
        token = crypto.extract_pin(mpin_id, *scalar(PIN), crypto.recombine_g1(*shares))
        return Device(mpin_id, b"", token, first["dtas"])

    def register(self, user: str) -> Device:
        begun = self.begin(user, "")
        assert (begun["projectId"], begun["active"], begun["pinLength"]) == (PROJECT, True, 4)
        z, public_key = crypto.get_dvs_keypair()
        query = f"regOTT={begun['regOTT']}&publicKey={public_key.hex()}"
        first = self.ask("GET", f"/rps/v2/signature/{begun['mpinId']}?{query}")
        return self.finish(bytes.fromhex(begun["mpinId"]), z, public_key, first, PIN)

    def enrol(self, user: str, token: str) -> Device:
        """Registers as generation 4 does."""
        z, public_key = crypto.get_dvs_keypair()
        body = {"userId": user, "deviceName": "a", "activationToken": token, "publicKey": public_key.hex()}
        begun = self.ask("POST", "/registration", body)
        shares = [bytes.fromhex(self.ask("GET", url)["dvsClientSecret"]) for url in begun["secretUrls"]]
        secret = crypto.get_g1_multiple(z, crypto.recombine_g1(*shares))
        mpin_id = bytes.fromhex(begun["mpinId"])
        token_point = crypto.extract_pin(mpin_id + public_key, *scalar(PIN), secret)
        return Device(mpin_id, public_key, token_point, begun["dtas"])

    def renew(self, device: Device, token: str, pin: str) -> Device:
        z, public_key = crypto.get_dvs_keypair()
        body = {"publicKey": public_key.hex(), "dvsRegisterToken": token}
        first = self.ask("POST", "/rps/v2/dvsregister", body)
        assert first["mpinId"] == device.mpin_id.hex()
        return self.finish(device.mpin_id, z, public_key, first, pin)

    def finish(self, mpin_id: bytes, z: bytes, public_key: bytes, first: dict[str, Any], pin: str) -> Device:
        second = self.ask("GET", first["cs2url"])
        shares = bytes.fromhex(first["dvsClientSecretShare"]), bytes.fromhex(second["dvsClientSecret"])
        secret = crypto.get_g1_multiple(z, crypto.recombine_g1(*shares))
        token = crypto.extract_pin(mpin_id + public_key, *scalar(pin), secret)
        return Device(mpin_id, public_key, token, first["dtas"])

    def prove(self, device: Device, scope: str, pin: str = PIN, wid: str = "") -> str:
        """Both passes. Returns the one-time token of the last request."""
        x = crypto.random_generate()
        sec, u, _ = crypto.client_1(0, device.id, x, *scalar(pin), device.token, None)
        body = {"U": u.hex(), "mpin_id": device.mpin_id.hex(), "dtas": device.dtas, "scope": [scope]}
        if device.public_key:
            body |= {"publicKey": device.public_key.hex(), "UT": ""}
        y = self.ask("POST", "/rps/v2/pass1", body)["y"]
        v = crypto.client_2(x, bytes.fromhex(y), sec)
        body = {"V": v.hex(), "WID": wid, "mpin_id": device.mpin_id.hex()}
        return str(self.ask("POST", "/rps/v2/pass2", body)["authOTT"])

    def log_in(
        self, device: Device, scope: str, pin: str = PIN, wid: str = "", wam: str | None = "dvs", status: int = 200
    ) -> dict[str, Any]:
        body = {"authOTT": self.prove(device, scope, pin, wid), **({"wam": wam} if wam else {})}
        return self.ask("POST", "/rps/v2/authenticate", body, status=status)


def scalar(pin: str) -> tuple[bytes, int]:
    return crypto.pin_to_scalar(crypto.PinMapping.DECIMAL6, pin.encode())


def session(split: Split, client: Client, user: str) -> tuple[str, str]:
    """Opens a session of the project. Returns its access id and the page's token."""
    opened = client.ask("POST", "/rps/v2/session", {"projectId": PROJECT, "userId": user})
    return opened["qrURL"].split("#")[-1], opened["webOTT"]


def test_the_vendors_integration_flow(split: Split) -> None:
    """Its identities have no key pair. It names the project in a few requests only, and another one in the
    registration."""
    vendor, user = Client(split.issuer), "vendor@example.com"
    assert vendor.ask("GET", "/.well-known/project-configuration") == {"id": PROJECT}
    wid, web_ott = session(split, vendor, user)
    device = vendor.register_plain(user, wid, **{"X-MIRACL-CID": "mcl"})
    refused = vendor.log_in(device, "oidc", "4272", wid, wam=None, status=401)
    assert refused["error"] == "UNSUCCESSFUL_AUTHENTICATION"
    answer = vendor.log_in(device, "oidc", PIN, wid, wam=None)
    assert (answer["status"], "dvsRegister" in answer) == (200, False)
    seen = vendor.ask("POST", "/rps/v2/access", {"webOTT": web_ott})
    assert (seen["status"], seen["userId"]) == ("authenticated", user)


def raw(url: str, body: str, **headers: str) -> dict[str, Any]:
    """Posts a body of which nothing but `headers` says what it is."""
    answer = requests.post(url, data=body.encode(), headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_the_vendors_first_integration_flow(split: Split) -> None:
    """It opens its sessions at /authorize, with the body `null` and no Content-Type, and an initiated registration."""
    vendor, user = Client(split.issuer), "first-vendor@example.com"
    target = f"{split.issuer}/authorize?{authorization_request()}"
    opened = raw(target, "null")
    wid = urlsplit(opened["qrURL"]).fragment
    basic = "Basic " + base64.b64encode(f"app:{SECRET}".encode()).decode()
    begun = raw(
        f"{split.issuer}/activate/initiate", json.dumps({"userId": user, "deviceName": "a"}), Authorization=basic
    )
    wish = {"userId": user, "deviceName": "a", "wid": wid, "activateCode": begun["actToken"]}
    user_answer = vendor.ask("PUT", "/rps/v2/user", wish, **{"X-MIRACL-CID": "mcl"})
    device = vendor.plain_device(user_answer)
    # The MFA core of 2017 sends {}, and its HTTP library calls each body a form. Its pages ask at the accessURL.
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body, headers, asks_at in (("null", {}, "/rps/v2/access"), ("{}", form, "")):
        opened = raw(target, body, **headers)
        answer = vendor.log_in(device, "oidc", wid=urlsplit(opened["qrURL"]).fragment, wam=None)
        assert answer["status"] == 200
        seen = vendor.ask("POST", asks_at or opened["accessURL"], {"webOTT": opened["webOTT"]})
        assert (seen["status"], seen["statusCode"], seen["userId"]) == ("authenticated", 0, user)
        assert "code=" in seen["redirectURL"]
    # A form is one still, also an empty one, and leads to a page.
    for data in (authorization_request(), ""):
        page = requests.post(
            f"{split.issuer}/authorize", data=data, headers=form, allow_redirects=False, timeout=60
        )
        assert page.status_code == 303


NEWEST = {
    "X-Miracl-Client": "MIRACL Client.js/8.10.0", "X-Miracl-Device-Name": "Browser", "X-Miracl-Device-Tag": "tag",
}  # fmt: skip


def test_the_newest_clients_name_no_project(split: Split) -> None:
    """client-js since 8.9 and Trust Android since 1.14: their project has a URL of its own, so most requests do not name
    it. A code, a QuickCode and a session tell which one it is."""
    operate(split, "project", "add", OTHER, "--verification", "code")
    try:
        client, user = Client(split.issuer, **NEWEST), "newest@example.com"
        wish = {"userId": user, "projectId": OTHER, "deviceName": "a", "deviceTag": "tag", "scope": []}
        assert client.ask("POST", "/verification/email", wish)["method"] == "code"
        refusals = []
        for name in (user, "nobody@example.com"):
            wrong = {"userId": name, "code": "none", "deviceTag": "tag"}
            refusals.append(client.ask("POST", "/verification/confirmation", wrong, status=400))
        for refusal in refusals:
            del refusal["requestID"]
        assert refusals[0] == refusals[1] and refusals[0]["error"] == "UNSUCCESSFUL_VERIFICATION"
        right = {"userId": user, "code": mailed_code(split, user), "deviceTag": "tag"}
        confirmed = client.ask("POST", "/verification/confirmation", right)
        assert confirmed["projectId"] == OTHER
        device = client.enrol(user, confirmed["actToken"])
        jwt = client.log_in(device, "reg-code")["jwt"]
        body = {"projectId": OTHER, "jwt": jwt, "deviceName": "a"}
        code = client.ask("POST", "/verification/quickcode", body)["code"]
        wrong = {"userId": "nobody@example.com", "activationToken": code, "publicKey": crypto.get_dvs_keypair()[1].hex()}
        assert client.ask("POST", "/registration", wrong, status=400)["error"] == "INVALID_ACTIVATION_TOKEN"
        second = client.enrol(user, code)
        assert "jwt" in client.log_in(second, "jwt")
    finally:
        operate(split, "project", "remove", OTHER)
    opened = authorize(client, user)
    details = client.ask("POST", "/rps/v2/codeStatus", {"wid": opened["accessId"], "status": "wid"})
    assert (details["projectId"], details["projectName"]) == (PROJECT, PROJECT)
    push = client.ask("POST", "/pushauth", {"prerollId": user}, status=400)
    assert push["error"] == "NO_PUSH_TOKEN"


def test_clients_before_the_request_for_quick_codes(split: Split) -> None:
    """Before client-js 8.4 the answer to the login has the code."""
    user = "before@example.com"
    headers = {"X-MIRACL-CID": PROJECT, "X-MIRACL-CLIENT": "MIRACL Client.js/8.3.0 an app"}
    client = Client(split.issuer, **headers)
    device = client.register(user)
    made = client.log_in(device, "reg-code")
    assert (made["ttlSeconds"], len(made["OTP"])) == (300, 6)
    second = client.enrol(user, made["OTP"])
    assert "jwt" in client.log_in(second, "jwt")
    for newer in ("MIRACL Client.js/8.4.0", "MIRACL Client.js/8.10.0", "MIRACL iOS SDK/1.0.0"):
        later = Client(split.issuer, **{**headers, "X-MIRACL-CLIENT": newer})
        assert set(later.log_in(second, "reg-code")) == {"status", "message", "jwt"}, newer


def test_the_old_spelling_of_the_user(split: Split) -> None:
    """Before client-js 6.2."""
    client = Client(split.issuer, **{"X-MIRACL-CID": PROJECT})
    opened = client.ask("POST", f"/authorize?{authorization_request()}", {"prerollid": "old@example.com"})
    details = client.ask("POST", "/rps/v2/codeStatus", {"wid": opened["accessId"], "status": "wid"})
    assert details["prerollId"] == "old@example.com"
    push = client.ask("POST", "/pushauth", {"prerollid": "old@example.com"}, status=400)
    assert push["error"] == "NO_PUSH_TOKEN"


def test_a_code_without_a_project_belongs_to_the_one_that_gave_it(split: Split) -> None:
    operate(split, "project", "add", OTHER)
    try:
        vendor = Client(split.issuer)
        vendor.ask("GET", "/.well-known/project-configuration", status=400)
        device = vendor.register_plain("two@example.com")
        assert b'"cID":"old-app"' in device.mpin_id
        body = {"userId": "two@example.com", "code": "0" * 64}
        assert vendor.ask("POST", "/verification/confirmation", body, status=400)["error"]
    finally:
        operate(split, "project", "remove", OTHER)


def test_generation_3_registers_logs_in_and_renews(split: Split) -> None:
    client, user = Client(split.issuer, **{"X-MIRACL-CID": PROJECT}), "three@example.com"
    device = client.register(user)
    assert "jwt" in client.log_in(device, "jwt")
    operate(split, "user", "renew", f"{PROJECT}/{user}")
    answer = client.log_in(device, "jwt")
    assert set(answer) == {"status", "message", "dvsRegister"}
    renewed = client.renew(device, answer["dvsRegister"]["token"], PIN)
    # The client may never get its new secret, so the old one stays good until the new one was used.
    assert "dvsRegister" in client.log_in(device, "jwt")
    assert "jwt" in client.log_in(renewed, "jwt")
    client.log_in(device, "jwt", status=401)
    assert "jwt" in client.log_in(renewed, "jwt")
    client.log_in(renewed, "jwt", "9999", status=401)
    client.log_in(renewed, "jwt", "9998", status=401)
    revoked = client.log_in(renewed, "jwt", "9997", status=410)
    assert revoked["error"] == "REVOKED_MPINID"


def test_an_identity_without_a_key_pair_gets_one(split: Split) -> None:
    """A client that can renew its secret gets a key pair with its first login."""
    client, user = Client(split.issuer, **{"X-MIRACL-CID": PROJECT}), "plain@example.com"
    device = client.register_plain(user)
    renewed = client.renew(device, client.log_in(device, "jwt")["dvsRegister"]["token"], PIN)
    assert "jwt" in client.log_in(renewed, "jwt")
    client.log_in(device, "jwt", status=401)


def authorization_request() -> str:
    """The query of an authorization request of the website."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    return (
        f"client_id=app&redirect_uri={FAR}&response_type=code&scope=openid%20email&state=st"
        f"&code_challenge={challenge}&code_challenge_method=S256"
    )


def authorize(client: Client, user: str = "") -> dict[str, Any]:
    """Opens a session at a website of OpenID Connect, whose page names a user."""
    target = f"/authorize?{authorization_request()}"
    return client.ask("POST", target, {"prerollId": user, "registerOnly": False})


def claims(split: Split, code: str) -> dict[str, Any]:
    """What the website learns for a code."""
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": FAR, "code_verifier": VERIFIER}
    tokens = requests.post(f"{split.issuer}/oidc/token", data=form, auth=("app", quote_plus(SECRET)), timeout=60).json()
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    return dict(requests.get(f"{split.issuer}/oidc/userinfo", headers=bearer, timeout=60).json())


def test_an_identity_of_generation_3_at_a_website_of_openid(split: Split) -> None:
    """The page of the website names its user and gets the code; the operator sees one identity and ends it."""
    client, user = Client(split.issuer, **{"X-MIRACL-CID": PROJECT}), "web@example.com"
    device = client.register_plain(user)
    opened = authorize(client, user)
    assert {"webOTT", "accessURL", "qrURL", "accessId"} <= set(opened)
    details = client.ask("POST", "/rps/v2/codeStatus", {"wid": opened["accessId"], "status": "wid"})
    assert details["prerollId"] == user
    client.log_in(device, "oidc", wid=opened["accessId"], wam=None)
    seen = client.ask("POST", "/rps/v2/access", {"webOTT": opened["webOTT"]})
    code = parse_qs(urlsplit(seen["redirectURL"]).query)["code"][0]
    found = claims(split, code)
    assert "email" not in found and "email_verified" not in found, "no mail has proved it"
    assert len(operate(split, "user", "show", f"{PROJECT}/{user}", "--json").splitlines()) == 1
    operate(split, "user", "revoke", f"{PROJECT}/{user}")
    assert client.log_in(device, "oidc", wam=None, status=410)["error"] == "REVOKED_MPINID"


def test_an_authorization_code_for_an_app(split: Split) -> None:
    """The scope `authcode`, of the clients before client-js 8: the phone itself gets the code."""
    client, user = Client(split.issuer, **{"X-MIRACL-CID": PROJECT}), "code@example.com"
    device = client.register(user)
    opened = authorize(client, user)
    code = client.log_in(device, "authcode", wid=opened["accessId"])["code"]
    assert claims(split, code)["sub"]


def test_our_client_core_at_generation_1(split: Split, tmp_path: Path) -> None:
    """By header and by base URL: registration with a mail, login of a website, one-time password."""
    for number, (backend, customer) in enumerate([(split.issuer, PROJECT), (f"{split.issuer}/mfa/{PROJECT}", None)]):
        name, client = f"mfa{number}@example.com", Client(split.issuer)
        with SDK(tmp_path / f"store{number}", backend=backend, client_id=customer) as sdk:
            user = sdk.make_new_user(name, customer_id="")
            opened = authorize(client)
            sdk.start_registration_mfa(user, access_code=opened["accessId"])
            with pytest.raises(IdentityNotVerifiedError):
                sdk.confirm_registration(user)
            assert requests.post(mailed(split, name), timeout=60).status_code == 200
            sdk.confirm_registration(user)
            sdk.finish_registration(user, PIN)
            assert user.customer_id == PROJECT
            assert sdk.get_session_details(opened["accessId"]).customer_id == PROJECT
            sdk.start_authentication_mfa(user, opened["accessId"])
            with pytest.raises(IncorrectPinError):
                sdk.finish_authentication_an(user, "9999", opened["accessId"])
            sdk.finish_authentication_an(user, PIN, opened["accessId"])
            seen = client.ask("POST", "/rps/v2/access", {"webOTT": opened["webOTT"]})
            code = parse_qs(urlsplit(seen["redirectURL"]).query)["code"][0]
            found = claims(split, code)
            assert (found["email"], found["email_verified"]) == (name, True)
            sdk.start_authentication_otp(user)
            password = sdk.finish_authentication_otp(user, PIN)
            assert (len(password.otp), password.ttl_seconds) == (6, 60)
            operate(split, "user", "revoke", name)
            sdk.start_authentication(user)
            with pytest.raises(IncorrectPinError):
                sdk.finish_authentication(user, PIN)
            assert user.state == State.BLOCKED


class BackEnd(ThreadingHTTPServer):
    """A back end as the vendor's SDK makes one: it verifies the token of an event, and confirms users of the shop before it
    answers."""

    def __init__(self, issuer: str) -> None:
        super().__init__(("127.0.0.1", 0), NewUsers)
        self.issuer = issuer
        # It has them before, because the server waits no more than five seconds for the answer to an event.
        self.metadata = requests.get(f"{issuer}/.well-known/openid-configuration", timeout=60).json()
        self.keys = KeySet.import_key_set(requests.get(self.metadata["jwks_uri"], timeout=60).json())
        self.url = f"http://127.0.0.1:{self.server_port}/push"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def confirm(self, token: str) -> int:
        """Returns the status of the answer."""
        found = jwt.decode(token, self.keys, algorithms=["RS256"]).claims
        must = {"iss": {"value": self.metadata["issuer"]}, "aud": {"value": PROJECT}, "exp": {"essential": True}}
        jwt.JWTClaimsRegistry(**must).validate(found)
        user = found["events"]["newUser"]
        if not user["userID"].endswith("@shop.example") or user["expireTime"] < time.time():
            return 400
        body = {"hashMPinId": user["hashMPinID"], "activateKey": user["activateKey"]}
        answer = requests.post(f"{self.issuer}/activate/user", json=body, timeout=60)
        return answer.status_code if answer.json() == {"status": "OK", "message": "Activated"} else 500


class NewUsers(BaseHTTPRequestHandler):
    server: BackEnd

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(self.server.confirm(body["new_user_token"]))
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """The test sees what happens."""


def test_a_back_end_that_hears_of_new_users(split: Split, tmp_path: Path) -> None:
    """No mail: the project's back end knows whom it lets in (TRUST wire section 6.1)."""
    back_end, client = BackEnd(split.issuer), Client(split.issuer)
    operate(split, "project", "set", PROJECT, "--new-user-url", back_end.url)
    try:
        with SDK(tmp_path / "store", backend=split.issuer, client_id=PROJECT) as sdk:
            user = sdk.make_new_user("known@shop.example", customer_id="")
            sdk.start_registration_mfa(user, access_code=authorize(client)["accessId"])
            sdk.confirm_registration(user)
            sdk.finish_registration(user, PIN)
            sdk.start_authentication_otp(user)
            assert len(sdk.finish_authentication_otp(user, PIN).otp) == 6
            stranger = sdk.make_new_user("stranger@example.com", customer_id="")
            with pytest.raises(MPinError):
                sdk.start_registration_mfa(stranger, access_code=authorize(client)["accessId"])
    finally:
        operate(split, "project", "set", PROJECT, "--new-user-url", "")
        back_end.shutdown()
        back_end.server_close()
    assert not [mail for mail in split.mails.glob("*.eml") if b"shop.example" in mail.read_bytes()]


def test_a_program_for_the_mfa_core(split: Split, tmp_path: Path) -> None:
    """In C++: the back end has verified the user, and gets the code that the app takes to it."""
    program, client, name = tmp_path / "mfa_client", Client(split.issuer), "cxx@example.com"
    source, library = Path(__file__).with_name("mfa_client.cpp"), ROOT / "build/libmpin.so"
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++11", "-Wall", "-Werror", f"-I{ROOT}/include/cxx", f"-Wl,-rpath,{ROOT}/build"]
    subprocess.run([compiler, *flags, "-o", str(program), str(source), str(library), "-lcurl"], check=True)
    words = [split.issuer, PROJECT, name, client.activation_token(name), authorize(client)["accessId"]]
    done = subprocess.run([str(program), *words], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert claims(split, done.stdout.strip())["sub"]


def test_nobody_registers_where_everybody_is_confirmed(tmp_path: Path) -> None:
    """Without mails only back ends verify users. The relying party's word for everybody counts on its own wire only."""
    server = Server(tmp_path, options=["--trust"])
    server.start()
    try:
        command = [str(ROOT / "build/mpind"), "project", "add", PROJECT, "--state-dir", server.state]
        subprocess.run(command, check=True, capture_output=True)
        opened = requests.post(f"{server.backend}/rps/v2/session", json={"projectId": PROJECT}, timeout=30).json()
        wish = {"userId": "victim@example.com", "mobile": 1, "wid": opened["qrURL"].split("#")[-1]}
        answer = requests.put(f"{server.backend}/mfa/{PROJECT}/rps/user", json=wish, timeout=30)
        assert (answer.status_code, "Nobody can register" in answer.text) == (400, True), answer.text
    finally:
        server.close()

"""Pushes: a real receiver takes the webhooks of the server, and a phone logs in with what it has got (TRUST wire sections
2.2 and 4.3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
from node import ROOT, Server
from phone import Phone, wait_until
from ports import free_ports
from test_trust_server import OIDC, redeem
from trust_phone import Body, Client, Device, Keys, good, refused, wid
from trust_server import LINK, PROJECT, TrustServer, mpind

TOKEN = "a push token of the phone's maker"


def with_token(trust: TrustServer, client: Client, user: str, token: str = TOKEN) -> Device:
    """Registers a device that takes pushes."""
    return client.register(user, trust.activation_token(client, user), pushToken=token)


def begin_earlier(client: Client, user: str, token: str, **more: str) -> requests.Response:
    """The first request with which a client of generation 3 registers."""
    body = {"userId": user, "mobile": 0, "deviceName": "phone", "activateCode": token, **more}
    return client.post("/rps/v2/user", body, "PUT")


def register_earlier(client: Client, user: str, token: str, **more: str) -> Device:
    """Registers a device as generation 3 does."""
    begun, keys = good(begin_earlier(client, user, token, **more)), Keys.new()
    query = f"regOTT={begun['regOTT']}&publicKey={keys.public.hex()}"
    return finish_earlier(client, begun, good(client.get(f"/rps/v2/signature/{begun['mpinId']}?{query}")), keys)


def finish_earlier(client: Client, begun: Body, first: Body, keys: Keys) -> Device:
    shares = [first["dvsClientSecretShare"], good(client.get(first["cs2url"]))["dvsClientSecret"]]
    return Device.made({**begun, **first}, shares, keys)


def push(client: Client, user: str, **query: str) -> requests.Response:
    return client.post("/pushauth?" + urlencode(query), {"prerollId": user})


def test_a_push_logs_in_to_a_website_of_openid_connect(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    device = with_token(trust, client, user)
    session = good(push(client, user, **OIDC))
    assert session.keys() == {"webOTT"}
    received = trust.pushes.next(user)
    payload = json.loads(received["body"])
    assert payload == {"projectID": PROJECT, "userID": user, "qrURL": payload["qrURL"], "pushToken": TOKEN}
    assert payload["qrURL"].startswith(LINK + "#")
    details = good(client.report(wid(payload["qrURL"]), "wid"))
    assert (details["prerollId"], details["description"]) == (user, OIDC["client_id"])
    good(client.login(device, scope="oidc", wid=wid(payload["qrURL"])))
    done = client.access(session)
    assert done["status"] == "authenticated"
    assert redeem(trust, done["redirectURL"])["email"] == user


def test_a_push_logs_in_a_page_of_the_project(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    device = with_token(trust, client, user)
    session = good(push(client, user))
    name = wid(json.loads(trust.pushes.next(user)["body"])["qrURL"])
    good(client.login(device, scope="oidc", wid=name))
    assert client.access(session).items() >= {"status": "authenticated", "userId": user}.items()


def test_the_receiver_knows_who_has_sent_a_push(trust: TrustServer, client: Client) -> None:
    """The headers are those of Standard Webhooks."""
    user = trust.user()
    with_token(trust, client, user)
    good(push(client, user))
    received = trust.pushes.next(user)
    headers = received["headers"]
    assert headers["content-type"] == "application/json"
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    assert headers["webhook-signature"] == signature(trust.pushes.key, headers, received["body"])


def test_a_push_is_sent_again_until_it_is_taken(trust: TrustServer, client: Client) -> None:
    """Its refusals are logged, but neither its link nor its token."""
    user = "flaky-" + trust.user()
    with_token(trust, client, user, token := "f" * 40)
    session = good(push(client, user))
    tries = [trust.pushes.next(user) for _ in range(3)]
    assert [one["status"] for one in tries] == [503, 503, 204]
    assert len({one["headers"]["webhook-id"] for one in tries}) == 1
    assert len({one["body"] for one in tries}) == 1
    for one in tries:
        assert one["headers"]["webhook-signature"] == signature(trust.pushes.key, one["headers"], one["body"])
    log = trust.parts.log_text() + trust.audit_text()
    assert tries[0]["headers"]["webhook-id"] in log and '"event":"pushed"' in log
    for secret in (wid(json.loads(tries[0]["body"])["qrURL"]), token, session["webOTT"]):
        assert secret not in log


def test_the_newest_push_token_is_taken(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    first = with_token(trust, client, user, "first")
    code = good(client.quick_code(first))["code"]
    second = client.register(user, code, pushToken="second")
    client.register(user, good(client.quick_code(first))["code"])
    assert token_of(trust, client, user) == "second"
    trust.operate("user", "revoke", user, "--identity", hashlib.sha256(bytes.fromhex(second.id)).hexdigest())
    assert token_of(trust, client, user) == "first"


def test_a_renewed_device_keeps_its_push_token(trust: TrustServer, client: Client) -> None:
    """In both generations, and if the first one registers with the token of a renewal."""
    user = trust.user()
    device = with_token(trust, client, user)

    def renewal(device: Device) -> str:
        trust.operate("user", "renew", user)
        return str(good(client.login(device))["dvsRegister"]["token"])

    for register in (client.register, lambda user, token: register_earlier(client, user, token)):
        device = register(user, renewal(device))
        good(client.login(device))
        assert token_of(trust, client, user) == TOKEN
    keys = Keys.new()
    body = {"publicKey": keys.public.hex(), "dvsRegisterToken": renewal(device)}
    first = good(client.post("/rps/v2/dvsregister", body))
    good(client.login(finish_earlier(client, {}, first, keys)))
    assert token_of(trust, client, user) == TOKEN


def test_without_a_push_token_there_is_no_push(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    trust.register(client, user)
    other = trust.project("pushes")
    with_token(trust, other, elsewhere := trust.user())
    for nobody in (user, elsewhere, trust.user(), ""):
        for query in ({}, OIDC):
            assert refused(push(client, nobody, **query), 400, "NO_PUSH_TOKEN") == {}
    token = trust.activation_token(client, other_user := trust.user())
    answer = client.post(
        "/registration",
        {"userId": other_user, "activationToken": token, "publicKey": "", "pushToken": "x" * 1025},
    )
    refused(answer, 400, "INVALID_REQUEST_PARAMETERS")


def test_a_device_of_generation_3_gets_pushes(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    token = trust.activation_token(client, user)
    context = refused(begin_earlier(client, user, token, pushToken="x" * 1025), 400, "INVALID_REQUEST_PARAMETERS")
    assert context == {"params": "pushToken"}
    device = register_earlier(client, user, token, pushToken="third")
    session = good(push(client, user))
    payload = json.loads(trust.pushes.next(user)["body"])
    assert payload["pushToken"] == "third"
    good(client.login(device, scope="oidc", wid=wid(payload["qrURL"])))
    assert client.access(session)["status"] == "authenticated"


@pytest.mark.parametrize(
    ("body", "query", "expected"),
    [
        ({"pushToken": "first"}, "", "first"),
        ({}, "&pmiToken=of%20the%20share", "of the share"),
        ({"pushToken": "first"}, "&pmiToken=second", "second"),
    ],
)
@pytest.mark.parametrize("is_mailed", [True, False])
def test_a_device_of_generation_1_gets_pushes(
    trust: TrustServer, client: Client, is_mailed: bool, body: Body, query: str, expected: str
) -> None:
    """The push token comes with the request for the M-Pin ID, or with that for a share, which is the newer one."""
    user = trust.user()
    session = good(client.post("/rps/v2/session", {"projectId": PROJECT}))
    proof = {"wid": wid(session["qrURL"])} if is_mailed else {"activateCode": trust.activation_token(client, user)}
    wish = {"userId": user, "mobile": 1, **proof}
    assert client.post("/rps/user", {**wish, "pushToken": "x" * 1025}, "PUT").status_code == 400
    begun = good(client.post("/rps/user", {**wish, **body}, "PUT"))
    if is_mailed:
        confirm_by_mail(trust, user)
    signature = f"/rps/signature/{begun['mpinId']}?regOTT={begun['regOTT']}"
    assert client.get(f"{signature}&pmiToken={'x' * 1025}").status_code == 400
    good(client.get(signature + query))
    assert token_of(trust, client, user) == expected


def test_a_device_of_the_milagro_wire_gets_pushes_of_the_provider(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    phone = Phone(trust.parts.backend, user)
    phone.start_registration()
    confirm_by_mail(trust, user)
    phone.finish_registration("1234", more="&pmiToken=of%20the%20old%20wire")
    refused(push(client, user), 400, "NO_PUSH_TOKEN")
    session = good(push(client, user, **OIDC))
    payload = json.loads(trust.pushes.next(user)["body"])
    assert payload["pushToken"] == "of the old wire"
    with ThreadPoolExecutor() as pool:
        # The phone gets its answer when the page has taken the login.
        login = pool.submit(phone.login_browser, "1234", wid(payload["qrURL"]))
        done = wait_until(lambda: (now := client.access(session))["status"] == "authenticated" and now)
        login.result()
    assert redeem(trust, done["redirectURL"])["email"] == user


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[tuple[str, Path, subprocess.Popen[str]]]:
    key, (port,) = tmp_path / "push.key", free_ports(1)
    mpind("keys", "new", str(key))
    words = ["push-relay", "--listen", f"127.0.0.1:{port}", "--push-key-file", str(key)]
    with subprocess.Popen([ROOT / "build/mpind", *words], stdout=subprocess.PIPE, text=True) as process:
        wait_until(lambda: answers(port))
        yield f"http://127.0.0.1:{port}/", key, process
        process.terminate()
    assert process.returncode == 0


def test_the_relay_for_development_prints_the_link(
    tmp_path: Path, relay: tuple[str, Path, subprocess.Popen[str]]
) -> None:
    """One user gets only so many pushes."""
    url, key, process = relay
    options = ["--push-url", url, "--push-key-file", str(key), "--rate-limits", "on", "--rate-push-user", "1/600"]
    server = Server(tmp_path / "server", mails=tmp_path / "mails", options=options)
    server.start()
    try:
        mpind("project", "add", "app", "--state-dir", server.state)
        service = mpind("project", "token", "add", "app", "t", "--json", "--state-dir", server.state)
        bearer = {"Authorization": f"Bearer {json.loads(service)['token']}"}
        client = Client(server.backend, "app")
        body = {"userId": "alice@example.com"}
        begun = requests.post(server.backend + "/activate/initiate", json=body, headers=bearer, timeout=60)
        device = client.register("alice@example.com", good(begun)["actToken"], pushToken=TOKEN)
        session = good(push(client, "alice@example.com"))
        assert process.stdout
        who, _, link = process.stdout.readline().strip().partition(": ")
        assert who == "alice@example.com of app" and link.startswith(server.backend + "#")
        good(client.login(device, scope="oidc", wid=wid(link)))
        assert client.access(session)["status"] == "authenticated"
        again = push(client, "Alice@Example.com")
        refused(again, 429, "TOO_MANY_REQUESTS")
        assert int(again.headers["Retry-After"]) > 500
    finally:
        server.close()


def test_the_relay_takes_only_pushes_of_its_server(relay: tuple[str, Path, subprocess.Popen[str]]) -> None:
    url, key, process = relay
    body = json.dumps({"projectID": "p", "userID": "u", "qrURL": "https://app.example/#1", "pushToken": "t"})
    secret = bytes.fromhex(key.read_text())

    def send(name: str, at: float = 0, key: bytes = secret, sent: str = body) -> int:
        headers = {"webhook-id": name, "webhook-timestamp": str(int(time.time() + at))}
        headers["webhook-signature"] = "v2,eA== " + signature(key, headers, body)
        return requests.post(url, data=sent, headers=headers, timeout=60).status_code

    assert send("a", key=b"x" * 32) == 401
    assert send("a", at=-400) == send("a", at=400) == 401
    assert send("a", sent=body.replace("/#1", "/#2")) == 401
    assert requests.post(url, data=body, timeout=60).status_code == 401
    assert [send("a"), send("a"), send("b")] == [204, 204, 204]
    process.terminate()
    out, _ = process.communicate(timeout=60)
    assert out.splitlines() == ["u of p: https://app.example/#1"] * 2, "a repeated id is shown once"


def test_the_options_for_pushes(tmp_path: Path) -> None:
    key = str(tmp_path / "key")
    mpind("keys", "new", key)
    wrong = {
        ("--push-url", "http://push.example/", "--push-key-file", key): "http:// on this machine",
        ("--push-url", "https://push.example/"): "together",
        ("--push-key-file", key): "together",
        ("--push-url", "https://push.example/", "--push-key-file", key, "--trust=false"): "--push-url needs --trust",
        ("--push-url", "https://push.example/", "--push-key-file", key + "x"): "No such file",
    }
    for options, text in wrong.items():
        command = [ROOT / "build/mpind", "--all-in-one", "--state-dir", str(tmp_path / "state"), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode != 0 and text in done.stderr, f"{options}: {done.stderr}"


def confirm_by_mail(trust: TrustServer, user: str) -> None:
    """Opens the link in the mail of the relying party to a user."""
    mail = wait_until(lambda: [path for path in trust.parts.mails.glob("*.eml") if user in path.read_text()])[0]
    link = next(line for line in mail.read_text().split() if "/mpinActivate?" in line)
    requests.post(link, timeout=60).raise_for_status()


def token_of(trust: TrustServer, client: Client, user: str) -> str:
    good(push(client, user))
    return str(json.loads(trust.pushes.next(user)["body"])["pushToken"])


def signature(key: bytes, headers: dict[str, Any], body: str) -> str:
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/", timeout=60).status_code == 404
    except OSError:
        return False

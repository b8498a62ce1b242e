"""Every flow of clients of MIRACL Trust (TRUST wire section 5), over real processes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests
from joserfc import jwt
from joserfc.jwk import KeySet
from trust_phone import Body, Client, Device, Keys, base64_json, good, refused, wid
from trust_server import CALLBACK, CLIENT, LINK, PROJECT, SECRET, TrustServer

OIDC = {
    "client_id": CLIENT, "redirect_uri": CALLBACK, "response_type": "code", "scope": "openid email", "state": "st",
}  # fmt: skip
DOCUMENT = hashlib.sha256(b"pay 10 to Bob").digest()


def claims(client: Client, token: str, keys: str = "/.well-known/jwks") -> tuple[Body, Body]:
    """Verifies a token by the server's published keys, and returns its header and its claims."""
    published = KeySet.import_key_set(good(requests.get(client.url + keys, timeout=60)))
    verified = jwt.decode(token, published, algorithms=["RS256"])
    return dict(verified.header), dict(verified.claims)


# Registration and logins in an app


def test_a_registration_is_verified_by_mail_and_has_shares_of_both_authorities(
    trust: TrustServer, client: Client
) -> None:
    user, keys = trust.user(), Keys.new()
    begun = int(time.time())
    backoff = good(client.verify(user))["backoff"]
    assert begun + 60 <= backoff <= time.time() + 61
    confirmed = good(client.confirm(user, trust.code(user)))
    assert (confirmed["projectId"], confirmed["accessId"]) == (PROJECT, "")
    answer = good(client.enrol(user, confirmed["actToken"], keys))
    hosts = [urlsplit(url).netloc for url in answer["secretUrls"]]
    assert hosts[0] == urlsplit(trust.url).netloc != hosts[1]
    shares = [good(client.get(url))["dvsClientSecret"] for url in answer["secretUrls"]]
    device = Device.made(answer, shares, keys)
    logged = trust.parts.log_text() + trust.audit_text()
    for secret in (*shares, confirmed["actToken"], trust.code(user), urlsplit(answer["secretUrls"][0]).query):
        assert secret not in logged
    assert device.members.items() >= {"userID": user, "cID": PROJECT, "v": 5, "vt": "em", "scope": ["auth"]}.items()
    refused(client.enrol(user, confirmed["actToken"], keys), 400, "INVALID_ACTIVATION_TOKEN")
    assert good(client.login(device))["jwt"]


def test_the_wait_for_the_next_mail_ends_with_the_code_of_the_last_one(trust: TrustServer, client: Client) -> None:
    """Who has read the mail may have another one at once, for example to register again."""
    user = trust.user()
    first = good(client.verify(user))
    for _ in range(2):
        refused(client.confirm(user, "0" * 64), 400, "UNSUCCESSFUL_VERIFICATION")
        context = refused(client.verify(user), 429, "REQUEST_BACKOFF")
        assert context == {"backoff": str(first["backoff"])}
    good(client.confirm(user, trust.code(user)))
    good(client.verify(user))
    refused(client.verify(user), 429, "REQUEST_BACKOFF")


def test_a_back_end_verifies_its_users_itself(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    bearer = {"Authorization": f"Bearer {trust.service_token()}"}
    wish = {"projectId": PROJECT, "userId": user, "deviceName": "phone", "delivery": "no"}
    url = good(requests.post(trust.url + "/verification", json=wish, headers=bearer, timeout=60))["verificationURL"]
    assert url.startswith(LINK + "/verification/confirmation?")
    members = parse_qs(urlsplit(url).query)
    token = good(client.confirm(members["user_id"][0], members["code"][0]))["actToken"]
    assert client.register(user, token).members["vt"] == "pv"
    begun = requests.post(
        trust.url + "/activate/initiate", json={"userId": user, "deviceName": "b"}, auth=(CLIENT, SECRET), timeout=60
    )
    device = client.register(user, good(begun)["actToken"])
    assert device.id == begun.json()["mpinId"]
    assert good(client.login(device))["status"] == 200


def test_an_app_gets_a_token_for_its_own_back_end(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    device = trust.register(client, user)
    header, members = claims(client, good(client.login(device))["jwt"])
    assert header["alg"] == "RS256" and header["kid"]
    assert (members["aud"], members["sub"], members["scope"]) == (PROJECT, user, "jwt")
    assert members["exp"] - members["iat"] == 60 and abs(members["iat"] - time.time()) < 60


def test_wrong_pins_block_the_identity(trust: TrustServer, client: Client) -> None:
    device = trust.register(client)
    refused(client.login(device, "4321"), 401, "UNSUCCESSFUL_AUTHENTICATION")
    good(client.login(device))
    for _ in range(2):
        refused(client.login(device, "4321"), 401, "UNSUCCESSFUL_AUTHENTICATION")
    refused(client.login(device, "4321"), 410, "REVOKED_MPINID")
    refused(client.post("/rps/v2/pass1", device.begin().body), 410, "EXPIRED_MPINID")


# Browsers


def test_a_phone_logs_a_page_of_the_project_in(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    device = trust.register(client, user)
    session = good(client.post("/rps/v2/session", {"projectId": PROJECT, "userId": user, "description": "a till"}))
    assert session["qrURL"].startswith(LINK + "#")
    name = wid(session["qrURL"])
    assert client.access(session)["status"] == "new"
    details = good(client.report(name, "wid"))
    assert (details["description"], details["prerollId"], details["projectId"]) == ("a till", user, PROJECT)
    assert client.access(session)["status"] == "wid"
    assert good(client.report(name, "user", userId=user)) == {"status": "OK", "message": ""}
    assert client.access(session).items() >= {"status": "user", "userId": user}.items()
    good(client.login(device, scope="oidc", wid=name))
    done = client.access(session)
    assert done.items() >= {"status": "authenticated", "userId": user}.items()
    assert redeem(trust, done["redirectURL"], state=None)["sub"]
    again = client.access(session)
    assert again["status"] == "authenticated" and "redirectURL" not in again


def test_a_page_without_a_client_learns_the_user_only(trust: TrustServer) -> None:
    """A client with several redirect URIs, a public one, or one of somebody else's is none to be led to."""
    for number, client_id in enumerate(["", "several", "public", "stranger"]):
        client = trust.project(f"page-{number}", "--client", client_id)
        user = trust.user()
        device = trust.register(client, user)
        session = good(client.post("/rps/v2/session", {"projectId": client.project}))
        good(client.login(device, scope="oidc", wid=wid(session["qrURL"])))
        assert client.access(session) == {"status": "authenticated", "statusCode": 0, "userId": user}


def test_a_phone_aborts_a_login(trust: TrustServer, client: Client) -> None:
    session = good(client.post("/rps/v2/session", {"projectId": PROJECT}))
    name = wid(session["qrURL"])
    good(client.report(name, "abort"))
    assert client.access(session)["status"] == "abort"
    refused(client.login(trust.register(client), scope="oidc", wid=name), 400, "INVALID_AUTHENTICATION_SESSION")


def redeem(trust: TrustServer, url: str, state: str | None = "st") -> Body:
    """Redeems the code with which a login of the OpenID provider ends. Returns the claims of the user."""
    query = parse_qs(urlsplit(url).query)
    assert url.startswith(CALLBACK + "?") and query.get("state") == ([state] if state else None)
    form = {"grant_type": "authorization_code", "code": query["code"][0], "redirect_uri": CALLBACK}
    tokens = good(requests.post(trust.url + "/oidc/token", data=form, auth=(CLIENT, SECRET), timeout=60))
    _, members = claims(trust.client(), tokens["id_token"], "/oidc/certs")
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    return {**members, **good(requests.get(trust.url + "/oidc/userinfo", headers=bearer, timeout=60))}


def test_a_phone_logs_in_to_a_website_of_openid_connect(trust: TrustServer, client: Client) -> None:
    """A registration in the midst of it knows the session."""
    user = trust.user()
    session = good(client.post("/authorize?" + urlencode(OIDC), {}))
    name = session["accessId"]
    assert wid(session["qrURL"]) == name and session["accessURL"]
    good(client.report(name, "wid"))
    good(client.verify(user, accessId=name))
    confirmed = good(client.confirm(user, trust.code(user)))
    assert confirmed["accessId"] == name
    device = client.register(user, confirmed["actToken"])
    good(client.login(device, scope="oidc", wid=name))
    done = client.access(session)
    assert done["status"] == "authenticated"
    members = redeem(trust, done["redirectURL"])
    assert (members["aud"], members["email"], members["email_verified"]) == (CLIENT, user, True)


# Further devices and renewal


def test_a_device_lets_its_user_register_another(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    code = good(client.quick_code(trust.register(client, user)))
    assert code["ttlSeconds"] == 300 and code["code"].isdigit() and len(code["code"]) == 6
    second = client.register(user, code["code"], "987654")
    assert second.members["vt"] == "rc"
    good(client.login(second, "987654"))


def test_a_renewal_is_silent(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    old = trust.register(client, user)
    trust.operate("user", "renew", user)
    answer = good(client.login(old))
    assert "jwt" not in answer and answer["dvsRegister"]["curve"] == "BN254CX"
    new = client.register(user, answer["dvsRegister"]["token"])
    assert good(client.login(new))["jwt"]
    refused(client.post("/rps/v2/pass1", old.begin().body), 410, "EXPIRED_MPINID")


# Signatures


def verify(trust: TrustServer, signature: Body, at: int, authorization: str | None = None) -> requests.Response:
    """Has a project's back end ask about a signature."""
    headers = {"Authorization": authorization or f"Bearer {trust.service_token()}"}
    body = {"signature": signature, "timestamp": at, "type": "verification"}
    return requests.post(trust.url + "/dvs/verify", json=body, headers=headers, timeout=60)


def test_a_signature_is_certified(trust: TrustServer, client: Client) -> None:
    device = trust.register(client)
    assert "jwt" not in good(client.login(device, scope="dvs-auth"))
    signature, at = device.sign(DOCUMENT)
    header, certificate = claims(client, good(verify(trust, signature, at))["certificate"], "/dvs/jwks")
    assert certificate.keys() == {"cAt", "exp", "hash"} and certificate["hash"] == DOCUMENT.hex()
    assert certificate["exp"] == certificate["cAt"] + 10 and certificate["cAt"] >= at
    others = good(client.get("/.well-known/jwks"))["keys"]
    assert header["kid"] not in [key["kid"] for key in others]


def test_wrong_signatures_are_refused(trust: TrustServer, client: Client) -> None:
    device = trust.register(client)
    signature, at = device.sign(DOCUMENT)
    tampered = {**signature, "hash": hashlib.sha256(b"pay 99 to Bob").hexdigest()}
    refused(verify(trust, tampered, at), 401, "UNSUCCESSFUL_AUTHENTICATION")
    refused(verify(trust, signature, at + 1), 401, "UNSUCCESSFUL_AUTHENTICATION")
    refused(verify(trust, *device.sign(DOCUMENT, at=at - 700)), 401, "UNSUCCESSFUL_AUTHENTICATION")
    refused(verify(trust, signature, at * 1000), 400, "INVALID_REQUEST_PARAMETERS")
    refused(verify(trust, *device.sign(DOCUMENT, "4321")), 410, "REVOKED_MPINID")
    refused(verify(trust, signature, at), 410, "REVOKED_MPINID")


def test_the_first_sdks_of_back_ends_sign_by_hmac(trust: TrustServer, client: Client) -> None:
    signature, at = trust.register(client).sign(DOCUMENT)
    hexadecimal = signature["hash"].encode()
    for secret, status in ((SECRET, 200), (SECRET + "x", 401)):
        tag = hmac.new(secret.encode(), hexadecimal, hashlib.sha256).hexdigest()
        header = "MAAS-HMAC-SHA256 " + base64.b64encode(f"{CLIENT}:{tag}".encode()).decode()
        assert verify(trust, signature, at, header).status_code == status


def test_a_phone_signs_for_a_page(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    device = trust.register(client, user)
    wish: dict[str, Any] = {"projectId": PROJECT, "userId": user, "description": "pay 10", "hash": DOCUMENT.hex()}
    session = good(client.post("/rps/v2/session", wish))
    name = wid(session["qrURL"])
    assert good(client.report(name, "wid"))["hash"] == DOCUMENT.hex()
    good(client.login(device, scope="dvs-auth"))
    signature, at = device.sign(DOCUMENT)
    made = base64_json({**signature, "timestamp": at})
    good(client.report(name, "signed", signature=made))
    assert client.access(session).items() >= {"status": "signed", "signature": made}.items()


def test_the_sessions_of_the_first_native_clients(trust: TrustServer, client: Client) -> None:
    device = trust.register(client)
    wish = {"projectID": PROJECT, "hash": DOCUMENT.hex(), "description": "pay 10"}
    first, second = (good(client.post("/dvs/session", wish))["id"] for _ in range(2))
    details = good(client.post("/dvs/session/details", {"id": first}))
    assert details.items() >= {"status": "active", "hash": DOCUMENT.hex(), "description": "pay 10"}.items()
    signature, at = device.sign(DOCUMENT)
    signed = {"id": first, "signature": signature, "timestamp": at}
    assert good(client.post("/dvs/session", signed, "PUT")) == {"status": "signed"}
    assert good(client.post("/dvs/session/details", {"id": first}))["status"] == "signed"
    good(client.post("/dvs/session", {"id": second}, "DELETE"))
    context = refused(client.post("/dvs/session", {**signed, "id": second}, "PUT"), 400, "INVALID_REQUEST_PARAMETERS")
    assert context == {"params": "id"}


# The project


def test_a_back_end_revokes_an_identity_and_reads_the_audit_log(trust: TrustServer, client: Client) -> None:
    user = trust.user()
    device = trust.register(client, user)
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {trust.service_token()}"
    api = f"{trust.url}/api/v1/projects/{PROJECT}"
    revoked = session.post(f"{api}/mpinids/{device.id}/revocation", json={"reason": "lost"}, timeout=60)
    assert good(revoked) == {}
    refused(client.post("/rps/v2/pass1", device.begin().body), 410, "EXPIRED_MPINID")
    events: list[Body] = []
    cursor = "1"
    while page := good(session.get(f"{api}/audit", params={"cursor": cursor, "limit": 3}, timeout=60)):
        events += page["events"]
        if page["cursor"] == cursor:
            break
        cursor = page["cursor"]
    own = [event["event"] for event in events if event.get("user") == user]
    assert own[0] == "registered" and "revoked" in own[-1]
    assert len({event["n"] for event in events}) == len(events)


def test_the_project_has_no_other_projects_users(trust: TrustServer, client: Client) -> None:
    other = trust.project("other", "--pin-length", "6", "--verification", "code")
    user = trust.user()
    token = trust.activation_token(other, user)
    assert good(other.enrol(user, token, Keys.new()))["pinLength"] == 6
    device = trust.register(other)
    session = good(client.post("/rps/v2/session", {"projectId": PROJECT}))
    refused(other.login(device, scope="oidc", wid=wid(session["qrURL"])), 400, "INVALID_AUTHENTICATION_SESSION")
    signature, at = device.sign(DOCUMENT)
    refused(verify(trust, signature, at), 401, "UNSUCCESSFUL_AUTHENTICATION")
    assert good(requests.get(other.url + "/.well-known/project-configuration?project_id=other", timeout=60)) == {
        "id": "other"
    }


def test_only_the_projects_pages_may_read_answers(client: Client) -> None:
    for origin, allowed in (("https://app.example", "https://app.example"), ("https://evil.example", None)):
        asked = requests.options(
            client.url + f"/rps/v2/session?project_id={PROJECT}",
            headers={
                "Origin": origin, "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "content-type,x-miracl-client,x-miracl-device-tag",
            },
            timeout=60,
        )  # fmt: skip
        assert asked.headers.get("Access-Control-Allow-Origin") == allowed
        names = [name.strip().lower() for name in asked.headers.get("Access-Control-Allow-Headers", "").split(",")]
        asked_for = {"content-type", "x-miracl-cid", "x-miracl-client", "x-miracl-device-name", "x-miracl-device-tag"}
        assert (asked_for <= set(names)) == (allowed is not None)

"""The OpenID provider, as relying parties and browsers meet it.

Row numbers are those of the checklist by which the provider was built. Names of modules in backquotes are those of the
OpenID Foundation's basic certification plan; the test checks what that module checks.
"""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import math
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import axe_core_python
import mpin
import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.jwk import KeySet
from phone import Phone, Refused, wait_until
from relying_party import CALLBACK, FAR, ORIGIN, SECRET, Person, answered, authorize
from selenium.webdriver.common.by import By
from test_browser import Browser, browser, chromium, read_code

__all__ = ["browser", "chromium"]
BACKEND = os.environ["MPIN_BACKEND"]
PICTURES = Path(os.environ["MPIN_PICTURES"])
PIN, WRONG_PIN = "1234", "4321"
CERTS, TOKEN, USERINFO = f"{BACKEND}/oidc/certs", f"{BACKEND}/oidc/token", f"{BACKEND}/oidc/userinfo"
BASIC = ("app", SECRET)
AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text()


@pytest.fixture(scope="session")
def phone() -> Phone:
    return registered("alice@example.com")


@pytest.fixture(scope="session")
def other_phone() -> Phone:
    return registered("bob@example.com")


def registered(user: str) -> Phone:
    phone = Phone(BACKEND, user)
    assert phone.start_registration()
    phone.finish_registration(PIN)
    return phone


@pytest.fixture
def alice(phone: Phone) -> Person:
    return Person(BACKEND, phone, PIN)


def form_encoded_basic(client: str = "app", secret: str = SECRET) -> dict[str, str]:
    """Returns the Basic header of a client. `requests` does not form-encode its halves, as RFC 6749 section 2.3.1
    demands."""
    from urllib.parse import quote_plus

    text = f"{quote_plus(client)}:{quote_plus(secret)}"
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


def redeem(code: str, **changes: str) -> requests.Response:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": FAR, **changes}
    return requests.post(TOKEN, data=form, headers=form_encoded_basic())


def refresh(token: str, **changes: str) -> requests.Response:
    form = {"grant_type": "refresh_token", "refresh_token": token, **changes}
    return requests.post(TOKEN, data=form, headers=form_encoded_basic())


def userinfo(token: str) -> requests.Response:
    return requests.get(USERINFO, headers={"Authorization": f"Bearer {token}"})


def claims(token: str, nonce: str | None = None) -> dict[str, Any]:
    """Returns the claims of an ID token, after checking them as a relying party does."""
    keys = KeySet.import_key_set(requests.get(CERTS).json())
    decoded = jwt.decode(token, keys, algorithms=["RS256"])
    rules = jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": BACKEND}, aud={"essential": True}, exp={"essential": True},
        iat={"essential": True}, sub={"essential": True}, nonce={"essential": nonce is not None, "value": nonce},
    )  # fmt: skip
    rules.validate(decoded.claims)
    return dict(decoded.claims)


def test_rows_1_to_5_and_69_what_is_published() -> None:
    """Module `discovery`. Each endpoint of the document exists, and no key is private."""
    answer = requests.get(f"{BACKEND}/.well-known/openid-configuration", headers={"Host": "evil.example"})
    metadata = answer.json()
    assert answer.headers["Content-Type"].startswith("application/json")
    assert metadata == requests.get(f"{BACKEND}/.well-known/oauth-authorization-server").json()
    assert metadata["issuer"] == BACKEND
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["id_token_signing_alg_values_supported"] == ["RS256"]
    assert metadata["request_uri_parameter_supported"] is False
    assert metadata["authorization_response_iss_parameter_supported"] is True
    endpoints = [value for name, value in metadata.items() if name.endswith(("_endpoint", "_uri"))]
    assert len(endpoints) == 8
    assert all(requests.get(endpoint).status_code != 404 for endpoint in endpoints)
    keys = requests.get(CERTS)
    assert int(re.findall(r"max-age=(\d+)", keys.headers["Cache-Control"])[0]) <= 3600
    assert {key["alg"] for key in keys.json()["keys"]} == {"RS256", "ES256"}
    assert len({key["kid"] for key in keys.json()["keys"]}) == len(keys.json()["keys"])
    assert all(not {"d", "p", "q", "dp", "dq", "qi"} & set(key) for key in keys.json()["keys"])
    # Row 75: clients cannot register themselves.
    assert requests.post(f"{BACKEND}/register").status_code == 404


def test_a_login_with_authlib(alice: Person) -> None:
    """A whole login with Authlib as the relying party. Rows 34, 45 to 53 and 55; modules `server`, `idtoken-signature`,
    `ensure-request-with-valid-pkce-succeeds` and `scope-*`."""
    site = OAuth2Session(
        "app", SECRET, redirect_uri=FAR, scope="openid profile email", code_challenge_method="S256",
        token_endpoint_auth_method="client_secret_basic",
    )  # fmt: skip
    metadata = requests.get(f"{BACKEND}/.well-known/openid-configuration").json()
    verifier = "v" * 64
    url, state = site.create_authorization_url(
        metadata["authorization_endpoint"], nonce="n-0S6_WzA2Mj", code_verifier=verifier
    )
    assert alice.open(url).status_code == 200
    answer = alice.log_in()
    assert answered(answer) == {"code": answered(answer)["code"], "state": state, "iss": BACKEND}
    code = answered(answer)["code"]
    bits = -sum(count * math.log2(count / len(code)) for count in Counter(code).values())
    assert bits > 96
    # Authlib does not form-encode the halves of its Basic header, so the test gives it the right header.
    token = site.fetch_token(
        metadata["token_endpoint"], authorization_response=answer.headers["Location"], state=state,
        code_verifier=verifier, headers=form_encoded_basic(), auth=lambda request: request,
    )  # fmt: skip
    assert token["token_type"] == "Bearer" and token["expires_in"] == 900
    assert set(token["scope"].split()) == {"openid", "profile", "email"}
    found = claims(token["id_token"], nonce="n-0S6_WzA2Mj")
    half = hashlib.sha256(token["access_token"].encode()).digest()[:16]
    assert found["at_hash"] == base64.urlsafe_b64encode(half).rstrip(b"=").decode()
    assert found["amr"] == ["mfa", "pin", "hwk"] and found["acr"]
    assert 0 <= found["iat"] - found["auth_time"] < 60
    assert "email" not in found and "azp" not in found
    assert len(found["sub"]) <= 255 and "alice" not in found["sub"]
    user = site.get(metadata["userinfo_endpoint"]).json()
    assert user["sub"] == found["sub"]
    assert user["email"] == user["name"] == "alice@example.com" and user["email_verified"] is False
    with pytest.raises(Exception, match="bad_signature|BadSignature|Invalid"):
        claims(token["id_token"][:-8] + "AAAAAAAA")


def test_a_public_client_on_any_port(alice: Person) -> None:
    """Row 9: a public client on this machine may use any port. It sends no secret to the token endpoint, and needs the
    verifier."""
    uri = "http://127.0.0.1:45678/callback"
    verifier = base64.urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    request = {"redirect_uri": uri, "code_challenge": challenge, "code_challenge_method": "S256"}
    alice.open(authorize(BACKEND, "native", **request))
    answer = alice.log_in()
    assert answer.headers["Location"].startswith(uri + "?")
    form = {"grant_type": "authorization_code", "code": answered(answer)["code"], "redirect_uri": uri}
    wrong = requests.post(TOKEN, data={**form, "client_id": "native", "code_verifier": verifier[::-1]})
    assert (wrong.status_code, wrong.json()["error"]) == (400, "invalid_grant")
    right = requests.post(TOKEN, data={**form, "client_id": "native", "code_verifier": verifier})
    assert right.status_code == 200 and claims(right.json()["id_token"])["aud"] == "native"


def test_secret_in_the_body(alice: Person) -> None:
    """Row 41: a client may send its secret in the body, if it is registered so. Row 49: without a nonce in the request
    there is none in the ID token. Modules `server-client-secret-post` and
    `ensure-request-without-nonce-succeeds-for-code-flow`."""
    alice.open(authorize(BACKEND, "post"))
    form = {
        "grant_type": "authorization_code", "code": answered(alice.log_in())["code"], "redirect_uri": FAR,
        "client_id": "post", "client_secret": SECRET,
    }  # fmt: skip
    answer = requests.post(TOKEN, data=form)
    assert answer.status_code == 200, answer.text
    assert "nonce" not in claims(answer.json()["id_token"])


def test_row_16_scopes_in_any_order(alice: Person) -> None:
    """The order of the scopes does not matter. Those that this server does not have are left out, and the token answer
    says which are left. Module `alternate-happy-flow`."""
    alice.open(authorize(BACKEND, scope="phone email address profile openid"))
    answer = redeem(answered(alice.log_in())["code"]).json()
    assert answer["scope"] == "email profile openid"
    found = userinfo(answer["access_token"]).json()
    assert found["email"] == found["name"] == "alice@example.com" and not {"address", "phone_number"} & set(found)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None}, {"client_id": "nobody"}, {"client_id": "off"}, {"redirect_uri": None},
        {"redirect_uri": FAR + "/"}, {"redirect_uri": FAR + "?x=1"}, {"redirect_uri": "https://APP.example/callback"},
        {"redirect_uri": "https://app.example:444/callback"}, {"redirect_uri": "https://app.example@evil.example/"},
        {"redirect_uri": "//evil.example"}, {"redirect_uri": "\\evil.example"}, {"state": "x" * 2049},
    ],
)  # fmt: skip
def test_rows_7_8_and_20_pages_that_lead_nowhere(changes: dict[str, str | None]) -> None:
    """If the client is unknown or the redirect URI is not registered, the browser shows an error page. So it does if
    `state` is too long. Module `ensure-registered-redirect-uri`."""
    answer = requests.get(authorize(BACKEND, **changes), allow_redirects=False)
    assert answer.status_code == 400 and "Location" not in answer.headers
    assert "text/html" in answer.headers["Content-Type"]
    assert "evil.example" not in answer.text and answer.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": None}, "invalid_request"), ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"), ({"scope": "email"}, "invalid_scope"),
        ({"prompt": "none login"}, "invalid_request"), ({"max_age": "-1"}, "invalid_request"),
        ({"claims": "[]"}, "invalid_request"), ({"claims": "{"}, "invalid_request"),
        ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
        ({"request_uri": "https://app.example/r"}, "request_uri_not_supported"),
        ({"registration": "{}"}, "registration_not_supported"), ({"code_challenge": "x"}, "invalid_request"),
        ({"id_token_hint": "eyJhbGciOiJub25lIn0.e30."}, "invalid_request"), ({"prompt": "none"}, "login_required"),
        ({"prompt": "none", "state": "\u00e9 +&=%" + "x" * 120}, "login_required"),
        ({"claims": '{"id_token":{"acr":{"essential":true,"value":"no"}}}'}, "unmet_authentication_requirements"),
    ],
)  # fmt: skip
def test_errors_that_the_client_is_told(changes: dict[str, str | None], error: str) -> None:
    """Other errors go back to the client, with `state` and the issuer. Rows 13 to 15, 21, 22, 24, 26, 29 and 31 to 34;
    modules `response-type-missing`, `prompt-none-not-logged-in`, `request-uri-*` and `request-object-*`."""
    answer = requests.get(authorize(BACKEND, **changes), allow_redirects=False)
    told = answered(answer)
    assert (told["error"], told["iss"]) == (error, BACKEND)
    assert told["state"] == changes.get("state", "s")
    assert answer.headers["Cache-Control"] == "no-store" and answer.headers["Referrer-Policy"] == "no-referrer"


def test_row_11_a_parameter_twice() -> None:
    told = answered(requests.get(authorize(BACKEND) + "&state=t", allow_redirects=False))
    assert told["error"] == "invalid_request" and "state" not in told
    for name in ("client_id=app", "redirect_uri=x"):
        assert requests.get(f"{authorize(BACKEND)}&{name}", allow_redirects=False).status_code == 400


def test_row_6_post_is_as_good_as_get(alice: Person) -> None:
    """A request may be posted as a form. Row 12: unknown parameters are ignored. Row 30: `ui_locales` chooses the
    language of the page, and `display` and others do no harm. Modules `ensure-post-request-succeeds`,
    `ensure-request-with-unknown-parameter-succeeds`, `-acr-values-`, `display-*`, `ui-locales`, `claims-locales` and
    `login-hint`."""
    url, _, query = authorize(
        BACKEND, extra="foobar", display="popup", acr_values="1 2", ui_locales="de", claims_locales="se",
        login_hint="nobody@example.com",
    ).partition("?")  # fmt: skip
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    # A browser sends no cookie with a POST from another site, so it is redirected to the same request as GET.
    answer = requests.post(url, data=query, headers=form, allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/authorize?{query}")
    page = alice.open(url, method="POST", data=query, headers=form)
    assert page.status_code == 200 and '<html lang="de">' in page.text
    assert "nobody@example.com" not in page.text
    # Now the browser has a cookie, so the POST gets the page at once and is not redirected to GET.
    again = alice.browser.post(url, data=query, headers=form, allow_redirects=False)
    assert again.status_code == 200
    assert requests.post(url, data="<x/>", headers={"Content-Type": "text/xml"}).status_code == 415
    assert "code" in answered(alice.log_in())


def test_sessions(alice: Person, other_phone: Phone) -> None:
    """A browser session opens the next application without a PIN, unless the application asks for a new one. Rows 25,
    27, 29, 31, 50 and 73; modules `prompt-login`, `prompt-none-logged-in`, `max-age-1`, `max-age-10000` and
    `id-token-hint`."""
    alice.open(authorize(BACKEND))
    answer = alice.log_in()
    cookies = [value for name, value in answer.headers.items() if name == "Set-Cookie"]
    assert any("mpin-sso=" in cookie and "HttpOnly" in cookie and "SameSite=Lax" in cookie for cookie in cookies)
    assert not any("Secure" in cookie or "__Host-" in cookie for cookie in cookies)
    first = claims(redeem(answered(answer)["code"]).json()["id_token"])
    # The next requests get a code without a page, and tokens of the same login.
    silent = claims(redeem(answered(alice.open(authorize(BACKEND, prompt="none")))["code"]).json()["id_token"])
    hinted = redeem(answered(alice.open(authorize(BACKEND, max_age="10000")))["code"]).json()["id_token"]
    for found in (silent, claims(hinted)):
        assert (found["sub"], found["auth_time"], found["sid"]) == (first["sub"], first["auth_time"], first["sid"])
    assert "code" in answered(alice.open(authorize(BACKEND, prompt="none", id_token_hint=hinted)))
    bob = Person(BACKEND, other_phone, PIN)
    bob.open(authorize(BACKEND))
    old = bob.log_in().cookies["mpin-sso"]
    other = answered(bob.open(authorize(BACKEND, prompt="none", id_token_hint=hinted)))
    assert other["error"] == "login_required"
    # A new PIN gives a newer `auth_time`, and a session with a new cookie.
    wait_until(lambda: time.time() >= first["auth_time"] + 2)
    told = answered(alice.open(authorize(BACKEND, prompt="none", max_age="1")))
    assert told["error"] == "login_required"
    for request in ({"max_age": "1"}, {"prompt": "login"}, {"max_age": "0"}):
        before = alice.browser.cookies["mpin-sso"]
        assert 'id="login"' in alice.open(authorize(BACKEND, **request)).text
        found = claims(redeem(answered(alice.log_in())["code"]).json()["id_token"])
        assert found["sub"] == first["sub"] and found["auth_time"] > first["auth_time"]
        assert alice.browser.cookies["mpin-sso"] not in (before, old)
    # The cookie that the browser had before the last login has no session any more.
    stranger = requests.get(authorize(BACKEND, prompt="none"), cookies={"mpin-sso": before}, allow_redirects=False)
    assert answered(stranger)["error"] == "login_required"


def test_row_73_cookies_that_somebody_else_has_planted(alice: Person, other_phone: Phone) -> None:
    """Session fixation: the cookies of an attacker are in the user's browser when she logs in. After that they give the
    attacker neither her session nor her login, also not the cookies that she had before a further PIN."""
    mallory = Person(BACKEND, other_phone, PIN)
    mallory.open(authorize(BACKEND))
    mallory.log_in()
    planted = mallory.browser.cookies.get_dict()
    assert set(planted) == {"mpin-sso", "mpin-authorize"}
    alice.browser.cookies.update(mallory.browser.cookies)
    for _ in range(2):
        before = alice.browser.cookies.get_dict()
        alice.open(authorize(BACKEND, prompt="login"))
        page = f"{BACKEND}/authorize/login?id={alice.login_id}"
        code = answered(alice.log_in())["code"]
        assert userinfo(redeem(code).json()["access_token"]).status_code == 200
        assert alice.browser.cookies["mpin-sso"] != before["mpin-sso"]
        for cookies in (planted, before):
            answer = requests.get(authorize(BACKEND, prompt="none"), cookies=cookies, allow_redirects=False)
            assert answered(answer)["error"] == "login_required"
            # The login is over, so its page cannot be opened with them, either.
            assert requests.get(page, cookies=cookies).status_code == 400
    assert "code" in answered(alice.open(authorize(BACKEND, prompt="none")))


def test_rows_27_and_31_somebody_else_logs_in(alice: Person, other_phone: Phone) -> None:
    alice.open(authorize(BACKEND))
    hint = redeem(answered(alice.log_in())["code"]).json()["id_token"]
    bob = Person(BACKEND, other_phone, PIN)
    bob.open(authorize(BACKEND, id_token_hint=hint))
    assert answered(bob.log_in())["error"] == "login_required"


def test_row_28_accounts(alice: Person) -> None:
    alice.open(authorize(BACKEND))
    alice.log_in()
    page = alice.open(authorize(BACKEND, prompt="select_account")).text
    assert "alice@example.com" in page
    assert "code" in answered(alice.press("/authorize/confirm", step="account", answer="yes"))
    alice.open(authorize(BACKEND, prompt="select_account"))
    assert 'id="login"' in alice.press("/authorize/confirm", step="account", answer="other").text
    assert "code" in answered(alice.log_in())


def test_row_28_consent(alice: Person) -> None:
    """An application that is not the operator's own gets nothing until the user allows it."""
    alice.open(authorize(BACKEND))
    alice.log_in()
    page = alice.open(authorize(BACKEND, "other", scope="openid email")).text
    assert "Somebody&#39;s &lt;shop&gt;" in page and "app.example" in page and "alice@example.com" in page
    assert page.count("<li>") == 2
    assert answered(alice.press("/authorize/confirm", step="consent", answer="no"))["error"] == "access_denied"
    told = answered(alice.open(authorize(BACKEND, "other", scope="openid email", prompt="none")))
    assert told["error"] == "consent_required"
    alice.open(authorize(BACKEND, "other", scope="openid email"))
    # An answer from an old page to another question is ignored: the consent page is shown again.
    assert alice.press("/authorize/confirm", step="account", answer="yes").status_code == 200
    assert "code" in answered(alice.press("/authorize/confirm", step="consent", answer="yes"))
    # The consent is remembered. The user is asked again for more scopes, and if the application asks for it.
    assert "code" in answered(alice.open(authorize(BACKEND, "other", scope="openid", prompt="none")))
    assert alice.open(authorize(BACKEND, "other", scope="openid profile")).status_code == 200
    assert alice.open(authorize(BACKEND, "other", scope="openid", prompt="consent")).status_code == 200


def test_consent_to_claims() -> None:
    """Claims that an application asks for by name are on the page like the scopes that they belong to. Without the user's
    consent it gets none of them, and no second login gets them silently."""
    carol = Person(BACKEND, registered("claims@example.com"), PIN)
    wish = '{"userinfo":{"email":null,"name":{"essential":true},"groups":null},"id_token":{"picture":null}}'
    carol.open(authorize(BACKEND, "other", scope="openid"))
    carol.log_in()
    assert "code" in answered(carol.press("/authorize/confirm", step="consent", answer="yes"))
    told = answered(carol.open(authorize(BACKEND, "other", scope="openid", claims=wish, prompt="none")))
    assert told["error"] == "consent_required"
    page = carol.open(authorize(BACKEND, "other", scope="openid", claims=wish)).text
    assert page.count("<li>") == 3 and "mail address" in page
    assert answered(carol.press("/authorize/confirm", step="consent", answer="no"))["error"] == "access_denied"
    carol.open(authorize(BACKEND, "other", scope="openid", claims=wish))
    assert "code" in answered(carol.press("/authorize/confirm", step="consent", answer="yes"))
    assert "code" in answered(carol.open(authorize(BACKEND, "other", scope="openid", claims=wish, prompt="none")))
    assert "code" in answered(carol.open(authorize(BACKEND, "other", scope="openid email", prompt="none")))


def test_the_logo_of_an_application() -> None:
    """The page shows the application's logo, and the browser may load it from there and from nowhere else."""
    answer = requests.get(authorize(BACKEND, "pictured"))
    assert '<img class="logo" src="https://images.example/logo.svg"' in answer.text
    sources = dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))
    assert "https://images.example" in sources["img-src"].split()
    assert "images.example" not in requests.get(authorize(BACKEND)).headers["Content-Security-Policy"]


def test_row_18_a_user_who_does_not_want_to(alice: Person) -> None:
    alice.open(authorize(BACKEND))
    page = f"{BACKEND}/authorize/login?id={alice.login_id}"
    assert alice.browser.get(page).status_code == 200
    told = answered(alice.press("/authorize/confirm", step="login", answer="cancel"))
    assert (told["error"], told["state"]) == ("access_denied", "s")
    # The login transaction has ended.
    assert alice.browser.get(page).status_code == 400
    # The user can also refuse on the phone, after it has read the QR code.
    alice.open(authorize(BACKEND))
    wid = qr_code(alice)
    alice.phone.report("abort", wid)
    alice.await_phone("abort")
    assert answered(alice.press("/authorize/login"))["error"] == "access_denied"


def qr_code(person: Person) -> str:
    """Returns the id in the QR code of the page, which a phone logs in to."""
    return person.scanned(PICTURES)


def test_row_30_what_a_phone_is_told(alice: Person, tmp_path: Path) -> None:
    """A phone that has read the QR code learns name and logo of the application, and the user id of `login_hint`,
    whether there is such a user or not. Who types an access number learns nothing of that. The user can still decline."""
    logo, user = "https://images.example/logo.svg", "nobody@example.com"
    alice.open(authorize(BACKEND, "pictured", login_hint=user))
    with mpin.SDK(tmp_path / "store", backend=BACKEND) as sdk:
        details = sdk.get_session_details(qr_code(alice))
        assert (details.preroll_id, details.app_name, details.app_icon_url) == (user, "pictured", logo)
        session = requests.post(authorize(BACKEND, "pictured", prerollid=user), json={}).json()
        assert sdk.get_session_details(session["accessId"]).preroll_id == user
        session = requests.post(authorize(BACKEND, "pictured", login_hint="no\u202ebody"), json={}).json()
        assert sdk.get_session_details(session["accessId"]).preroll_id == ""
        alice.open(authorize(BACKEND))
        code = qr_code(alice)
        details = sdk.get_session_details(code)
        assert (details.preroll_id, details.app_name) == ("", "app") and details.app_icon_url.startswith(BACKEND)
        sdk.abort_session(code)
        alice.await_phone("abort")
    alice.open(authorize(BACKEND, "pictured", login_hint=user))
    alice.show_number()
    body = {"status": "wid", "wid": alice.shown_code(), "userId": ""}
    told = requests.post(BACKEND + alice.phone.settings["codeStatusURL"], json=body)
    assert user not in told.text and "pictured" not in told.text


def test_by_qr_code_without_a_question(alice: Person) -> None:
    """After a QR code there is no confirmation page, because whoever scans it sees the browser. A page tells of a wrong
    PIN."""
    alice.open(authorize(BACKEND))
    with pytest.raises(Refused):
        alice.enter_pin(qr_code(alice), WRONG_PIN).result()
    page = alice.press("/authorize/login")
    assert "Wrong PIN" in page.text
    # Opens the login page again, which shows a new QR code for the same login.
    alice.open(f"{BACKEND}/authorize/login?id={alice.login_id}")
    done = alice.enter_pin(qr_code(alice))
    alice.await_phone()
    assert "code" in answered(alice.press("/authorize/login"))
    done.result()


def test_by_number_the_wrong_person(alice: Person) -> None:
    alice.open(authorize(BACKEND))
    alice.show_number()
    done = alice.enter_pin(alice.shown_code())
    alice.await_phone()
    assert "alice@example.com" in alice.press("/authorize/login").text
    done.result()
    page = alice.press("/authorize/confirm", step="confirmation", answer="no").text
    assert 'id="login"' in page
    assert answered(alice.open(authorize(BACKEND, prompt="none")))["error"] == "login_required"


def test_row_23_a_login_belongs_to_its_browser(alice: Person, other_phone: Phone) -> None:
    """A login transaction has no effect in another browser, nor by a form from another site, and two tabs have two of
    them."""
    alice.open(authorize(BACKEND, state="one"))
    one = alice.login_id
    mallory = Person(BACKEND, other_phone, PIN)
    mallory.open(authorize(BACKEND, state="evil"))
    assert alice.browser.get(f"{BACKEND}/authorize/login?id={mallory.login_id}").status_code == 400
    answer = alice.browser.post(
        f"{BACKEND}/authorize/login", data={"id": mallory.login_id}, headers={"Origin": BACKEND}, allow_redirects=False
    )
    assert answer.status_code == 400
    # The form comes from a page of another site.
    answer = alice.browser.post(
        f"{BACKEND}/authorize/confirm", data={"id": one, "step": "login", "answer": "cancel"},
        headers={"Origin": "https://evil.example"}, allow_redirects=False,
    )  # fmt: skip
    assert answer.status_code == 400
    alice.open(authorize(BACKEND, state="two"))
    assert answered(alice.log_in())["state"] == "two"
    alice.open(f"{BACKEND}/authorize/login?id={one}&way=number")
    assert answered(alice.log_in())["state"] == "one"


def test_a_button_that_is_pressed_twice(alice: Person) -> None:
    """Of two requests of one page that come at the same time, one gets a code, and the other a page that says that the
    login is over. The next login of this browser needs no PIN."""
    alice.open(authorize(BACKEND))
    alice.show_number()
    done = alice.enter_pin(alice.shown_code())
    alice.await_phone()
    assert "alice@example.com" in alice.press("/authorize/login").text
    form = {"id": alice.login_id, "step": "confirmation", "answer": "yes"}
    cookies = alice.browser.cookies.get_dict()

    def press(_: int) -> requests.Response:
        return requests.post(
            f"{BACKEND}/authorize/confirm", data=form, cookies=cookies, headers={"Origin": BACKEND},
            allow_redirects=False,
        )  # fmt: skip

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(press, range(8)))
    done.result()
    [good] = [answer for answer in answers if answer.status_code == 303]
    assert redeem(answered(good)["code"]).status_code == 200
    for answer in answers:
        if answer is not good:
            assert answer.status_code == 400 and "This login is over" in answer.text
            assert "Location" not in answer.headers and "Set-Cookie" not in answer.headers
    alice.browser.cookies.set("mpin-sso", good.cookies["mpin-sso"])
    assert "code" in answered(alice.open(authorize(BACKEND, prompt="none")))


def test_row_71_no_page_is_shown_in_a_frame(alice: Person) -> None:
    """Every answer forbids other sites to show it in a frame, so that nobody can be made to press a hidden button."""
    alice.open(authorize(BACKEND))
    answers = [
        requests.get(authorize(BACKEND)), requests.get(authorize(BACKEND, "pictured")),
        requests.get(authorize(BACKEND, client_id="nobody")), alice.open(f"{BACKEND}/authorize/login?id=x"),
        requests.get(authorize(BACKEND, response_mode="form_post", prompt="none")),
        requests.get(authorize(BACKEND, prompt="none"), allow_redirects=False),
    ]  # fmt: skip
    alice.open(authorize(BACKEND))
    alice.show_number()
    done = alice.enter_pin(alice.shown_code())
    alice.await_phone()
    answers.append(alice.press("/authorize/login"))
    answers.append(alice.press("/authorize/confirm", step="confirmation", answer="yes"))
    done.result()
    for client, prompt in (("app", "select_account"), ("other", "consent"), ("members", "consent")):
        answers.append(alice.open(authorize(BACKEND, client, prompt=prompt)))
        assert alice.login_id
    for path in ("/oidc/logout", "/account/settings", "/account/link?token=x", "/device", "/device?user_code=x",
                 "/device/done", "/auth/callback", "/auth/verify", "/oidc/userinfo", "/oidc/certs", "/none"):  # fmt: skip
        answers.append(alice.browser.get(BACKEND + path, allow_redirects=False))
    for path in ("/device", "/authorize/login", "/authorize/confirm", "/oidc/logout/confirm", "/account/profile"):
        answers.append(alice.browser.post(BACKEND + path, data={}, allow_redirects=False))
    assert len({answer.status_code for answer in answers}) > 5
    for answer in answers:
        assert answer.headers["X-Frame-Options"] == "DENY", answer.url
        policy = [part.strip() for part in answer.headers["Content-Security-Policy"].split(";")]
        assert "frame-ancestors 'none'" in policy and "base-uri 'none'" in policy, answer.url


def test_row_14_form_post(alice: Person) -> None:
    alice.open(authorize(BACKEND, response_mode="form_post", state="a\"<b>'&"))
    alice.show_number()
    done = alice.enter_pin(alice.shown_code())
    alice.await_phone()
    alice.press("/authorize/login")
    answer = alice.press("/authorize/confirm", step="confirmation", answer="yes")
    done.result()
    assert f'action="{FAR}"' in answer.text and 'name="code"' in answer.text
    assert 'value="a&quot;&lt;b&gt;&#39;&amp;"' in answer.text and f'value="{BACKEND}"' in answer.text
    assert f"form-action 'self' {ORIGIN};" in answer.headers["Content-Security-Policy"]
    assert "unsafe-inline" not in answer.headers["Content-Security-Policy"]


def test_row_39_a_code_is_good_once(alice: Person) -> None:
    """Of 50 requests with one code one gets tokens, and they are revoked at once because of the others. Modules
    `codereuse` and `codereuse-30seconds`."""
    alice.open(authorize(BACKEND))
    code = answered(alice.log_in())["code"]
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: redeem(code), range(50)))
    good = [answer for answer in answers if answer.status_code == 200]
    assert len(good) == 1
    assert all(answer.json()["error"] == "invalid_grant" for answer in answers if answer.status_code != 200)
    dead = userinfo(good[0].json()["access_token"])
    assert dead.status_code == 401 and 'error="invalid_token"' in dead.headers["WWW-Authenticate"]


def test_rows_38_40_to_44_the_token_endpoint(alice: Person) -> None:
    alice.open(authorize(BACKEND))
    code = answered(alice.log_in())["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": FAR}
    right = form_encoded_basic()
    assert requests.get(TOKEN).status_code == 405
    faults = [
        (requests.post(TOKEN, json=form, headers=right), 400, "invalid_request"),
        (
            requests.post(TOKEN, data=urlencode(form), headers={**right, "Content-Type": "text/plain"}), 400,
            "invalid_request",
        ),
        (requests.post(TOKEN + "?code=" + code, data=form, headers=right), 400, "invalid_request"),
        (requests.post(TOKEN, data={**form, "redirect_uri": CALLBACK}, headers=right), 400, "invalid_grant"),
        (requests.post(TOKEN, data={**form, "code_verifier": "v" * 50}, headers=right), 400, "invalid_grant"),
        (requests.post(TOKEN, data={**form, "client_secret": SECRET}, headers=right), 400, "invalid_request"),
        (requests.post(TOKEN, data={**form, "grant_type": "password"}, headers=right), 400, "unsupported_grant_type"),
        (requests.post(TOKEN, data=form), 401, "invalid_client"),
        (requests.post(TOKEN, data=form, headers=form_encoded_basic(secret="no")), 401, "invalid_client"),
        (requests.post(TOKEN, data=form, headers=form_encoded_basic("nobody")), 401, "invalid_client"),
        (requests.post(TOKEN, data=form, headers=form_encoded_basic("off")), 401, "invalid_client"),
    ]
    for answer, status, error in faults:
        assert (answer.status_code, answer.json()["error"]) == (status, error)
        assert answer.headers["Cache-Control"] == "no-store"
        assert ("WWW-Authenticate" in answer.headers) == (status == 401)
    # Row 43: an unknown client gets the same answer as a known one with a wrong secret.
    assert faults[8][0].json() == faults[9][0].json()
    answer = redeem(code)
    assert answer.status_code == 200 and answer.headers["Pragma"] == "no-cache"


def test_rows_46_54_and_55_userinfo(alice: Person) -> None:
    """The access token may be in a header or a form, and not in the query. Row 32: the parameter `claims` asks for the
    name. Modules `userinfo-get`, `-post-header`, `-post-body` and `claims-essential`."""
    wanted = json.dumps({"userinfo": {"name": {"essential": True}}})
    alice.open(authorize(BACKEND, claims=wanted))
    tokens = redeem(answered(alice.log_in())["code"]).json()
    token, header = tokens["access_token"], {"Authorization": f"Bearer {tokens['access_token']}"}
    answers = [
        requests.get(USERINFO, headers=header), requests.post(USERINFO, headers=header),
        requests.post(USERINFO, data={"access_token": token}),
    ]  # fmt: skip
    sub = claims(tokens["id_token"])["sub"]
    for answer in answers:
        assert answer.json() == {"sub": sub, "name": "alice@example.com"}
    bare = requests.get(f"{USERINFO}?access_token={token}")
    assert (bare.status_code, bare.headers["WWW-Authenticate"]) == (401, "Bearer")
    for wrong in (tokens["id_token"], "x", token[:-4] + "AAAA"):
        assert userinfo(wrong).status_code == 401


def test_rows_56_to_60_refresh(alice: Person) -> None:
    """A refresh token changes with each use, and an old one ends all. Module `refresh-token`."""
    alice.open(authorize(BACKEND, scope="openid email offline_access", nonce="n"))
    first = redeem(answered(alice.log_in())["code"]).json()
    second = refresh(first["refresh_token"])
    assert second.headers["Cache-Control"] == "no-store"
    old, new = claims(first["id_token"], "n"), claims(second.json()["id_token"])
    assert (old["sub"], old["auth_time"]) == (new["sub"], new["auth_time"]) and "nonce" not in new
    # The same token is used twice at once, as by two tabs.
    with ThreadPoolExecutor(2) as pool:
        twice = list(pool.map(refresh, [second.json()["refresh_token"]] * 2))
    assert [answer.status_code for answer in twice] == [200, 200]
    wider = refresh(twice[0].json()["refresh_token"], scope="openid profile")
    assert wider.json()["error"] == "invalid_scope"
    foreign = requests.post(
        TOKEN,
        data={
            "grant_type": "refresh_token", "refresh_token": twice[0].json()["refresh_token"], "client_id": "post",
            "client_secret": SECRET,
        },
    )  # fmt: skip
    assert foreign.json()["error"] == "invalid_grant"
    # Without the scope `openid`, an access token is not good for userinfo.
    narrow = refresh(twice[1].json()["refresh_token"], scope="email").json()
    refused = userinfo(narrow["access_token"])
    assert refused.status_code == 403
    assert refused.headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="openid"'
    third = refresh(twice[0].json()["refresh_token"], scope="openid")
    assert third.json()["scope"] == "openid"
    # The first token was used several uses ago. It must have been copied, so all tokens of the login end.
    assert refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert refresh(third.json()["refresh_token"]).json()["error"] == "invalid_grant"
    assert userinfo(third.json()["access_token"]).status_code == 401
    alice.open(authorize(BACKEND, prompt="none"))
    assert "refresh_token" not in redeem(answered(alice.open(authorize(BACKEND, prompt="none")))["code"]).json()


def test_row_70_pages_of_other_sites() -> None:
    allowed = "Access-Control-Allow-Origin"
    evil, good = {"Origin": "https://evil.example"}, {"Origin": ORIGIN}
    for path in ("/.well-known/openid-configuration", "/oidc/certs"):
        assert requests.get(BACKEND + path, headers=evil).headers[allowed] == "*"
    for path in ("/oidc/token", "/oidc/userinfo"):
        for method in ("OPTIONS", "POST"):
            answer = requests.request(method, BACKEND + path, headers=good)
            assert answer.headers[allowed] == ORIGIN and "Access-Control-Allow-Credentials" not in answer.headers
            assert allowed not in requests.request(method, BACKEND + path, headers=evil).headers
    for path in ("/oidc/introspect", "/oidc/logout", "/oidc/device"):
        for method in ("OPTIONS", "POST"):
            assert allowed not in requests.request(method, BACKEND + path, headers=good).headers
    for headers in (evil, good):
        answer = requests.get(authorize(BACKEND), headers=headers)
        assert not [name for name in answer.headers if name.startswith("Access-Control-")]
    for method in ("OPTIONS", "POST"):
        answer = requests.request(method, authorize(BACKEND), headers=evil, json={})
        assert not [name for name in answer.headers if name.startswith("Access-Control-")]
        answer = requests.request(method, authorize(BACKEND), headers=good, json={})
        assert answer.headers[allowed] == ORIGIN and "Access-Control-Allow-Credentials" not in answer.headers
        assert "X-MIRACL-CID, X-MIRACL-CLIENT" in answer.headers["Access-Control-Allow-Headers"]


def test_row_6_json_for_who_shows_the_code_itself(alice: Person) -> None:
    """An application opens a session by JSON, as at MIRACL's platform, and shows its QR code itself. Once, it gets the
    URL with the code. Cookies have no effect."""
    alice.open(authorize(BACKEND))
    alice.log_in()
    session = alice.browser.post(authorize(BACKEND, state="j", nonce="n"), json={}).json()
    assert session["qrURL"].rpartition("#")[2] == session["accessId"]
    question = {"webOTT": session["webOTT"]}
    assert alice.browser.post(session["accessURL"], json=question).json()["status"] == "new"
    done = alice.enter_pin(session["accessId"])
    answer: dict[str, Any] = {}
    while not answer.get("redirectURL"):
        answer = requests.post(session["accessURL"], json={**question, "wait": 30, "status": "new"}).json()
    done.result()
    assert (answer["status"], answer["authOTT"]) == ("authenticated", "")
    told = {name: values[0] for name, values in parse_qs(urlsplit(answer["redirectURL"]).query).items()}
    assert (told["state"], told["iss"]) == ("j", BACKEND)
    assert claims(redeem(told["code"]).json()["id_token"], "n")["amr"] == ["mfa", "pin", "hwk"]
    again = requests.post(session["accessURL"], json=question).json()
    assert again["status"] == "expired" and not again["redirectURL"]
    for changes in ({"client_id": "nobody"}, {"redirect_uri": FAR + "/"}, {"scope": "email"}):
        assert requests.post(authorize(BACKEND, **changes), json={}).status_code == 400
    # A client that needs consent gets an error, because no page could ask for it.
    session = requests.post(authorize(BACKEND, "other", scope="openid profile"), json={}).json()
    done = alice.enter_pin(session["accessId"])
    question = {"webOTT": session["webOTT"], "wait": 30, "status": "new"}
    answer = {}
    while not answer.get("redirectURL"):
        answer = requests.post(session["accessURL"], json=question).json()
    done.result()
    assert "error=consent_required" in answer["redirectURL"]


def test_the_code_goes_to_the_phone_or_to_the_page(phone: Phone) -> None:
    """An app that opens a session for a login on the same phone gets the code from the phone's login, if it asks for
    it. The session's page then gets none. A wrong PIN or a client that needs consent brings no code."""

    def opened(client: str = "app", **changes: str) -> dict[str, Any]:
        return dict(requests.post(authorize(BACKEND, client, **changes), json={}).json())

    def present(session: dict[str, Any], pin: str = PIN) -> requests.Response:
        token = phone.pass2(phone.pass2_body(phone.pass1(pin), session["accessId"]))
        url = BACKEND + phone.settings["mobileAuthenticateURL"]
        return requests.post(url, json={"mpinResponse": token, "authzRequest": True})

    session = opened()
    assert present(session, WRONG_PIN).status_code == 401
    answer = present(session)
    assert answer.status_code == 200, answer.text
    tokens = redeem(answer.json()["code"])
    assert tokens.status_code == 200 and claims(tokens.json()["id_token"])["amr"] == ["mfa", "pin", "hwk"]
    poll = requests.post(session["accessURL"], json={"webOTT": session["webOTT"]}).json()
    assert poll["status"] == "expired" and not poll["redirectURL"]
    assert present(session).status_code == 412
    assert present(opened("other", scope="openid profile")).status_code == 403
    # A page that waits for the phone gets the code itself, and the phone none, if the page was first.
    session = opened()
    with ThreadPoolExecutor(1) as pool:
        phone_done = pool.submit(phone.login_browser, PIN, session["accessId"])
        question = {"webOTT": session["webOTT"], "wait": 30, "status": "new"}
        poll = wait_until(lambda: requests.post(session["accessURL"], json=question).json().get("redirectURL"))
        assert "code" not in phone_done.result()
    assert redeem(parse_qs(urlsplit(poll).query)["code"][0]).status_code == 200


def test_only_a_trusted_proxy_asks_who_is_logged_in() -> None:
    """This server has no proxy in front of it, so nobody may ask for a protected host."""
    headers = {"X-Forwarded-Host": "app.example", "X-Forwarded-Proto": "https", "X-Original-URL": "https://app.example/"}
    for path in ("verify", "start", "callback"):
        answer = requests.get(f"{BACKEND}/auth/{path}", headers=headers, allow_redirects=False)
        assert answer.status_code == 403 and "Only a trusted proxy may ask" in answer.text


class Site(http.server.BaseHTTPRequestHandler):
    """The site of a relying party. It keeps the parameters of each call of its redirect URI in `calls`."""

    calls: list[dict[str, list[str]]] = []

    def do_GET(self) -> None:
        self.answer(urlsplit(self.path).query)

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def answer(self, query: str) -> None:
        if self.path.startswith("/callback"):
            self.calls.append(parse_qs(query))
        page = b"<!doctype html><html lang=en><title>Site</title><link rel=icon href=data:><h1>You are back</h1>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[list[dict[str, list[str]]]]:
    port = urlsplit(CALLBACK).port
    assert port
    Site.calls = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site.calls
        server.shutdown()


#: Presses a button three times, and returns for each time whether the form would have been sent.
PRESSES = """
const sent = [], button = document.querySelector("button[value=yes]");
button.form.addEventListener("submit", (event) => { sent.push(!event.defaultPrevented); event.preventDefault(); });
for (let count = 0; count < 3; count++) button.click();
return sent;
"""


@pytest.mark.parametrize("mode", ["query", "form_post"])
def test_in_a_real_browser(
    browser: Browser, phone: Phone, site: list[dict[str, list[str]]], mode: str
) -> None:
    """A login in Chromium by QR code: the page's script leads back to the application, and the browser reports no
    error."""
    browser.open(authorize(BACKEND, redirect_uri=CALLBACK, response_mode=mode))
    look(browser)
    code = read_code(browser.picture("oidc-login")).partition("#")[2]
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(phone.login_browser, PIN, code)
        browser.wait_for("You are back")
        done.result()
    assert site[0]["state"] == ["s"] and site[0]["iss"] == [BACKEND]
    tokens = redeem(site[0]["code"][0], redirect_uri=CALLBACK).json()
    assert userinfo(tokens["access_token"]).status_code == 200
    # An application that needs consent, in a browser that is logged in.
    browser.open(authorize(BACKEND, "other", redirect_uri=CALLBACK, prompt="consent"))
    look(browser)
    browser.click("Allow")
    browser.wait_for("You are back")
    browser.open(authorize(BACKEND, redirect_uri=CALLBACK, prompt="select_account"))
    look(browser)
    # A double click sends the form once, so that the browser gets the answer of the only request.
    assert browser.driver.execute_script(PRESSES) == [True, False, False]
    browser.open(authorize(BACKEND, redirect_uri=CALLBACK, prompt="select_account"))
    browser.click("Not you? Log in as somebody else")
    assert browser.text("#status")
    browser.click("Cancel")
    browser.wait_for("You are back")
    assert site[-1]["error"] == ["access_denied"]


def look(browser: Browser) -> None:
    """Checks that axe finds no barrier in the page, and that it has the client's heading and a button."""
    browser.text("#client")
    browser.driver.execute_script(AXE)
    result = browser.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    assert result["passes"] and not result["violations"], result["violations"]
    assert browser.driver.find_elements(By.CSS_SELECTOR, "main button")

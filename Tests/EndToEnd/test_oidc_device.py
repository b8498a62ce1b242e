"""Logins of devices without a browser (RFC 8628): row 74 of the checklist by which the provider was built."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from phone import Phone, Refused
from relying_party import DEVICE, Person, authorize
from selenium.webdriver.common.by import By
from test_browser import Browser, browser, chromium, read_code
from test_oidc import AXE, BACKEND, PIN, TOKEN, alice, claims, form_encoded_basic, phone, userinfo
from test_oidc_tokens import audited

__all__ = ["alice", "browser", "chromium", "phone"]
PAGE = f"{BACKEND}/device"


def begin(client: str = "tv", **changes: str) -> dict[str, Any]:
    form = {"client_id": client, "scope": "openid email offline_access", **changes}
    answer = requests.post(f"{BACKEND}/oidc/device", data=form)
    assert answer.status_code == 200 and answer.headers["Cache-Control"] == "no-store", answer.text
    return dict(answer.json())


def poll(device: dict[str, Any]) -> requests.Response:
    form = {"grant_type": DEVICE, "device_code": device["device_code"], "client_id": "tv"}
    return requests.post(TOKEN, data=form)


def error(answer: requests.Response) -> str:
    assert answer.status_code == 400
    return str(answer.json()["error"])


def type_code(person: Person, code: str) -> requests.Response:
    data, headers = {"user_code": code}, {"Origin": BACKEND}
    return person.open(PAGE, method="POST", data=data, headers=headers)  # type: ignore[no-any-return]


def test_row_74_a_device(alice: Person) -> None:
    """The device shows a code; a person types it in a browser, logs in and consents; the device gets tokens."""
    device = begin()
    assert device["verification_uri"] == PAGE and (device["expires_in"], device["interval"]) == (600, 5)
    assert device["verification_uri_complete"] == f"{PAGE}?user_code={device['user_code']}"
    assert error(poll(device)) == "authorization_pending"
    assert error(poll(device)) == "slow_down"
    # The URL with the code fills in the field, and nothing else: the person presses the button.
    page = alice.open(device["verification_uri_complete"])
    assert f'value="{device["user_code"]}"' in page.text and 'id="login"' not in page.text
    page = type_code(alice, device["user_code"].lower().replace("-", " "))
    assert 'id="login"' in page.text and "Living &lt;room&gt;" in page.text and device["user_code"] in page.text
    assert "your mail address" in page.text
    # The client is the operator's own, and the person must consent all the same.
    page = alice.log_in()
    assert page.status_code == 200 and "Allow this only if the device is yours" in page.text
    assert device["user_code"] in page.text and "your mail address" in page.text
    page = alice.press("/authorize/confirm", step="consent", answer="yes")
    assert page.status_code == 200 and "The device is logged in" in page.text
    tokens = poll(device).json()
    assert claims(tokens["id_token"])["aud"] == "tv" and "sid" not in claims(tokens["id_token"])
    assert userinfo(tokens["access_token"]).json()["email"] == "alice@example.com"
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": "tv"}
    assert requests.post(TOKEN, data=form).status_code == 200
    assert alice.open(device["verification_uri_complete"]).status_code == 200
    assert type_code(alice, device["user_code"]).status_code == 400


def test_a_suspended_user_gets_no_tokens(alice: Person) -> None:
    """Tokens, refresh tokens and an allowed device code of before have no effect until the user is resumed."""
    waiting, used = begin(), begin()
    for device in (used, waiting):
        type_code(alice, device["user_code"])
        if 'id="login"' in alice.page:
            alice.log_in()
        alice.press("/authorize/confirm", step="consent", answer="yes")
    tokens = poll(used).json()
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": "tv"}
    operator("suspend", "alice@example.com", "--reason", "left")
    try:
        assert userinfo(tokens["access_token"]).status_code == 401
        assert error(requests.post(TOKEN, data=form)) == "invalid_grant"
        assert error(poll(waiting)) in ("access_denied", "invalid_grant", "expired_token")
        assert 'id="login"' in alice.open(authorize(BACKEND)).text
        # The same mailbox cannot register again.
        for user in ("alice@example.com", "Alice+2@example.com"):
            answer = requests.put(f"{BACKEND}/rps/user", json={"mobile": 1, "userId": user})
            assert answer.status_code == 403 and "suspended" in answer.text
        with pytest.raises(Refused):
            alice.phone.login(PIN)
    finally:
        operator("resume", "alice@example.com")
    assert userinfo(tokens["access_token"]).status_code == 200
    assert alice.phone.login(PIN)
    lines = [audited(event)[-1] for event in ("suspended", "resumed")]
    assert [line["user"] for line in lines] == ["alice@example.com"] * 2 and lines[0]["reason"] == "left"


def operator(word: str, user: str, *options: str) -> None:
    command = [os.environ["MPIN_SERVER"], "user", word, user, *options, "--state-dir", os.environ["MPIN_STATE"]]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def test_row_74_a_code_is_good_once(alice: Person) -> None:
    """Of 50 requests with one device code one gets tokens, and they are revoked at once because of the others. The
    browser has a session, so the person is asked for consent without a PIN."""
    device = begin()
    type_code(alice, device["user_code"])
    alice.log_in()
    alice.press("/authorize/confirm", step="consent", answer="yes")
    second = begin()
    page = type_code(alice, second["user_code"])
    assert "Allow this only if the device is yours" in page.text and 'id="login"' not in page.text
    assert "is logged in" in alice.press("/authorize/confirm", step="consent", answer="yes").text
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: poll(second), range(50)))
    good = [answer for answer in answers if answer.status_code == 200]
    assert len(good) == 1
    assert {error(answer) for answer in answers if answer.status_code != 200} == {"invalid_grant"}
    assert userinfo(good[0].json()["access_token"]).status_code == 401
    # The tokens of the other device are still valid.
    assert userinfo(poll(device).json()["access_token"]).status_code == 200


def test_row_74_the_person_declines(alice: Person) -> None:
    """The device hears of it if somebody has logged in. Whoever knows only the code does not end its login."""
    before = len(audited("tokens-refused"))
    for step, answer in (("login", "cancel"), ("consent", "no")):
        device = begin()
        type_code(alice, device["user_code"])
        if step == "consent":
            alice.log_in()
        page = alice.press("/authorize/confirm", step=step, answer=answer)
        assert page.status_code == 200 and "The device is not logged in" in page.text
        assert error(poll(device)) == ("access_denied" if step == "consent" else "authorization_pending")
    lines = audited("tokens-refused", before, 1)
    assert {(line["client"], line["error"]) for line in lines} == {("tv", "access_denied")}


def test_row_74_codes_that_are_none(alice: Person) -> None:
    device = begin()
    for wrong in ("BBBB-BBBB", "", "AAAA-AAAA", "<b>", device["device_code"]):
        page = type_code(alice, wrong)
        assert page.status_code == 400 and 'role="alert"' in page.text and "<b>" not in page.text
    # A page of another site cannot begin the login.
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {}):
        page = requests.post(PAGE, data={"user_code": device["user_code"]}, headers=headers)
        assert page.status_code == 400 and 'id="login"' not in page.text
    assert requests.get(PAGE, params={"user_code": '"><script>'}).text.count("<script") == 1
    refused = requests.post(f"{BACKEND}/oidc/device", data={"scope": "openid"}, headers=form_encoded_basic("app"))
    assert error(refused) == "unauthorized_client"
    assert requests.post(f"{BACKEND}/oidc/device", data={"client_id": "nobody"}).status_code == 401
    page = requests.get(PAGE)
    assert page.headers["X-Frame-Options"] == "DENY" and page.headers["Cache-Control"] == "no-store"


def without_barriers(browser: Browser) -> None:
    """Checks that axe finds no barrier in the page that is open."""
    browser.driver.execute_script(AXE)
    result = browser.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    assert result["passes"] and not result["violations"], result["violations"]


@pytest.mark.parametrize(
    ("language", "title", "button", "allow", "end"),
    [
        ("en", "Log in a device", "Go on", "Allow", "The device is logged in"),
        ("de", "Ein Gerät anmelden", "Weiter", "Erlauben", "Das Gerät ist angemeldet"),
        ("fr", "Connecter un appareil", "Continuer", "Autoriser", "L’appareil est connecté"),
        ("es", "Conectar un dispositivo", "Continuar", "Permitir", "El dispositivo ha iniciado sesión"),
    ],
)
def test_row_74_in_a_real_browser(
    browser: Browser, phone: Phone, language: str, title: str, button: str, allow: str, end: str
) -> None:
    """Each page of a device's login in Chromium, in each language: axe finds no barrier, and the browser reports no
    error."""
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": language}})
    device = begin()
    browser.open(device["verification_uri_complete"])
    browser.wait_for(title)
    without_barriers(browser)
    field = browser.driver.find_element(By.ID, "code")
    field.clear()
    field.send_keys("bbbb-bbbb")
    browser.click(button)
    browser.text("#unknown")
    without_barriers(browser)
    assert all("400" in line for line in browser.complaints())
    browser.driver.find_element(By.ID, "code").send_keys(device["user_code"])
    browser.click(button)
    assert browser.text("#user-code") == device["user_code"]
    without_barriers(browser)
    code = read_code(browser.picture("oidc-device")).partition("#")[2]
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(phone.login_browser, PIN, code)
        browser.text("#user")
        without_barriers(browser)
        done.result()
    browser.click(allow)
    browser.wait_for(end)
    without_barriers(browser)
    assert poll(device).status_code == 200

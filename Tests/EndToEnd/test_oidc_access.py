"""Clients of the OpenID provider that only some users may use."""

from __future__ import annotations

import os
import subprocess

import pytest
import requests
from phone import Phone
from relying_party import FAR, Person, answered, authorize
from selenium.webdriver.common.by import By
from test_browser import Browser, browser, chromium
from test_oidc import (
    BACKEND, PIN, TOKEN, form_encoded_basic, look, other_phone, registered, userinfo,
)  # fmt: skip
from test_oidc_account import give_session, speak
from test_oidc_tokens import audited

__all__ = ["browser", "chromium", "other_phone"]


def put_into(user: str, group: str) -> None:
    """Puts a user into a group, as the operator does. No group: out of all."""
    command = [os.environ["MPIN_SERVER"], "user", "profile", "set", user, "--groups", group]
    subprocess.run([*command, "--state-dir", os.environ["MPIN_STATE"]], check=True, capture_output=True, timeout=120)


def test_a_user_who_may_not(other_phone: Phone) -> None:
    """Whoever is not named gets a page with status 403 that says so, with a PIN and without one. The client is told only
    if the user goes back to it. Somebody else, who is named, can log in there."""
    gina = Person(BACKEND, registered("gina@example.com"), PIN)
    before = len(audited("access-denied"))
    gina.open(authorize(BACKEND, "members"))
    page = gina.log_in()
    assert page.status_code == 403 and "Location" not in page.headers and "mpin-sso" not in page.cookies
    assert 'id="no-access"' in page.text and "gina@example.com" in page.text and "members" in page.text
    told = answered(gina.press("/authorize/confirm", step="no-access", answer="cancel"))
    assert (told["error"], told["state"], told["iss"]) == ("access_denied", "s", BACKEND)
    # In a browser that is logged in, at another client.
    gina.open(authorize(BACKEND))
    gina.log_in()
    for prompt in ("consent", "select_account"):
        assert gina.open(authorize(BACKEND, "members", prompt=prompt)).status_code == 403
    # No answer of a form leads past the page.
    for step in ("no-access", "account", "consent", "end"):
        assert "Location" not in gina.open(authorize(BACKEND, "members")).headers
        answer = gina.press("/authorize/confirm", step=step, answer="yes")
        assert answer.status_code == 403 or answered(answer)["error"] == "access_denied"
    assert answered(gina.open(authorize(BACKEND, "members", prompt="none")))["error"] == "access_denied"
    # An app that shows the QR code itself: neither its phone nor its page gets a code.
    session = requests.post(authorize(BACKEND, "members"), json={}).json()
    proof = gina.phone.pass2(gina.phone.pass2_body(gina.phone.pass1(PIN), session["accessId"]))
    place = BACKEND + gina.phone.settings["mobileAuthenticateURL"]
    refused = requests.post(place, json={"mpinResponse": proof, "authzRequest": True})
    assert refused.status_code == 403 and "may not use" in refused.text
    # At least one line for each page, one for each error, and all of them about her.
    lines = audited("access-denied", before, 10)
    assert {(line["client"], line["user"]) for line in lines} == {("members", "gina@example.com")}
    gina.open(authorize(BACKEND, "members"))
    page = gina.press("/authorize/confirm", step="no-access", answer="other")
    assert 'id="login"' in page.text
    gina.phone = other_phone
    assert "code" in answered(gina.log_in())


def test_a_group(other_phone: Phone) -> None:
    """A user who comes into a group may use the client at once, and whoever leaves it may not: tokens have no effect any
    more."""
    hugo = Person(BACKEND, registered("hugo@example.com"), PIN)
    hugo.open(authorize(BACKEND))
    hugo.log_in()
    assert hugo.open(authorize(BACKEND, "members")).status_code == 403
    put_into("hugo@example.com", "staff")
    answer = hugo.open(authorize(BACKEND, "members", scope="openid offline_access"))
    form = {"grant_type": "authorization_code", "code": answered(answer)["code"], "redirect_uri": FAR}
    tokens = requests.post(TOKEN, data=form, headers=form_encoded_basic("members")).json()
    assert userinfo(tokens["access_token"]).status_code == 200
    put_into("hugo@example.com", "guests")
    assert userinfo(tokens["access_token"]).status_code == 401
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    refused = requests.post(TOKEN, data=form, headers=form_encoded_basic("members"))
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert hugo.open(authorize(BACKEND, "members")).status_code == 403


@pytest.mark.parametrize(
    ("language", "title"), [("en", "No access"), ("de", "Kein Zugang"), ("fr", "Accès refusé"), ("es", "Sin acceso")]
)
def test_in_a_real_browser(browser: Browser, language: str, title: str) -> None:
    """The page in Chromium in each language: axe finds no barrier, and the way to another login works."""
    ida = Person(BACKEND, registered(f"ida-{language}@example.com"), PIN)
    ida.open(authorize(BACKEND))
    ida.log_in()
    give_session(browser, ida)
    speak(browser, language)
    browser.open(authorize(BACKEND, "members"))
    assert browser.text("h1") == title
    assert f"ida-{language}@example.com" in browser.text("#no-access")
    look(browser)
    browser.complaints()  # Chromium reports the status 403.
    browser.driver.find_element(By.CSS_SELECTOR, "button[value=other]").click()
    browser.text("#login")

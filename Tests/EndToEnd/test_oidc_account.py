"""The account page of the OpenID provider, and how a person without a phone signs up in the midst of a login."""

from __future__ import annotations

import email
import email.policy
import itertools
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import mpin
import pytest
import requests
from node import Server
from phone import Phone, Refused, wait_until
from relying_party import CALLBACK, FAR, Person, answered, authorize, clients_file
from selenium.webdriver.common.by import By
from split import Split
from test_browser import Browser, browser, chromium, read_code
from test_oidc import BACKEND, PIN, form_encoded_basic, registered, site, userinfo
from test_oidc_logout import Told, look, told, wait_for
from test_oidc_tokens import audited

__all__ = ["browser", "chromium", "site", "told"]
PAGE = "/account/settings"
NUMBERS = itertools.count()
TITLES = {
    "en": "Profile and devices", "de": "Profil und Geräte", "fr": "Profil et appareils", "es": "Perfil y dispositivos"
}  # fmt: skip


@pytest.fixture
def dora() -> Person:
    """A person whose account is new in each test."""
    return Person(BACKEND, registered(f"dora{next(NUMBERS)}@example.com"), PIN)


def open_account(person: Person) -> requests.Response:
    """Opens the account page, and logs in if there is no session."""
    answer = person.open(person.backend + PAGE)
    assert answer.status_code == 200
    return answer if "data-web-ott" not in answer.text else person.log_in()


def submit(person: Person, path: str, **fields: str) -> requests.Response:
    """Submits a form of the account page that is open."""
    found = re.search(r'name="csrf" value="([^"]+)"', person.page)
    assert found, person.page
    data = {"csrf": found[1], **fields}
    return person.open(person.backend + path, method="POST", data=data, headers={"Origin": person.backend})


def values(person: Person, name: str) -> list[str]:
    """Returns the values of the open page's buttons with this name."""
    return re.findall(rf'name="{name}" value="([^"]+)"', person.page)


def tokens_of(person: Person, client: str, scope: str = "openid profile email offline_access") -> dict[str, Any]:
    """Opens a client with the session of the account page, and returns the tokens."""
    answer = person.open(authorize(person.backend, client, scope=scope))
    if answer.status_code == 200:
        answer = person.press("/authorize/confirm", step="consent", answer="yes")
    form = {"grant_type": "authorization_code", "code": answered(answer)["code"], "redirect_uri": FAR}
    answer = requests.post(f"{person.backend}/oidc/token", data=form, headers=form_encoded_basic(client))
    return dict(answer.json())


def refreshed(token: str, client: str) -> int:
    form = {"grant_type": "refresh_token", "refresh_token": token}
    answer = requests.post(f"{BACKEND}/oidc/token", data=form, headers=form_encoded_basic(client))
    return int(answer.status_code)


def test_the_profile(dora: Person) -> None:
    """Name, picture and language: the user sets them, clients see them, and wrong ones are refused by name."""
    page = open_account(dora)
    assert page.status_code == 200 and f'<strong id="user">{dora.phone.user}</strong>' in page.text
    assert page.headers["X-Frame-Options"] == "DENY" and page.headers["Cache-Control"] == "no-store"
    before = len(audited("profile-changed"))
    profile = {"name": "Dora <D>", "picture": "https://images.example/d.png", "locale": "de-CH"}
    assert 'id="saved"' in submit(dora, "/account/profile", **profile).text
    [line] = audited("profile-changed", before, 1)
    assert (line["members"], line["by"]) == ("name picture locale", "user")
    token = tokens_of(dora, "app")["access_token"]
    found = userinfo(token).json()
    assert {name: found[name] for name in profile} == profile
    open_account(dora)
    assert "Dora &lt;D&gt;" in dora.page and "Dora <D>" not in dora.page
    for member, wrong in (("name", "x" * 101), ("picture", "http://images.example/d.png"), ("locale", "de_CH")):
        page = submit(dora, "/account/profile", **{**profile, member: wrong})
        assert page.status_code == 400 and f'id="{member}-fault" role="alert"' in page.text
    assert userinfo(token).json()["picture"] == profile["picture"]
    submit(dora, "/account/profile", name="", picture="", locale="")
    found = userinfo(token).json()
    assert found["name"] == dora.phone.user and "picture" not in found and "locale" not in found
    # This server sends no mails, so nobody can confirm an address.
    assert 'name="address"' not in open_account(dora).text
    assert submit(dora, "/account/address", address="new@example.com").status_code == 400


def test_the_way_in_and_out(dora: Person) -> None:
    """Without a session the page leads to the login page, which names the service. Who cancels gets the start page."""
    page = dora.open(BACKEND + PAGE)
    assert "data-web-ott" in page.text and "127.0.0.1" in page.text
    assert "form-action 'self'" in page.headers["Content-Security-Policy"]
    end = dora.press("/authorize/confirm", step="login", answer="cancel")
    assert end.status_code == 200 and urlsplit(end.url).path == "/"
    open_account(dora)
    [own] = values(dora, "session")
    assert "logged out" in submit(dora, "/account/sessions", session=own).text
    assert not dora.browser.cookies.get("mpin-sso")
    assert "data-web-ott" in dora.open(BACKEND + PAGE).text


def test_devices(dora: Person, told: type[Told]) -> None:
    """The removal of a device ends what it has logged in. The other device goes on."""
    other = Person(BACKEND, registered(dora.phone.user), PIN)
    open_account(other)
    sid = values(other, "session")[0]
    tokens = tokens_of(other, "shop")
    open_account(dora)
    mine = re.findall(r'id="device-([0-9a-f]{64})">[^<]*</h3>\s*<p>', dora.page)
    devices = values(dora, "device")
    assert len(devices) == 2 and len(mine) == 1
    [theirs] = set(devices) - set(mine)
    # Nobody can remove the device of somebody else.
    stranger = Person(BACKEND, registered("stranger@example.com"), PIN)
    open_account(stranger)
    submit(stranger, "/account/devices", device=theirs)
    assert set(values_after(dora, "device")) == set(devices)
    before = len(audited("revoked"))
    page = submit(dora, "/account/devices", device=theirs)
    assert 'id="saved"' in page.text and values(dora, "device") == mine
    assert [line["identity"] for line in audited("revoked", before, 1)] == [theirs]
    wait_for("shop", sid)
    assert refreshed(tokens["refresh_token"], "shop") == 400
    assert "data-web-ott" in other.open(BACKEND + PAGE).text
    with pytest.raises(Refused):
        other.phone.login(PIN)
    assert dora.phone.login(PIN)
    # The own device ends the session of this page, too.
    assert "data-web-ott" in submit(dora, "/account/devices", device=mine[0]).text


def values_after(person: Person, name: str) -> list[str]:
    open_account(person)
    return values(person, name)


def test_applications(dora: Person) -> None:
    """A consent that is withdrawn is asked for again, and the application's refresh tokens are dead."""
    open_account(dora)
    tokens, own = tokens_of(dora, "other"), tokens_of(dora, "app")
    open_account(dora)
    assert values(dora, "client") == ["other"] and "Somebody&#39;s &lt;shop&gt;" in dora.page
    before = len(audited("consent-withdrawn"))
    page = submit(dora, "/account/applications", client="other")
    assert 'id="saved"' in page.text and values(dora, "client") == []
    assert [line["client"] for line in audited("consent-withdrawn", before, 1)] == ["other"]
    assert refreshed(tokens["refresh_token"], "other") == 400
    assert refreshed(own["refresh_token"], "app") == 200
    assert "Allow" in dora.open(authorize(BACKEND, "other")).text


def test_sessions(dora: Person, told: type[Told]) -> None:
    """The user ends the session of one other browser, and then of all others. Their clients are told."""
    people = [Person(BACKEND, dora.phone, PIN) for _ in range(3)]
    sids = []
    for person in people:
        sids += values_after(person, "session")[:1]
        tokens_of(person, "desk")
    open_account(dora)
    assert set(values(dora, "session")) > set(sids)
    submit(dora, "/account/sessions", session=sids[0])
    wait_for("desk", sids[0])
    assert "data-web-ott" in people[0].open(BACKEND + PAGE).text
    assert "data-web-ott" not in people[1].open(BACKEND + PAGE).text
    submit(dora, "/account/sessions", session="others")
    for sid in sids[1:]:
        wait_for("desk", sid)
    assert len(values(dora, "session")) == 1 and not set(sids) & set(values(dora, "session"))
    assert all("data-web-ott" in person.open(BACKEND + PAGE).text for person in people)
    # Nobody can end the session of somebody else.
    stranger = Person(BACKEND, registered("stranger@example.com"), PIN)
    open_account(stranger)
    [kept] = values(dora, "session")
    submit(stranger, "/account/sessions", session=kept)
    assert values_after(dora, "session") == [kept]


def test_the_way_from_the_website(dora: Person) -> None:
    """The website's own account page links to this one."""
    proof = dora.phone.pass2(dora.phone.pass2_body(dora.phone.pass1(PIN)))
    own = {"Origin": BACKEND}
    dora.browser.post(f"{BACKEND}/mpinAuthenticate", json={"mpinResponse": proof}, headers=own).raise_for_status()
    assert f'href="{BACKEND}{PAGE}"' in dora.browser.get(f"{BACKEND}/account").text


@pytest.fixture(scope="module")
def mailing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that sends mails."""
    folder = tmp_path_factory.mktemp("mailing")
    (folder / "clients.yaml").write_text(clients_file())
    server = Server(folder, mails=folder / "mail")
    server.start("--clients", str(folder / "clients.yaml"))
    yield server
    server.close()


def mailed(server: Server | Split, address: str) -> str:
    """Returns the link in the newest mail to an address."""
    found = re.search(r"^http\S+", mail_text(server, address)[1], re.MULTILINE)
    assert found
    return found[0]


def mail_text(server: Server | Split, address: str) -> tuple[str, str]:
    """Returns the subject and the text of the newest mail to an address."""
    folder = server.mails
    assert folder

    def find() -> tuple[str, str] | None:
        for file in sorted(folder.glob("*.eml"), reverse=True):
            mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
            if address in mail["To"]:
                text = mail.get_body(("plain",))
                assert text is not None
                return str(mail["Subject"]), str(text.get_content())
        return None

    subject, text = wait_until(find)
    return subject, text


def with_mail(server: Server | Split, user: str) -> Person:
    phone = Phone(server.backend, user)
    assert not phone.start_registration()
    assert requests.post(mailed(server, user)).status_code == 200
    phone.finish_registration(PIN)
    return Person(server.backend, phone, PIN)


def test_a_new_mail_address(mailing: Server) -> None:
    """The new address counts after its link was opened and the button pressed, once. Until then the old one stays. A
    later request replaces the earlier link."""
    eve = with_mail(mailing, "eve@example.com")
    open_account(eve)
    token = tokens_of(eve, "app")["access_token"]

    def claims() -> tuple[str, bool]:
        answer = requests.get(f"{mailing.backend}/oidc/userinfo", headers={"Authorization": f"Bearer {token}"}).json()
        return answer["email"], answer["email_verified"]

    assert claims() == ("eve@example.com", True)
    open_account(eve)
    assert submit(eve, "/account/address", address="no address").status_code == 400
    assert "eve2@example.com" in submit(eve, "/account/address", address="eve2@example.com").text
    earlier = mailed(mailing, "eve2@example.com")
    submit(eve, "/account/address", address="eve3@example.com")
    link = mailed(mailing, "eve3@example.com")
    assert link.startswith(f"{mailing.backend}/account/link?token=")
    assert requests.get(earlier).status_code == 410
    page = requests.get(link)
    assert page.status_code == 200 and "eve3@example.com" in page.text
    assert claims() == ("eve@example.com", True)
    form = {"token": link.partition("=")[2]}
    own = {"Origin": mailing.backend}
    place = f"{mailing.backend}/account/link"
    assert requests.post(place, data=form, headers={"Origin": "https://evil.example"}).status_code == 403
    assert claims() == ("eve@example.com", True)
    told = {"en": "has changed", "de": "wurde geändert"}
    assert not any(words in mail_text(mailing, "eve@example.com")[0] for words in told.values())
    german = {**own, "Accept-Language": "de"}
    assert requests.post(place, data=form, headers=german).status_code == 200
    assert claims() == ("eve3@example.com", True)
    # The owner of the old address learns of it, in the language of the browser.
    subject, text = mail_text(mailing, "eve@example.com")
    assert told["de"] in subject and "eve3@example.com" in text and "eve@example.com" in text
    assert mailed(mailing, "eve@example.com") == mailing.backend + PAGE
    assert requests.post(place, data=form, headers=own).status_code == 410
    assert requests.get(link).status_code == 410
    open_account(eve)
    submit(eve, "/account/address", address="eve4@example.com")
    link = mailed(mailing, "eve4@example.com")
    assert "pending" not in submit(eve, "/account/address", answer="cancel").text
    assert requests.post(place, data={"token": link.partition("=")[2]}, headers=own).status_code == 410
    assert claims() == ("eve3@example.com", True)
    audit = Path(mailing.state, "audit/audit.jsonl")
    wait_until(lambda: "email-verified" in audit.read_text())
    events = [json.loads(line)["event"] for line in audit.read_text().splitlines()]
    assert events.count("email-verified") == 1


def speak(browser: Browser, language: str) -> None:
    browser.driver.execute_cdp_cmd("Network.enable", {})
    browser.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": language}})


def give_session(browser: Browser, person: Person) -> None:
    browser.open(f"{person.backend}/login")
    browser.driver.add_cookie({"name": "mpin-sso", "value": person.browser.cookies["mpin-sso"]})


@pytest.mark.parametrize("language", TITLES)
def test_in_a_real_browser(browser: Browser, mailing: Server, language: str) -> None:
    """The pages in Chromium in each language: axe finds no barrier, and the browser reports no error. The forms work
    without scripts."""
    fay = with_mail(mailing, f"fay-{language}@example.com")
    open_account(Person(mailing.backend, fay.phone, PIN))
    open_account(fay)
    tokens_of(fay, "other")
    speak(browser, language)
    give_session(browser, fay)
    browser.open(mailing.backend + PAGE)
    assert browser.text("h1") == TITLES[language]
    browser.driver.find_element(By.CSS_SELECTOR, "#devices summary").click()
    look(browser)
    browser.driver.find_element(By.ID, "locale").send_keys("de_CH")
    browser.driver.find_element(By.CSS_SELECTOR, "#profile button").click()
    browser.text("#locale-fault")
    look(browser)
    browser.complaints()  # Chromium reports the status 400.
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    field = browser.driver.find_element(By.ID, "locale")
    field.clear()
    field.send_keys(language)
    browser.driver.find_element(By.CSS_SELECTOR, "#profile button").click()
    browser.text("#saved")
    browser.driver.find_element(By.ID, "address").send_keys(f"new-{language}@example.com")
    browser.driver.find_element(By.CSS_SELECTOR, "#address-section button").click()
    browser.text("#pending")
    browser.driver.find_element(By.CSS_SELECTOR, "#applications button").click()
    wait_until(lambda: "Somebody" not in browser.text("#applications"))
    browser.driver.find_element(By.CSS_SELECTOR, "#browsers > form button").click()
    wait_until(lambda: len(browser.driver.find_elements(By.CSS_SELECTOR, "#browsers li")) == 1)
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    look(browser)
    browser.picture(f"{language}-account-settings")
    browser.open(mailed(mailing, f"new-{language}@example.com"))
    look(browser)
    browser.driver.find_element(By.CSS_SELECTOR, "main button").click()
    wait_until(lambda: not browser.driver.find_elements(By.CSS_SELECTOR, "main form"))
    look(browser)
    browser.driver.find_element(By.CSS_SELECTOR, "main a.button").click()
    wait_until(lambda: f"new-{language}@example.com" == browser.text("#email"))


@pytest.mark.parametrize("language", TITLES)
def test_sign_up_within_a_login(
    browser: Browser, site: list[dict[str, list[str]]], tmp_path: Path, language: str
) -> None:
    """A person without a phone begins a login, finds out on the page where to sign up, does it with our client, and
    goes on with the same login, which ends at the relying party."""
    speak(browser, language)
    browser.open(authorize(BACKEND, redirect_uri=CALLBACK))
    browser.driver.find_element(By.CSS_SELECTOR, "#sign-up summary").click()
    look(browser)
    svg = browser.driver.find_element(By.CSS_SELECTOR, "#sign-up svg")
    picture = tmp_path / "sign-up.png"
    browser.driver.execute_script("arguments[0].scrollIntoView()", svg)
    svg.screenshot(str(picture))
    address = read_code(picture)
    assert address == browser.text("#sign-up code") == BACKEND
    with mpin.SDK(tmp_path / "store") as phone:
        service = phone.get_service_details(address)
        phone.set_backend(service.backend_url, service.rps_prefix)
        user = phone.make_new_user(f"gus-{language}@example.com")
        phone.start_registration(user)
        phone.confirm_registration(user)
        phone.finish_registration(user, PIN)
        browser.driver.find_elements(By.CSS_SELECTOR, ".choice a")[1].click()
        number = browser.text("#number")
        with ThreadPoolExecutor() as beside:
            phone.start_authentication(user)
            login = beside.submit(phone.finish_authentication_an, user, PIN, number)
            browser.text("button[value=yes]")
            browser.driver.find_element(By.CSS_SELECTOR, "button[value=yes]").click()
            login.result()
    browser.wait_for("You are back")
    assert site[-1]["code"]

"""The samples of bindings/samples: people log in to each of them in Chromium, with a phone.

samples.sh starts the samples. It names the address of each in the environment; a sample that it has not started is not
tested.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mpin
import pytest
import requests
from phone import Phone
from test_browser import BACKEND, PIN, Browser, chromium, read_code

__all__ = ["chromium"]
ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "bindings/samples"


def sample(name: str) -> str:
    """Returns the address of a sample. samples.sh selects the tests of the samples that it has started."""
    return os.environ[f"MPIN_SAMPLE_{name.upper()}"]


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    chromium.forget_everything()
    yield chromium
    assert complaints(chromium) == []


def complaints(browser: Browser) -> list[str]:
    """Returns the errors that the browser has reported, except that a sample has no icon."""
    return [text for text in browser.complaints() if "/favicon.ico" not in text]


@pytest.fixture(scope="session")
def phone() -> Phone:
    phone = Phone(BACKEND, "alice@example.com")
    assert phone.start_registration()
    phone.finish_registration(PIN)
    return phone


def scan(browser: Browser, phone: Phone, name: str, then: Callable[[], None]) -> None:
    """Logs the browser in by the QR code that it shows. `then` waits for the page after that."""
    browser.text("#client")
    code = read_code(browser.picture(f"sample-{name}")).partition("#")[2]
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(phone.login_browser, PIN, code)
        then()
        done.result()


def test_flask(browser: Browser, phone: Phone) -> None:
    browser.open(sample("flask"))
    browser.click("Log in")
    scan(browser, phone, "flask", lambda: browser.wait_for("Welcome, alice@example.com"))
    browser.click("Log out")
    browser.wait_for("Log in")
    # A user who declines sees it on the site. The browser reports the status 403 of that page.
    browser.forget_everything()
    browser.click("Log in")
    browser.click("Cancel")
    browser.wait_for("Not logged in")
    assert [text for text in complaints(browser) if "403" not in text] == []


def test_flask_is_short_and_documented() -> None:
    """The sample has at most 40 lines, and docs/openid.md shows all of them."""
    site = (SAMPLES / "flask/shop.py").read_text()
    assert len(site.splitlines()) <= 40
    assert f"```python\n{site}```\n" in (ROOT / "docs/openid.md").read_text()
    tested = (ROOT / "Tests/EndToEnd/oidc-requirements.txt").read_text().splitlines()
    assert set((SAMPLES / "flask/requirements.txt").read_text().splitlines()) <= set(tested)


def test_apache(browser: Browser, phone: Phone) -> None:
    address = sample("apache")
    browser.open(address + "/")
    scan(browser, phone, "apache", lambda: browser.wait_for("Welcome, alice@example.com"))
    assert browser.driver.current_url == address + "/"


def test_nginx(browser: Browser, phone: Phone) -> None:
    """The website has no code for logins. It is on this machine by http, so its cookies have no `__Host-`."""
    address = sample("nginx")
    browser.open(address + "/reports?week=7")
    scan(browser, phone, "nginx", lambda: browser.wait_for("Welcome, alice@example.com"))
    assert browser.driver.current_url == address + "/reports?week=7"
    cookies = {cookie["name"]: cookie for cookie in browser.driver.get_cookies()}
    assert cookies["mpin-auth"]["httpOnly"] and not cookies["mpin-auth"]["secure"]
    assert not any("login" in name for name in cookies)


def test_mobile(tmp_path: Path) -> None:
    """An app logs its user in on the same phone: the client library gets the code, and the app's back end redeems it,
    once."""
    address = sample("mobile")

    def code(pin: bytes = PIN.encode()) -> str:
        for method in ("GET", "POST"):
            url = requests.request(method, address + "/authzurl").json()["authorizeURL"]
        access_code = sdk.get_access_code(url)
        sdk.start_authentication_mfa(user, access_code)
        return sdk.finish_authentication_mfa(user, pin, access_code)

    def back_end(**body: object) -> int:
        return requests.post(address + "/authtoken", json=body).status_code

    with mpin.SDK(tmp_path / "store", backend=BACKEND) as sdk, sdk.make_new_user("carol@example.com") as user:
        sdk.start_registration(user)
        sdk.confirm_registration(user)
        sdk.finish_registration(user, PIN.encode())
        first = code()
        assert back_end(code=first, userID=user.id) == 200
        assert back_end(code=first, userID=user.id) == 401
        assert back_end(code=code(), userID="mallory@example.com") == 401
        assert [back_end(userID=user.id), back_end(code=7, userID=user.id)] == [400, 400]
        with pytest.raises(mpin.IncorrectPinError):
            code(b"4321")
        assert back_end(code=code(), userID=user.id) == 200


def test_nginx_is_documented() -> None:
    site = (SAMPLES / "nginx/site.conf").read_text()
    assert f"```nginx\n{site}```\n" in (ROOT / "docs/forward-auth.md").read_text()

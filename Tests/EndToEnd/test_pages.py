"""Tests every page of the website in every language, light and dark. axe, a tool that checks accessibility, must find
nothing wrong, and nothing may be cut off on a phone.

With SCREENSHOTS=FOLDER the pictures for the documentation are also written to FOLDER.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import axe_core_python
import pytest
from phone import Phone, Refused, wait_until
from ports import free_ports
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.wait import WebDriverWait
from test_browser import (
    BACKEND, DESK_SIZE, PHONE_SIZE, PICTURES, PIN, WRONG_PIN, Browser, browser, chromium, mailed_link, shown_code,
)  # fmt: skip

__all__ = ["browser", "chromium"]
AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
LANGUAGES = ["en", "de", "fr", "es"]
#: For each language, a word that only the start page in this language contains.
WORDS = {"en": "steal", "de": "stehlen", "fr": "voler", "es": "robar"}
SCREENSHOTS = os.environ.get("SCREENSHOTS")


class Look:
    """Checks the open page: light and dark, on a desktop and on a phone."""

    def __init__(self, browser: Browser, language: str) -> None:
        self._browser = browser
        self._driver = browser.driver
        self._language = language
        self.seen: list[str] = []
        self._driver.execute_cdp_cmd("Network.enable", {})
        self.speak(language)

    def speak(self, language: str) -> None:
        self._driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": language}})

    def __call__(self, name: str) -> None:
        assert self._driver.execute_script("return document.documentElement.lang") == self._language
        self.seen.append(name)
        for scheme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            found = self.violations()
            assert not found, f"{name}, {self._language}, {scheme}: {found}"
            self.keep(name, scheme)
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self._browser.resize({**PHONE_SIZE, "deviceScaleFactor": 1.5})
        width = self._driver.execute_script("return document.documentElement.scrollWidth")
        assert width <= PHONE_SIZE["width"], f"{name}, {self._language}: {width} wide"
        self.keep(name, "phone")
        self._browser.resize(DESK_SIZE)

    def violations(self) -> list[str]:
        if not self._driver.execute_script("return typeof axe === 'object'"):
            self._driver.execute_script(AXE)
        result = self._driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
        assert result["passes"], "axe has looked at nothing"
        return [
            f"{violation['id']}: {node['html']} {node['any'] and node['any'][0]['message']}"
            for violation in result["violations"]
            for node in violation["nodes"]
        ]

    def keep(self, name: str, scheme: str) -> None:
        """Takes a picture of the page in English and in German only. The texts in other languages are about as long."""
        if self._language in ("en", "de"):
            self._browser.picture(f"{self._language}-{name}-{scheme}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_axe_finds_no_violation_on_any_page(browser: Browser, language: str) -> None:
    look = Look(browser, language)
    look_at_the_plain_pages(browser, look, language)
    phone = look_at_a_registration(browser, look, f"pages.{language}@example.com")
    look_at_a_deleted_registration(browser, look, f"deleted.{language}@example.com")
    look_at_waiting_for_the_mail(browser, look, f"waiting.{language}@example.com")
    look_at_a_login(browser, look, phone)
    look_at_a_login_without_script(browser, look, phone)
    assert len(look.seen) == len(set(look.seen)) >= 26
    # Chromium may report pages with a 4xx status, but no other errors.
    assert all("the server responded with a status of 4" in complaint for complaint in browser.complaints())


def look_at_the_plain_pages(browser: Browser, look: Look, language: str) -> None:
    browser.open("/")
    assert WORDS[language] in browser.text()
    look("home")
    for name, path in [
        ("sign-up", "/signup"), ("no-such-page", "/nothing/here"), ("bad-link", "/mpinActivate?i=7b7d&e=x&s=00"),
    ]:  # fmt: skip
        browser.open(path)
        look(name)


def look_at_a_registration(browser: Browser, look: Look, user: str) -> Phone:
    phone = Phone(BACKEND, user)
    phone.start_registration()
    link = mailed_link(user)
    browser.open(link)
    look("confirm")
    press(browser, "main button:not(.quiet)")
    look("confirmed")
    browser.open(link)
    look("confirmed-before")
    phone.finish_registration(PIN)
    browser.open(link)
    look("used-link")
    return phone


def look_at_a_deleted_registration(browser: Browser, look: Look, user: str) -> None:
    phone = Phone(BACKEND, user)
    phone.start_registration()
    link = mailed_link(user)
    browser.open(link)
    press(browser, "main button.quiet")
    assert user in browser.text()
    look("deleted")
    browser.open(link)
    look("expired-link")
    with pytest.raises(Refused):
        phone.finish_registration(PIN)


def look_at_waiting_for_the_mail(browser: Browser, look: Look, user: str) -> None:
    browser.open("/signup/mail")
    look("wait-for-mail")
    for name in ("mail-sent", "mail-too-early"):
        browser.open("/signup/mail")
        browser.driver.find_element(By.ID, "address").send_keys(user)
        press(browser, "main button")
        button = browser.driver.find_element(By.ID, "resend")
        assert not button.is_enabled() and ":" in button.text, "counts down"
        assert user in browser.text()
        look(name)


def look_at_a_login(browser: Browser, look: Look, phone: Phone) -> None:
    shown_code(browser, "number")
    look("login-number")
    code = shown_code(browser, "code")
    look("login-code")
    phone.report("user", code)
    browser.wait_for(phone.user)
    look("login-user")
    with pytest.raises(Refused):
        phone.login_browser(WRONG_PIN, code)
    wait_until(lambda: is_wrong(browser))
    look("login-wrong-pin")
    phone.report("abort", code)
    wait_until(lambda: browser.driver.find_element(By.ID, "renew").is_displayed())
    look("login-declined")
    # Replaces the page's code by an unknown one. The server gives the same answer for an unknown and for an expired
    # code.
    browser.driver.execute_script("document.getElementById('login').dataset.webOtt = '00'")
    phone.report("wid", code)
    wait_until(lambda: browser.driver.find_elements(By.CSS_SELECTOR, ".login.over"))
    look("login-expired")
    browser.open("/login")
    log_in(browser, phone)
    look("account")
    browser.open("/")
    look("home-logged-in")
    browser.open("/account")
    press(browser, "main button")
    look("logged-out")
    for answer in ("no", "yes"):
        number = shown_code(browser, "number")
        with ThreadPoolExecutor() as beside:
            login = beside.submit(phone.login_browser, PIN, number)
            wait_until(lambda: browser.path == "/login/confirm")
            login.result()
        if answer == "no":
            look("is-this-you")
        press(browser, f"button[value={answer}]")
        if answer == "no":
            look("not-logged-in")
    assert browser.path == "/account"


def log_in(browser: Browser, phone: Phone) -> None:
    code = shown_code(browser, "code")
    with ThreadPoolExecutor() as beside:
        login = beside.submit(phone.login_browser, PIN, code)
        wait_until(lambda: browser.path == "/account")
        login.result()


def look_at_a_login_without_script(browser: Browser, look: Look, phone: Phone) -> None:
    """Checks the pages without scripts. They are switched on only for axe, which is a script itself."""

    def script(is_on: bool) -> None:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not is_on})

    script(False)
    browser.open("/login")
    press(browser, "main form button")
    script(True)
    look("not-yet")
    field = browser.driver.find_element(By.NAME, "webOTT")
    browser.driver.execute_script("arguments[0].value = '00'", field)
    press(browser, "main form button")
    look("too-late")
    browser.open("/login")
    browser.driver.execute_script(
        "document.querySelector('[name=csrf]').value = '00'; document.querySelector('main form').submit()"
    )
    wait_until(lambda: not browser.driver.find_elements(By.ID, "login"))
    look("refused-form")


def press(browser: Browser, selector: str) -> None:
    """Presses the button and waits for the next page."""
    old = browser.driver.find_element(By.TAG_NAME, "html")
    browser.driver.find_element(By.CSS_SELECTOR, selector).click()

    def is_there(driver: WebDriver) -> bool:
        ready = driver.execute_script("return document.readyState") == "complete"
        return ready and driver.find_element(By.TAG_NAME, "html") != old

    # While a page is replaced by another one, the driver reports various errors.
    wait = WebDriverWait(browser.driver, 60, poll_frequency=0.02, ignored_exceptions=[WebDriverException])
    wait.until(is_there)


def is_wrong(browser: Browser) -> bool:
    return bool(browser.driver.find_elements(By.CSS_SELECTOR, ".login.wrong"))


@pytest.mark.parametrize("zone, shown", [("Asia/Tokyo", 9), ("America/Sao_Paulo", -3), ("UTC", 0)])
def test_times_are_those_of_the_visitors_zone(browser: Browser, zone: str, shown: int) -> None:
    phone = Phone(BACKEND, f"zone{shown}@example.com")
    phone.start_registration()
    browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})
    try:
        browser.open(mailed_link(phone.user))
        time = browser.driver.find_element(By.TAG_NAME, "time")
        utc = time.get_attribute("datetime")
        assert utc is not None and utc.endswith("Z") and time.get_attribute("title") == utc[:16].replace("T", " ") + " UTC"
        hour = (int(utc[11:13]) + shown) % 24
        assert f"{hour % 12 or 12}:{utc[14:16]}" in time.text and ("PM" if hour >= 12 else "AM") in time.text
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})


def test_without_script_times_are_utc(browser: Browser) -> None:
    phone = Phone(BACKEND, "zone.none@example.com")
    phone.start_registration()
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.open(mailed_link(phone.user))
    assert browser.text("time").endswith(" UTC")


def test_the_mail_comes_again_when_resend_is_pressed(browser: Browser) -> None:
    user = "again@example.com"
    phone = Phone(BACKEND, user)
    phone.start_registration()
    link = mailed_link(user)
    mails = Path(os.environ["MPIN_MAILS"])

    def count() -> int:
        return sum(f"To: <{user}>" in file.read_text() for file in mails.glob("*.eml"))

    assert count() == 1
    browser.open("/signup")
    browser.click("No mail has come?")
    browser.wait_for("Your mail address")
    browser.driver.find_element(By.ID, "address").send_keys(user)
    browser.click("Resend")
    browser.wait_for("the mail is on its way again")
    wait_until(lambda: count() == 2)
    assert mailed_link(user) == link


@pytest.fixture(scope="module")
def branded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Starts another server, with its own name, logo and colour, and with codes that expire soon."""
    folder = tmp_path_factory.mktemp("branded")
    logo = folder / "logo.svg"
    logo.write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 32"><path d="M0 32 32 0l32 32z"/></svg>')
    port, *others = free_ports(4)
    names = ["--port", "--private-port", "--dta1-port", "--dta2-port"]
    ports = [text for pair in zip(names, map(str, [port, *others])) for text in pair]
    command = [
        os.environ["MPIN_SERVER"], "--all-in-one", "--state-dir", str(folder / "state"), "--force-activate",
        "--service-name", "Röst & Söhne", "--service-logo", str(logo), "--accent-color", "ffcc00", "--language", "de",
        "--access-number-seconds", "10", "--log-level", "error", *ports,
    ]  # fmt: skip

    def answers() -> bool:
        try:
            with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
                connection.request("GET", "/")
                return connection.getresponse().status == 200
        except OSError:
            return False

    with subprocess.Popen(command) as process:
        try:
            wait_until(answers)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def test_a_brand_of_any_colour_is_readable_light_and_dark(browser: Browser, branded: str) -> None:
    """Uses yellow as the operator's colour. White text on yellow would not be readable, nor yellow text on white."""
    look = Look(browser, "de")
    look.speak("ja")
    for name, path in [("home", "/"), ("sign-up", "/signup"), ("login-number", "/login/number"), ("login", "/login")]:
        browser.open(branded + path)
        look(f"brand-{name}")
    assert browser.driver.title.endswith("· Röst & Söhne")
    image = browser.driver.find_element(By.CSS_SELECTOR, ".brand img")
    assert image.get_property("naturalWidth") > 0, "the logo is shown"
    icon = browser.driver.find_element(By.CSS_SELECTOR, "link[rel=icon]")
    assert urlsplit(str(icon.get_property("href"))).path == "/logo.svg"


def test_an_expired_code_is_dimmed_and_offers_another(browser: Browser, branded: str) -> None:
    browser.open(branded + "/login")
    first = browser.driver.find_element(By.ID, "login").get_attribute("data-web-ott")
    wait_until(lambda: browser.driver.find_elements(By.CSS_SELECTOR, ".login.over"))
    assert browser.shows("Start again")
    browser.click("Start again")
    wait_until(lambda: not browser.driver.find_elements(By.CSS_SELECTOR, ".login.over"))
    assert browser.driver.find_element(By.ID, "login").get_attribute("data-web-ott") != first


def test_pictures_for_the_documentation(browser: Browser) -> None:
    """Checks that the screenshots are small enough for the repository. With SCREENSHOTS=FOLDER, writes them to
    FOLDER."""
    folder = Path(SCREENSHOTS) if SCREENSHOTS else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    for name in [
        "en-home-light", "en-login-code-light", "en-login-code-dark", "en-login-wrong-pin-phone", "en-confirm-phone",
        "en-account-light", "en-is-this-you-phone", "de-login-number-phone",
    ]:  # fmt: skip
        picture = (PICTURES / f"{name}.png").read_bytes()
        assert len(picture) < 100_000, f"{name} has {len(picture)} bytes"
        if folder:
            (folder / f"{name}.png").write_bytes(picture)

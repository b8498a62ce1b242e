"""Tests the website in a real browser, with a phone beside it and a running server.

Every test starts without cookies. A test fails if the browser reports an error, for example of a script or of the
content security policy.
"""

from __future__ import annotations

import email
import email.policy
import http.server
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from phone import Phone, Refused, wait_until
from selenium import webdriver
from selenium.common.exceptions import TimeoutException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

BACKEND = os.environ["MPIN_BACKEND"]
MAILS = Path(os.environ["MPIN_MAILS"])
PICTURES = Path(os.environ["MPIN_PICTURES"])
PIN, WRONG_PIN = "1234", "4321"
PHONE_SIZE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
DESK_SIZE = {"width": 1100, "height": 900, "deviceScaleFactor": 1, "mobile": False}


class Browser:
    """Chromium, with the actions that the tests need."""

    def __init__(self, *arguments: str) -> None:
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", *arguments):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.resize(DESK_SIZE)

    def resize(self, size: dict[str, object]) -> None:
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", dict(size))

    def open(self, path: str) -> None:
        self.driver.get(BACKEND + path if path.startswith("/") else path)

    def text(self, selector: str = "main") -> str:
        return str(self._element(By.CSS_SELECTOR, selector, lambda element: element.text))

    def click(self, text: str) -> None:
        """Presses the button or link with that text."""
        path = f"//a[normalize-space()='{text}'] | //button[normalize-space()='{text}']"
        self._element(By.XPATH, path, lambda element: element.click())

    def shows(self, text: str) -> bool:
        """Whether a button or link with that text can be seen."""
        path = f"//a[normalize-space()='{text}'] | //button[normalize-space()='{text}']"
        return any(element.is_displayed() for element in self.driver.find_elements(By.XPATH, path))

    def _element(self, by: str, selector: str, use: Callable[[WebElement], object]) -> object:
        """Calls `use` with an element. Tries again for up to a minute, because the driver reports errors while a page
        is loading."""
        wait = WebDriverWait(self.driver, 60, poll_frequency=0.02, ignored_exceptions=[WebDriverException])
        try:
            return wait.until(lambda driver: [use(driver.find_element(by, selector))])[0]
        except TimeoutException:
            text = self.driver.find_element(By.TAG_NAME, "body").text
            raise AssertionError(f"waited for {selector}; the page: {text!r}") from None

    def wait_for(self, text: str) -> None:
        self.wait_until(text, lambda: self.text("body"))

    def wait_until(self, text: str, shown: Callable[[], str]) -> None:
        """Waits until what is shown has the text. Fails with what is shown instead."""
        try:
            wait_until(lambda: text in shown())
        except TimeoutError:
            raise AssertionError(f"waited for {text!r} in {shown()!r}; the page: {self.path}") from None

    @property
    def path(self) -> str:
        return str(self.driver.current_url).removeprefix(BACKEND)

    def picture(self, name: str) -> Path:
        file = PICTURES / f"{name}.png"
        self.driver.save_screenshot(str(file))
        return file

    def complaints(self) -> list[str]:
        """The errors that the browser has reported since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]

    def forget_everything(self) -> None:
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {}})
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.resize(DESK_SIZE)


class CClient:
    """The C example as a phone, with its own store."""

    def __init__(self, store: Path) -> None:
        self._command = [os.environ["MPIN_EXAMPLE"], "--backend", BACKEND, "--store", str(store)]

    def run(self, pin: str, *command: str) -> str:
        """Runs a command of the example and returns the last line that it prints."""
        done = subprocess.run([*self._command, *command], input=pin + "\n", capture_output=True, text=True, timeout=120)
        return done.stdout.splitlines()[-1]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.driver.quit()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    chromium.forget_everything()
    yield chromium
    assert chromium.complaints() == []


@pytest.fixture(scope="session")
def alice(chromium: Browser) -> Phone:
    return registered(chromium, "alice@example.com")


def registered(browser: Browser, user: str) -> Phone:
    """A phone whose user has confirmed the registration in the browser."""
    phone = Phone(BACKEND, user)
    assert not phone.start_registration()
    browser.open(mailed_link(user))
    browser.click("Confirm")
    browser.wait_for("choose a PIN")
    phone.finish_registration(PIN)
    return phone


def mailed_link(user: str) -> str:
    """The link in the user's mail."""

    def find() -> str | None:
        for file in MAILS.glob("*.eml"):
            mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
            if user in mail["To"]:
                text = mail.get_body(("plain",))
                assert text is not None
                found = re.search(r"^http\S+", text.get_content(), re.MULTILINE)
                assert found is not None
                return found[0]
        return None

    return str(wait_until(find))


def read_code(picture: Path) -> str:
    """Returns the text of the QR code in the picture."""
    command = ["zbarimg", "--nodbus", "--quiet", "--raw", str(picture)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def shown_code(browser: Browser, way: str) -> str:
    """Opens a login page and returns the access number or the id in the QR code, as a user or a camera would read
    it."""
    if way == "number":
        browser.open("/login/number")
        return browser.text("#number")
    browser.open("/login")
    url, _, code = read_code(browser.picture("login-code")).partition("#")
    assert url == BACKEND
    return code


def log_in(browser: Browser, phone: Phone, way: str) -> dict[str, object]:
    """Logs a browser in with a phone. Returns what the phone needs to log the browser out."""
    code = shown_code(browser, way)
    with ThreadPoolExecutor() as beside:
        login = beside.submit(phone.login_browser, PIN, code)
        say_yes(browser, phone.user, way)
        browser.wait_for(f"You are logged in as {phone.user}")
        assert browser.path == "/account"
        return login.result()


def say_yes(browser: Browser, user: str, way: str) -> None:
    """Clicks on yes after a login by number, when the page asks whether this user shall be logged in."""
    if way == "number":
        browser.wait_for(f"about to be logged in as {user}")
        browser.click("Yes, log me in")


def assert_logged_out(browser: Browser) -> None:
    browser.open("/account")
    assert browser.path == "/login"
    assert "logged in as" not in browser.text("body")


def test_sign_up_tells_what_to_do_and_what_mail_to_expect(browser: Browser) -> None:
    browser.open("/")
    browser.picture("home")
    browser.click("Sign up")
    assert f"--backend {BACKEND}" in browser.text()
    assert "Confirm your M-Pin registration" in browser.text()
    browser.picture("sign-up")


def test_a_registration_is_confirmed_by_a_click_and_not_by_opening_the_link(browser: Browser) -> None:
    phone = Phone(BACKEND, "bob@example.com")
    phone.start_registration()
    browser.open(mailed_link(phone.user))
    assert phone.user in browser.text()
    browser.picture("confirm")
    with pytest.raises(Refused) as refusal:
        phone.finish_registration(PIN)
    assert refusal.value.status == 401
    browser.click("Confirm")
    browser.wait_for("choose a PIN")
    browser.picture("confirmed")
    phone.finish_registration(PIN)
    phone.login(PIN)


@pytest.mark.parametrize("way", ["code", "number"])
def test_a_phone_logs_the_browser_in_and_the_browser_logs_out(browser: Browser, alice: Phone, way: str) -> None:
    assert_logged_out(browser)
    log_in(browser, alice, way)
    browser.picture("account")
    browser.open("/")
    assert alice.user in browser.text()
    browser.open("/account")
    browser.click("Log out")
    browser.wait_for("You are logged out")
    assert_logged_out(browser)


@pytest.mark.parametrize("way", ["code", "number"])
def test_a_wrong_pin_is_shown_and_the_right_one_after_it_logs_in(browser: Browser, alice: Phone, way: str) -> None:
    code = shown_code(browser, way)
    with pytest.raises(Refused) as refusal:
        alice.login_browser(WRONG_PIN, code)
    assert refusal.value.status == 401
    browser.wait_for("Wrong PIN. Try again on your phone.")
    browser.picture(f"wrong-pin-{way}")
    with ThreadPoolExecutor() as beside:
        login = beside.submit(alice.login_browser, PIN, code)
        say_yes(browser, alice.user, way)
        browser.wait_for(f"You are logged in as {alice.user}")
        login.result()


def test_after_a_number_the_browser_waits_for_a_click(browser: Browser, alice: Phone) -> None:
    mallory = registered(browser, "mallory@example.com")
    log_in(browser, alice, "code")
    for answer in ("No, not me", "Yes, log me in"):
        number = shown_code(browser, "number")
        with ThreadPoolExecutor() as beside:
            login = beside.submit(mallory.login_browser, PIN, number)
            browser.wait_for(f"about to be logged in as {mallory.user}")
            login.result()
        assert browser.path == "/login/confirm"
        browser.picture("login-confirm")
        browser.open("/account")
        assert f"logged in as {alice.user}" in browser.text(), "nothing happens before the click"
        browser.open("/login/confirm")
        browser.click(answer)
        browser.wait_for("Nobody was logged in" if answer.startswith("No") else f"logged in as {mallory.user}")
        if answer.startswith("No"):
            browser.open("/account")
            assert f"logged in as {alice.user}" in browser.text()


@pytest.mark.parametrize("way", ["code", "number"])
def test_the_c_client_logs_the_browser_in(browser: Browser, tmp_path: Path, way: str) -> None:
    user = f"carol.{way}@example.com"
    client = CClient(tmp_path / "store")
    with ThreadPoolExecutor() as beside:
        registration = beside.submit(client.run, PIN, "register", user)
        browser.open(mailed_link(user))
        browser.click("Confirm")
        assert registration.result() == "OK"
        code = shown_code(browser, way)
        command = ["login-qr", user, f"{BACKEND}#{code}"] if way == "code" else ["login-number", user, code]
        assert client.run(WRONG_PIN, *command) == "INCORRECT_PIN"
        assert browser.path == ("/login" if way == "code" else "/login/number")
        login = beside.submit(client.run, PIN, *command)
        say_yes(browser, user, way)
        browser.wait_for(f"You are logged in as {user}")
        assert login.result() == "OK"
    browser.click("Log out")
    browser.wait_for("You are logged out")
    assert_logged_out(browser)


def test_a_wrong_number_logs_nobody_in(browser: Browser, alice: Phone) -> None:
    number = shown_code(browser, "number")
    other = f"{(int(number[:6]) + 1) % 1_000_000:06}{number[6:]}"
    with pytest.raises(Refused) as refusal:
        alice.login_browser(PIN, other)
    assert refusal.value.status == 412
    assert browser.text("#status") == "Waiting for your phone"


def test_the_page_follows_the_phone(browser: Browser, alice: Phone) -> None:
    code = shown_code(browser, "code")
    alice.report("wid", code)
    browser.wait_for("Your phone has read the code")
    mallory = Phone(BACKEND, "<img src=x onerror=alert(1)>")
    mallory.report("user", code)
    browser.wait_for("Enter the PIN of <img src=x onerror=alert(1)> on your phone")
    alice.report("user", code)
    browser.wait_for(f"Enter the PIN of {alice.user} on your phone")
    browser.picture("login-user")
    assert not browser.shows("Start again")
    alice.report("abort", code)
    browser.wait_for("The login was declined on the phone")
    browser.picture("declined")
    assert browser.shows("Start again")


def test_the_phone_logs_the_browser_out(browser: Browser, alice: Phone) -> None:
    offer = log_in(browser, alice, "code")
    for wrong in ({"sessionToken": "0" * 128}, {"userId": "bob@example.com"}):
        with pytest.raises(Refused) as refusal:
            alice.logout({**offer, "logoutData": {**offer["logoutData"], **wrong}})
        assert refusal.value.status == 400
    alice.logout(offer)
    assert_logged_out(browser)


@pytest.mark.parametrize("way", ["code", "number"])
def test_a_login_needs_no_script(browser: Browser, alice: Phone, way: str) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    code = shown_code(browser, way)
    browser.click("I have entered my PIN")
    browser.wait_for("Your phone has not logged in yet")
    browser.picture("not-yet")
    with pytest.raises(Refused):
        alice.login_browser(WRONG_PIN, code)
    browser.click("I have entered my PIN")
    browser.wait_for("Wrong PIN. Try again on your phone.")
    if way == "code":
        alice.report("abort", code)
        browser.click("I have entered my PIN")
        browser.wait_for("The login was declined on the phone.")
    with ThreadPoolExecutor() as beside:
        login = beside.submit(alice.login_browser, PIN, code)

        def press() -> bool:
            if "logged in as" in browser.text():
                return True
            # The page may change, and remove the button, between the check and the click.
            with suppress(AssertionError):
                browser.click("I have entered my PIN")
            return False

        wait_until(press)
        say_yes(browser, alice.user, way)
        login.result()
    browser.wait_for(f"You are logged in as {alice.user}")
    assert browser.path == "/account"


def test_the_cookie_is_out_of_reach_of_scripts_and_changes_with_the_login(browser: Browser, alice: Phone) -> None:
    browser.open("/login")
    before = browser.driver.get_cookie("mpin")
    log_in(browser, alice, "code")
    after = browser.driver.get_cookie("mpin")
    assert before is not None and after is not None
    assert before["value"] != after["value"]
    assert after["httpOnly"] and after["sameSite"] == "Lax"
    assert browser.driver.execute_script("return document.cookie") == ""


def test_another_site_can_neither_log_out_nor_log_in(browser: Browser, alice: Phone) -> None:
    log_in(browser, alice, "code")
    with foreign_page(f'<form method="post" action="{BACKEND}/logout"><button>Go</button></form>') as page:
        browser.open(page)
        browser.click("Go")
        browser.wait_for("not from here")
    # Chromium reports a page with status 403 as an error.
    assert all("403" in complaint for complaint in browser.complaints())
    browser.open("/account")
    assert alice.user in browser.text()


def test_every_page_fits_a_phone(browser: Browser, alice: Phone) -> None:
    browser.resize(PHONE_SIZE)
    log_in(browser, alice, "code")
    for name, path in [
        ("home", "/"), ("sign-up", "/signup"), ("login-code", "/login"), ("login-number", "/login/number"),
        ("account", "/account"),
    ]:  # fmt: skip
        browser.open(path)
        browser.picture(f"phone-{name}")
        width = browser.driver.execute_script("return document.documentElement.scrollWidth")
        assert width <= PHONE_SIZE["width"], f"{path} is {width} wide"
        for element in browser.driver.find_elements(By.CSS_SELECTOR, "button, .button, nav a"):
            assert not element.is_displayed() or element.size["height"] >= 40, f"{element.text} on {path} is too small"


def test_pages_are_readable_in_the_dark(browser: Browser) -> None:
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    browser.open("/login")
    assert read_code(browser.picture("dark-login-code")).startswith(BACKEND + "#")


class foreign_page:
    """A server for another site, with one page."""

    def __init__(self, body: str) -> None:
        content = f"<!DOCTYPE html><link rel=icon href=data:,><title>Elsewhere</title>{body}".encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        # Uses the name localhost instead of 127.0.0.1, so that this is another site and not only another origin.
        return f"http://localhost:{self._server.server_port}/"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

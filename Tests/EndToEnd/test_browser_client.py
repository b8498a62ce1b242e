"""Browsers that are clients themselves: they sign up, log in here, log in another screen by its QR code, and keep what
they have been given. Real Chromium, a real server, no app.

A test fails if a browser reports an error, for example of the content security policy.
"""

from __future__ import annotations

import email
import email.policy
import http.server
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import Request, urlopen

import axe_core_python
import pytest
from phone import wait_until
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from test_browser import BACKEND, DESK_SIZE, MAILS, PHONE_SIZE, Browser, read_code

AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text()

PIN, WRONG_PIN, NEW_PIN = "1234", "4321", "5678"
NARROW = {"width": 320, "height": 640, "deviceScaleFactor": 2, "mobile": True}
_users = iter(range(1_000))

#: Presses a button twice. If it is gone, the second press meets what is then at its place. Returns how many presses meet
#: one of the client's buttons.
PRESS_TWICE = """
const own = "#client-view button";
const button = [...document.querySelectorAll(own)].find((button) => button.textContent === arguments[0]);
button.scrollIntoView({ block: "center" });
const { x, y, width, height } = button.getBoundingClientRect();
button.click();
const next = button.isConnected ? button : document.elementFromPoint(x + width / 2, y + height / 2)?.closest(own);
next?.click();
return next ? 2 : 1;
"""


def fresh_user() -> str:
    return f"user{next(_users)}@example.com"


class Tab(Browser):
    """A browser of its own profile, with what a person does on the client's pages."""

    def type(self, text: str) -> None:
        """Types on the keyboard, wherever the focus is."""
        ActionChains(self.driver).send_keys(text).perform()

    def pad_title(self) -> str:
        """The question of the PIN pad; empty if none is shown."""
        script = "return document.querySelector('mpin-pad')?.shadowRoot.querySelector('h2')?.textContent ?? ''"
        return str(self.driver.execute_script(script))

    def wait_for_pad(self, title: str) -> None:
        self.wait_until(title, lambda: self.pad_title() if self.pad_has_focus() else "")

    def wait_for_note(self, text: str) -> None:
        """Waits until the pad says why the last PIN was refused."""
        script = "return document.querySelector('mpin-pad')?.shadowRoot.querySelector('.note')?.textContent ?? ''"
        self.wait_until(text, lambda: str(self.driver.execute_script(script)))

    def violations(self) -> list[str]:
        """What axe, which checks accessibility, finds wrong with the page and its pad."""
        self.driver.execute_script(AXE)
        result = self.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
        assert result["passes"], "axe has looked at nothing"
        return [f"{found['id']}: {node['html']}" for found in result["violations"] for node in found["nodes"]]

    def pad_has_focus(self) -> bool:
        return bool(self.driver.execute_script("return document.activeElement?.localName === 'mpin-pad'"))

    def enter(self, title: str, pin: str) -> None:
        """Answers the pad's question."""
        self.wait_for_pad(title)
        self.type(pin + Keys.ENTER)

    def fill(self, selector: str, text: str) -> None:
        self._element(By.CSS_SELECTOR, selector, lambda element: element.send_keys(text))

    def press_twice(self, text: str) -> None:
        """Presses the client's button with that text twice at once."""
        self.wait_until(text, lambda: self.text("#client-view"))
        assert self.driver.execute_script(PRESS_TWICE, text) == 1, f"{text}: both presses count"

    def sign_up(self, user: str, pin: str = PIN, twice: bool = False) -> None:
        """Signs up in this browser, by the code in the mail. The page is one that offers it. twice: each button is
        pressed twice."""
        press = self.press_twice if twice else self.click
        press("Sign up in this browser")
        self.fill("#client-address", user)
        press("Send me a mail")
        self.fill("#client-code", mailed_code(user))
        press("Go on")
        self.enter("Choose a PIN", pin)
        self.enter("Enter the new PIN again", pin)

    def registered(self, user: str) -> None:
        self.open("/client")
        self.sign_up(user)
        self.wait_for(f"{user} is registered in this browser")

    def registered_by(self, other: Tab, user: str, pin: str = PIN) -> None:
        """Registers by the code that another browser of the user shows on its list of identities."""
        other.click("Add another device")
        other.enter("Enter your PIN", PIN)
        other.wait_for("Scan this with the camera of the other device")
        link = read_code(other.picture("browser-client-device"))
        # What is secret stands behind "#", so it is in no request and no log.
        code = other.text("#client-quick-code")
        assert code in urlsplit(link).fragment and code not in link.partition("#")[0]
        self.open(link)
        self.wait_for(f"You are registering {user}")
        self.click("Choose a PIN")
        self.enter("Choose a PIN", pin)
        self.enter("Enter the new PIN again", pin)
        self.wait_for(f"{user} is registered in this browser")


def mail(user: str) -> str | None:
    """The text of the newest mail to the user."""
    found = None
    for file in sorted(MAILS.glob("*.eml"), key=lambda file: file.stat().st_mtime_ns):
        message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        if user in message["To"]:
            body = message.get_body(("plain",))
            assert body is not None
            found = str(body.get_content()).replace("\r\n", "\n")
    return found


def mailed(user: str, pattern: str) -> str:
    def find() -> str | None:
        match = re.search(pattern, mail(user) or "", re.MULTILINE)
        return match[0] if match else None

    return str(wait_until(find))


def mailed_code(user: str) -> str:
    return mailed(user, r"^ *\d{6} *$").strip()


@contextmanager
def a_browser(size: dict[str, object] = DESK_SIZE, *arguments: str) -> Iterator[Tab]:
    tab = Tab(*arguments)
    tab.resize(size)
    try:
        yield tab
        assert tab.complaints() == []
    finally:
        tab.driver.quit()


@pytest.fixture
def desk() -> Iterator[Tab]:
    with a_browser() as tab:
        yield tab


@pytest.fixture
def phone() -> Iterator[Tab]:
    with a_browser(PHONE_SIZE) as tab:
        yield tab


def test_a_browser_signs_up_and_logs_in_here(desk: Tab) -> None:
    """Whoever presses a button twice does nothing twice. The server would refuse that, and the browser report it."""
    user = fresh_user()
    desk.open("/login")
    desk.sign_up(user, twice=True)
    # Whoever has just chosen a PIN need not type it again.
    desk.wait_for(f"You are logged in as {user}")
    assert desk.path == "/account"
    desk.click("Log out")
    desk.wait_for("You are logged out")
    desk.open("/login")
    desk.press_twice(f"Log in as {user}")
    desk.wait_for_pad("Enter your PIN")
    desk.picture("browser-client-pad")
    desk.type(PIN + Keys.ENTER + Keys.ENTER)
    desk.wait_for(f"You are logged in as {user}")


def test_a_phone_without_an_app_logs_in_the_screen_whose_code_it_reads(desk: Tab, phone: Tab) -> None:
    user = fresh_user()
    phone.registered(user)
    desk.open("/login")
    link = read_code(desk.picture("browser-client-code"))
    assert re.fullmatch(re.escape(BACKEND) + "#[0-9a-f]{32}", link)
    phone.open(link)
    # The page says what the login is for before it asks for the PIN.
    phone.wait_for("Log in another screen?")
    phone.wait_for("Go on only if this screen is in front of you")
    assert phone.text("#client-place") == "The request came from 127.0.0.1 (Chrome, Linux)."
    assert urlsplit(BACKEND).netloc in phone.text()
    phone.picture("browser-client-phone")
    phone.click(f"Log in as {user}")
    phone.enter("Enter your PIN", WRONG_PIN)
    phone.wait_for_note("Wrong PIN")
    phone.picture("browser-client-wrong-pin")
    phone.enter("Enter your PIN", PIN)
    phone.wait_for(f"The other screen is logged in as {user}")
    desk.wait_for(f"You are logged in as {user}")


def test_a_screen_that_nobody_knows_needs_a_confirmation(phone: Tab) -> None:
    """A server opens a session. Where it shows the code, only it knows."""
    user = fresh_user()
    phone.registered(user)
    with urlopen(Request(f"{BACKEND}/rps/getQrUrl", method="POST", data=b"{}"), timeout=30) as answer:
        wid = json.load(answer)["qrUrl"].rpartition("#")[2]
    phone.open(f"/client#{wid}")
    phone.wait_for("a screen that we know nothing about")
    assert "127.0.0.1" in phone.text("#client-place")
    assert f"Log in as {user}" not in phone.text()
    phone.click("The screen is in front of me")
    phone.click(f"Log in as {user}")
    phone.wait_for_pad("Enter your PIN")


class Website:
    """A website of somebody else, whose users log in at mpind by OpenID Connect. It keeps what the browser brings."""

    def __init__(self) -> None:
        self.answers: list[dict[str, list[str]]] = []
        answers = self.answers

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if urlsplit(self.path).path == "/callback":
                    answers.append(parse_qs(urlsplit(self.path).query))
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!DOCTYPE html><link rel=icon href=data:,><title>Shop</title><body>Welcome to the shop")

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.callback = f"http://127.0.0.1:{self._server.server_port}/callback"

    def __enter__(self) -> Website:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        administer("client", "add", "shop", "--name", "My shop", "--redirect-uri", self.callback, "--first-party", "true")
        return self

    def __exit__(self, *_: object) -> None:
        administer("client", "remove", "shop")
        self._server.shutdown()
        self._server.server_close()

    @property
    def login(self) -> str:
        return BACKEND + "/authorize?" + urlencode({
            "client_id": "shop", "redirect_uri": self.callback, "response_type": "code", "scope": "openid",
            "state": "here", "code_challenge_method": "S256",
            "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        })


def administer(*command: str) -> str:
    state = ["--state-dir", os.environ["MPIN_STATE"]]
    done = subprocess.run([os.environ["MPIN_SERVER"], *command, *state], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_browser_logs_in_at_another_website(desk: Tab, phone: Tab) -> None:
    user = fresh_user()
    with Website() as shop:
        # It signs up within the login, and goes on with it.
        desk.open(shop.login)
        desk.wait_for("You are logging in to My shop")
        desk.sign_up(user)
        desk.wait_for("Welcome to the shop")
        # A phone with an identity of its own logs the next browser in. It is told for whom.
        phone_user = fresh_user()
        phone.registered(phone_user)
        desk.forget_everything()
        desk.open(shop.login)
        phone.open(read_code(desk.picture("browser-client-shop")))
        phone.wait_for("It is for My shop.")
        phone.wait_for("The request came from 127.0.0.1 (Chrome, Linux).")
        phone.click(f"Log in as {phone_user}")
        phone.enter("Enter your PIN", PIN)
        phone.wait_for("The other screen is logged in")
        desk.wait_for("Welcome to the shop")
        # And once more, in this browser.
        desk.forget_everything()
        desk.open(shop.login)
        desk.click(f"Log in as {user}")
        desk.enter("Enter your PIN", PIN)
        desk.wait_for("Welcome to the shop")
        assert len(shop.answers) == 3
        for answer in shop.answers:
            assert answer["state"] == ["here"] and answer["code"][0]


def test_a_second_device_registers_by_the_code_that_the_first_one_shows(desk: Tab, phone: Tab) -> None:
    user = fresh_user()
    desk.registered(user)
    phone.registered_by(desk, user, NEW_PIN)
    phone.open("/login")
    phone.click(f"Log in as {user}")
    phone.enter("Enter your PIN", NEW_PIN)
    phone.wait_for(f"You are logged in as {user}")


def test_a_new_pin_and_a_forgotten_identity(desk: Tab) -> None:
    user = fresh_user()
    desk.registered(user)
    desk.picture("browser-client-list")
    desk.click("Change the PIN")
    desk.enter("Enter your present PIN", PIN)
    # Two PINs that differ are asked for again.
    desk.enter("Choose a PIN", NEW_PIN)
    desk.enter("Enter the new PIN again", WRONG_PIN)
    desk.wait_for_note("The two PINs differ")
    desk.enter("Choose a PIN", NEW_PIN)
    desk.enter("Enter the new PIN again", NEW_PIN)
    desk.wait_for(f"The PIN of {user} has been changed")
    desk.open("/login")
    desk.click(f"Log in as {user}")
    desk.enter("Enter your PIN", PIN)
    desk.wait_for_note("Wrong PIN")
    desk.enter("Enter your PIN", NEW_PIN)
    desk.wait_for(f"You are logged in as {user}")
    desk.open("/client")
    desk.click("Forget in this browser")
    desk.click("Cancel")
    desk.click("Forget in this browser")
    desk.click(f"Forget {user}")
    desk.wait_for("Nobody is registered in this browser")
    desk.driver.refresh()
    desk.wait_for("Nobody is registered in this browser")


def test_the_page_runs_no_other_scripts(desk: Tab) -> None:
    desk.open("/client")
    desk.wait_for("Nobody is registered in this browser")
    elements = desk.driver.execute_script(
        "return [...document.querySelectorAll('script[type=module], link[rel=modulepreload]')]"
        ".map((element) => [element.src || element.href, element.integrity])")
    assert len(elements) > 5
    for url, integrity in elements:
        assert re.fullmatch(re.escape(BACKEND) + "/client/[0-9a-f]{16}/[a-z-]+[.]js", url)
        assert re.fullmatch("sha256-[A-Za-z0-9+/]{43}=", integrity)
    # Every module of the page was loaded under its hash, from a URL that no other version has.
    loaded = desk.driver.execute_script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name).filter((url) => url.endsWith('.js'))")
    folder = elements[0][0].rpartition("/")[0] + "/"
    assert {url for url in loaded if not url.startswith(folder)} == {BACKEND + "/times.js"}
    for script in (
        "new Worker('/client/other.js')", "await navigator.serviceWorker.register('/times.js')", "eval('1')",
        "document.body.innerHTML = '<b>x</b>'", "trustedTypes.createPolicy('other', {})",
        "await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))",
    ):
        # Chromium lets the driver itself use eval.
        text = f"async () => {{ {script}; return 'ran'; }}"
        name = desk.driver.execute_async_script(
            f"setTimeout(() => ({text})().catch((error) => error.name).then(arguments[0]))")
        assert name in ("TypeError", "EvalError", "CompileError"), f"{script}: {name}"
    assert all("Trusted" in complaint or "Content Security Policy" in complaint for complaint in desk.complaints())


def test_a_browser_installs_the_page(desk: Tab) -> None:
    desk.open("/client")
    desk.driver.execute_async_script("navigator.serviceWorker.ready.then(arguments[0])")
    faults = desk.driver.execute_cdp_cmd("Page.getInstallabilityErrors", {})["installabilityErrors"]
    assert [fault["errorId"] for fault in faults] in ([], ["in-incognito"])
    manifest = desk.driver.execute_cdp_cmd("Page.getAppManifest", {})
    assert manifest["errors"] == [] and manifest["url"] == BACKEND + "/client.webmanifest"


def test_every_page_is_accessible_at_320_pixels(desk: Tab) -> None:
    look_at_every_page(desk, "en")


def look_at_every_page(desk: Tab, language: str) -> None:
    user = fresh_user()
    desk.registered(user)
    desk.driver.execute_cdp_cmd("Network.enable", {})
    desk.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": language}})
    desk.open("/login")
    link = read_code(desk.picture(f"browser-client-axe-{language}"))
    desk.resize(NARROW)

    def look(name: str) -> None:
        assert desk.driver.execute_script("return document.documentElement.lang") == language
        assert desk.violations() == [], name
        width = desk.driver.execute_script("return document.documentElement.scrollWidth")
        assert width <= NARROW["width"], f"{name} is {width} wide"

    def press_first() -> None:
        """Presses the client's first button, whatever its text is."""
        desk._element(By.CSS_SELECTOR, "#client-view button", lambda element: element.click())

    for path, name in [("/login", "login"), ("/client", "list"), ("/signup", "sign-up")]:
        desk.open(path)
        desk.text("#client-view button")
        look(name)
    press_first()
    desk.text("#client-address")
    look("mail address")
    desk.open(link)
    desk.text("#client-application")
    look("screen")
    press_first()
    wait_until(lambda: desk.pad_title() != "")
    look("pad")
    desk.open("/offline")
    look("offline")

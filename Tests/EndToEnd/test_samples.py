"""The samples of bindings/samples: people log in to each of them in Chromium, with a phone.

samples.sh starts the samples. It names the address of each in the environment; a sample that it has not started is not
tested.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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


# ---- Apps on the command line ----------------------------------------------------------------------------------------


#: Nobody listens there.
NOWHERE = "http://127.0.0.1:1"


class Program:
    """A program that a person uses: what it says, and what they type."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.said = ""

    def _next(self) -> str:
        """The next character; "" if the program has ended, or says nothing for a minute."""
        assert self.process.stdout
        is_there = select.select([self.process.stdout], [], [], 60)[0]
        return self.process.stdout.read(1).decode() if is_there else ""

    def hears(self, *words: str) -> str:
        """Waits until the program has said these words, in this order, and returns all until then."""
        heard = ""
        for word in words:
            while word not in heard.rpartition("\0")[2]:
                character = self._next()
                assert character, f"the program does not say {word!r}: {self.said!r}"
                heard += character
                self.said += character
            heard += "\0"
        return heard.replace("\0", "")

    def types(self, line: str, *words: str) -> str:
        assert self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")
        return self.hears(*words)

    def ends(self) -> int:
        self.said += self.process.communicate()[0].decode()
        return self.process.returncode


@contextmanager
def running(environment: dict[str, str], *program: str) -> Iterator[Program]:
    child = subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
        env={**os.environ, **environment})  # fmt: skip
    try:
        yield Program(child)
    finally:
        child.kill()
        child.communicate()


def python(path: str, *words: str) -> list[str]:
    return [sys.executable, "-B", "-u", str(SAMPLES / path), *words]


def test_mobile_app(tmp_path: Path) -> None:
    """The app of that back end: its user registers once, and then needs the PIN only."""
    names = {"AUTH_BACKEND": BACKEND, "BACKEND": sample("mobile"), "STORE": str(tmp_path / "store")}
    with running(names, *python("mobile/app.py")) as app:
        app.hears("your mail address: ")
        app.types("dora@example.com", "open the link in the mail", "choose a PIN: ")
        app.types(PIN, "registered", "PIN of dora@example.com: ")
        app.types("4321", "INCORRECT_PIN")
        assert app.ends() == 1
    with running(names, *python("mobile/app.py")) as app:
        app.hears("PIN of dora@example.com: ")
        app.types(PIN, "logged in as dora@example.com")
        assert app.ends() == 0
    with running(names, *python("mobile/app.py", "resend")) as app:
        app.hears("open the link in the mail", "choose a PIN: ")
        app.types("9753", "registered", "PIN of dora@example.com: ")
        app.types("9753", "logged in as dora@example.com")
    for _ in range(3):
        with running(names, *python("mobile/app.py")) as app:
            app.hears("PIN of dora@example.com: ")
            app.types("4321", "INCORRECT_PIN")
    # A blocked user is forgotten, and somebody else may use the app.
    with running(names, *python("mobile/app.py")) as app:
        app.hears("your mail address: ")
        app.types("erik@example.com", "choose a PIN: ")
        app.types(PIN, "PIN of erik@example.com: ")
        app.types(PIN, "logged in as erik@example.com")
    with running(names, *python("mobile/app.py", "delete")) as app:
        app.hears("deleted")
        assert app.ends() == 0


@pytest.fixture
def other_provider() -> Iterator[str]:
    """A provider that is not ours, whose user has one account."""
    # Authlib warns of its own next versions, so it is not loaded for the other tests.
    import oidc_provider_mock

    user = oidc_provider_mock.User(sub="frank", claims={"name": "Frank", "email": "frank@example.com"})
    with oidc_provider_mock.run_server_in_thread(user_claims=[user]) as server:
        yield f"http://localhost:{server.server_port}"


#: A browser whose user presses the button of the account. Browsers run beside the program that opens them.
BROWSER = """
import sys, requests
requests.get(requests.post(sys.argv[1], data={"sub": "frank"}, allow_redirects=False).headers["Location"])
"""


@pytest.mark.filterwarnings("ignore")
def test_providers(tmp_path: Path, other_provider: str) -> None:
    """An account by mail and PIN, another provider, a login that is kept, and an API that answers 401."""
    browser = tmp_path / "browser.py"
    browser.write_text(BROWSER)
    names = {
        "ISSUER": BACKEND, "CLIENT_ID": "providers", "STORE": str(tmp_path / "store"), "API": sample("api"),
        "OTHER_ISSUER": other_provider, "OTHER_CLIENT_ID": "any", "OTHER_CLIENT_SECRET": "any",
        "BROWSER": f"{sys.executable} {browser} %s &",
    }  # fmt: skip
    with running(names, *python("providers/app.py")) as app:
        app.hears("log in at home or other\n", "> ")
        app.types("orders", "NO_CREDENTIALS", "> ")
        app.types("register nobody", "that is no mail address", "> ")
        app.types("register", "register needs other words", "> ")
        app.types("what", "make an account", "> ")
        app.types("register gina@example.com", "choose a PIN: ")
        app.types(PIN, "PIN of gina@example.com: ")
        app.types(PIN, "welcome gina@example.com, logged in at home", "> ")
        app.types("orders", "a book, a lamp", "> ")
        # The API refuses the token. By the rule of the session it is renewed, and nobody is asked.
        app.types("bad-auth retry", "a secret book", "> ")
        app.types("quit")
    # Without a network the app starts all the same.
    with running({**names, "ISSUER": NOWHERE}, *python("providers/app.py")) as app:
        app.hears("welcome gina@example.com, logged in at home", "> ")
        app.types("register", "register needs other words", "> ")
        app.types("register jo@example.com", "NETWORK_ERROR", "> ")
    with running(names, *python("providers/app.py")) as app:
        app.hears("welcome gina@example.com, logged in at home", "> ")
        app.types("bad-auth", "a secret book", "> ")
        app.types("forgot gina@example.com", "choose a PIN: ")
        app.types("9753", "PIN of gina@example.com: ")
        app.types("9753", "welcome gina@example.com", "> ")
        app.types("login other", "welcome Frank, logged in at other", "> ")
        # The API is not for the tokens of that provider.
        app.types("orders", "UNTRUSTED_DOMAIN_ERROR", "> ")
        app.types("logout", "logged out", "> ")
        app.types("orders", "NO_CREDENTIALS", "> ")
    with running(names, *python("providers/app.py")) as app:
        app.hears("log in at home or other, last time other", "> ")
        app.types("login home gina@example.com", "PIN of gina@example.com: ")
        app.types("", "PIN_INPUT_CANCELED", "> ")


@pytest.mark.filterwarnings("ignore")
def test_providers_logs_out(tmp_path: Path, other_provider: str) -> None:
    """Without the rule for 401, an answer 401 ends in a logout."""
    names = {
        "ISSUER": BACKEND, "CLIENT_ID": "providers", "STORE": str(tmp_path / "store"), "API": sample("api"),
        "OTHER_ISSUER": other_provider, "OTHER_CLIENT_ID": "any", "OTHER_CLIENT_SECRET": "any",
    }  # fmt: skip
    with running(names, *python("providers/app.py")) as app:
        app.hears("> ")
        app.types("register hugo@example.com", "choose a PIN: ")
        app.types(PIN, "PIN of hugo@example.com: ")
        app.types(PIN, "welcome hugo@example.com", "> ")
        app.types("bad-auth", "the API refuses the token", "logged out", "> ")
        app.types("orders", "NO_CREDENTIALS", "> ")


#: A smaller app that notes what it is given, and wants another token the first time.
NOSY = """#!/bin/sh
cat >>"$0.input"
echo >>"$0.input"
/usr/bin/tr '\\0' '\\n' </proc/$$/environ >"$0.environment"
echo "$# words" >"$0.words"
[ "$(/usr/bin/wc -l <"$0.input")" -gt 1 ] || exit 3
"""


def orders_of(nosy: Path) -> int:
    """What the orders answer to the last token that a smaller app was given."""
    token = json.loads(Path(f"{nosy}.input").read_text().splitlines()[-1])["accessToken"]
    return requests.get(sample("api") + "/orders", headers={"Authorization": f"Bearer {token}"}).status_code


def test_superapp(tmp_path: Path) -> None:
    """One login for the app and its smaller apps, which are processes with tokens of their own."""
    program = str(ROOT / ".build/release/superapp")
    names = {
        "ISSUER": BACKEND, "CLIENT_ID": "superapp", "STORE": str(tmp_path / "store"), "API": sample("api"),
        "AUDIENCE": sample("audience"),
    }  # fmt: skip
    with running(names, program) as app:
        app.hears("signed out")
        app.types("open orders", "noCredentials")
        app.types("register ines@example.com", "open the link in the mail", "choose a PIN:")
        app.types(PIN, "registered")
        app.types("login ines@example.com", "PIN of ines@example.com:")
        app.types("4321", "PIN of ines@example.com:")
        app.types(PIN, "signed in as ines@example.com, with tokens")
        app.types("open orders", "orders of ines@example.com: a book, a lamp")
        app.types("open card", "card of ines@example.com", "the provider tells this app no mail address")
        app.types("open games", "the apps are card and orders")
        app.types("quit")
        assert app.ends() == 0
        assert "eyJ" not in app.said
    # Without a network the app starts all the same.
    with running({**names, "ISSUER": NOWHERE}, program) as app:
        app.hears("signed in as ines@example.com, with tokens")
    nosy, card = tmp_path / "superapp-orders", tmp_path / "superapp-card"
    for path in (nosy, card):
        path.write_text(NOSY)
        path.chmod(0o700)
    with running({**names, "MINI_APPS": str(tmp_path)}, program) as app:
        app.hears("signed in as ines@example.com, with tokens")
        app.types("open orders")
        app.types("open card")
        # The token of one smaller app is of no use for the other's service.
        app.types("open games", "the apps are card and orders")
        assert [orders_of(path) for path in (nosy, card)] == [200, 401]
        app.types("logout", "signed out")
        app.types("open orders", "noCredentials")
    first, second = (json.loads(line) for line in Path(f"{nosy}.input").read_text().splitlines())
    assert set(first) == {"profile", "accessToken", "expiry", "service"}
    assert first["profile"]["email"] == "ines@example.com" and first["accessToken"] != second["accessToken"]
    assert Path(f"{nosy}.words").read_text() == "0 words\n"
    assert "eyJ" not in Path(f"{nosy}.environment").read_text()
    # The logout has ended what was handed over.
    assert orders_of(nosy) == 401

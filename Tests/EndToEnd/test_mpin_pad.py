"""The PIN pad alone, in a page with a strict content security policy: keyboard, fingers, screen readers, languages."""

from __future__ import annotations

import http.server
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import axe_core_python
import pytest
from phone import wait_until
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from test_browser import DESK_SIZE, Browser

CLIENT = Path(os.environ["MPIN_CLIENT"])
AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
POLICY = "default-src 'none'; img-src data:; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
PAGE = (
    "<!DOCTYPE html><html lang={lang}><head><title>Pad</title><link rel=icon href=data:,>"
    "<meta name=viewport content='width=device-width'><script type=module src=/mpin-pad.js></script></head>"
    "<body><main><h1>Pad</h1><button id=before>Before</button><mpin-pad></mpin-pad></main></body></html>"
)
NARROW = {"width": 320, "height": 640, "deviceScaleFactor": 2, "mobile": True}
LANGUAGES = {"en": "Enter your PIN", "de": "PIN eingeben", "fr": "Saisissez votre code PIN", "es": "Introduzca su PIN"}


class _Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/mpin-pad.js":
            kind, body = "text/javascript", (CLIENT / "mpin-pad.js").read_bytes()
        else:
            kind, body = "text/html; charset=utf-8", PAGE.format(lang=self.path[1:3]).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class Pad:
    """A page with a pad."""

    def __init__(self, browser: Browser, site: str) -> None:
        self._browser, self._driver, self._site = browser, browser.driver, site

    def ask(self, question: dict[str, object] | None = None, lang: str = "en") -> None:
        """Opens the page and asks. What the answer was is `answer`."""
        self._browser.open(f"{self._site}/{lang}")
        self.script(
            "window.answer = undefined; document.getElementById('before').focus();"
            "document.querySelector('mpin-pad').ask(arguments[0])"
            ".then((pin) => { window.answer = pin === null ? 'null' : String.fromCharCode(...pin); })",
            question or {},
        )

    def script(self, text: str, *args: object) -> object:
        return self._driver.execute_script(text, *args)

    def inside(self, expression: str, *args: object) -> object:
        """The value of an expression in which `root` is what the pad shows."""
        text = f"const root = document.querySelector('mpin-pad').shadowRoot; return {expression}"
        return self.script(text, *args)

    def type(self, text: str) -> None:
        ActionChains(self._driver).send_keys(text).perform()

    def press(self, name: str) -> None:
        """Presses a key with the mouse, as a finger would."""
        root = self._driver.find_element(By.CSS_SELECTOR, "mpin-pad").shadow_root
        keys = [key for key in root.find_elements(By.CSS_SELECTOR, "button") if key.accessible_name == name]
        assert len(keys) == 1, name
        keys[0].click()

    @property
    def answer(self) -> object:
        return wait_until(lambda: self.script("return window.answer"))

    @property
    def filled(self) -> int:
        return int(str(self.inside("root.querySelectorAll('.filled').length")))

    def everything(self) -> str:
        """All of the document, with what the pad shows, and the values of all fields."""
        return str(self.inside(
            "document.documentElement.outerHTML + root.innerHTML"
            " + [...document.querySelectorAll('input'), ...root.querySelectorAll('input')].map((field) => field.value)"
        ))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.driver.quit()


@pytest.fixture
def pad(chromium: Browser, site: str) -> Iterator[Pad]:
    chromium.resize(DESK_SIZE)
    yield Pad(chromium, site)
    assert chromium.complaints() == []


def test_the_keyboard_enters_a_pin_and_the_focus_comes_back(pad: Pad) -> None:
    pad.ask({"length": 4})
    pad.type("12" + Keys.BACKSPACE + "345")
    pad.type(Keys.ENTER)
    assert pad.answer == "1345"
    assert pad.inside("root.childElementCount") == 0
    assert pad.script("return document.activeElement.id") == "before"


def test_fingers_enter_a_pin(pad: Pad) -> None:
    pad.ask()
    for key in ["9", "0", "1", "Delete a digit", "0", "7", "3", "5", "2", "8", "Done"]:
        pad.press(key)
    # Six digits are the most, so the last one was not taken.
    assert pad.answer == "900735"


def test_a_second_press_does_not_answer_the_next_question(pad: Pad) -> None:
    pad.ask()
    pad.script(
        "const pad = document.querySelector('mpin-pad'); window.next = undefined;"
        "pad.ask().then(() => pad.ask()).then((pin) => { window.next = String.fromCharCode(...pin); })"
    )
    pad.type("1234" + Keys.ENTER + Keys.ENTER)
    pad.type("5678" + Keys.ENTER)
    assert wait_until(lambda: pad.script("return window.next")) == "5678"


def test_a_short_pin_is_not_taken_and_others_are_up_to_the_length(pad: Pad) -> None:
    pad.ask()
    pad.type("123" + Keys.ENTER)
    assert pad.filled == 3
    assert pad.inside("root.querySelector('.done').getAttribute('aria-disabled')") == "true"
    pad.type("4567" + Keys.ENTER)
    assert pad.answer == "123456"


@pytest.mark.parametrize("how", ["escape", "button", "signal", "another", "removed"])
def test_the_question_can_be_taken_back(pad: Pad, how: str) -> None:
    pad.ask()
    pad.type("12")
    if how == "escape":
        pad.type(Keys.ESCAPE)
    elif how == "button":
        pad.press("Cancel")
    elif how == "another":
        pad.script("document.querySelector('mpin-pad').ask()")
        wait_until(lambda: pad.script("return window.answer"))
        assert pad.filled == 0
    elif how == "removed":
        pad.script("document.querySelector('mpin-pad').remove()")
    else:
        pad.script(
            "const control = new AbortController(); window.answer = undefined;"
            "document.querySelector('mpin-pad').ask({signal: control.signal})"
            ".then((pin) => { window.answer = String(pin) + ' aborted'; }); control.abort()"
        )
        wait_until(lambda: pad.script("return window.answer") == "null aborted")
        return
    assert pad.answer == "null"


def test_the_digits_are_nowhere_in_the_document(pad: Pad) -> None:
    pad.ask({"title": "Question", "application": "Shop"})
    before = pad.everything()
    pad.type("7777")
    assert pad.filled == 4
    after = pad.everything()
    # One key is labelled 7. Nothing else is new but the dots and their number.
    assert after.count("7") == before.count("7")
    assert "4 digits entered" in after
    assert pad.script("return document.querySelector('mpin-pad').shadowRoot.querySelectorAll('input').length") == 0
    pad.type(Keys.ENTER)
    assert pad.answer == "7777"


def test_the_pad_says_whom_the_pin_is_for(pad: Pad, site: str) -> None:
    pad.ask({"title": "PIN of alice", "application": "My shop", "note": "Wrong PIN"})
    text = str(pad.inside("root.querySelector('.pad').innerText"))
    for words in ["PIN of alice", "My shop", site.removeprefix("http://"), "Wrong PIN"]:
        assert words in text
    # A title is text, whatever it contains.
    pad.ask({"title": "<img src=x>", "application": "<b>"})
    assert pad.inside("root.querySelector('h2').textContent") == "<img src=x>"
    assert pad.inside("root.querySelector('img, b')") is None


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_is_readable_and_accessible_at_320_pixels(
    pad: Pad, chromium: Browser, lang: str
) -> None:
    chromium.resize(NARROW)
    pad.ask(lang=lang)
    assert pad.inside("root.querySelector('h2').textContent") == LANGUAGES[lang]
    pad.type("12")
    assert pad.script("return document.documentElement.scrollWidth") <= NARROW["width"]
    for height in pad.inside("[...root.querySelectorAll('button')].map((key) => key.offsetHeight)"):  # type: ignore[union-attr]
        assert height >= 44
    chromium.driver.execute_script(AXE)
    found = chromium.driver.execute_async_script(
        "axe.run().then((result) => arguments[arguments.length - 1](result))"
    )
    assert found["passes"]
    assert found["violations"] == [], json.dumps(found["violations"], indent=1)
    chromium.picture(f"mpin-pad-{lang}")


def test_a_wrong_length_is_an_error(pad: Pad) -> None:
    pad.ask()
    for length in (3, 7):
        error = pad.script(
            "return document.querySelector('mpin-pad').ask({length: arguments[0]}).catch((error) => error.name)", length
        )
        assert error == "RangeError"
    # The question that was there is still there.
    pad.type("1234" + Keys.ENTER)
    assert pad.answer == "1234"
